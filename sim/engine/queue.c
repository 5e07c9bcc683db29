// SPDX-License-Identifier: GPL-2.0
/*
 * The event queue, ordered by (time, sequence number). Its first events stand in an array, in order,
 * with their keys beside them. What is later, within some 16 ms, stands in a ring of buckets
 * (ring.c), from which one bucket after the other is put in order into the array. What is
 * later still stands in a heap (far.c) until its time comes near.
 *
 * With thousands of threads none of what an event looks at is in a cache. So the array always has
 * some events more than the next one, and what they will look at is fetched from memory in time.
 *
 * tests/sim/queue_speed.c measures it, and the heap alone.
 */
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "far.h"
#include "ring.h"

#define SOON		1U			/* position; in the heap: from 2 */

#define AHEAD		12U			/* events that the array has, if there are as many ... */
#define BUCKETS_AHEAD	8			/* ... within so many buckets */
#define MOVES		16U			/* in a bucket, for an event */

/* How many events before its own each step of sim_core_fetch() comes. */
static const unsigned int distances[SIM_FETCHES] = { 9, 7, 4, 2 };

struct entry {
	sim_u64			at;
	sim_u64			seq;
	struct sim_event	*event;
};

static struct entry *soon;			/* those from @first to before @end */
static unsigned int first, end, room;

/* The first bucket of which nothing stands in the array; the ring has those from there on. */
static sim_u64 next_bucket;
static sim_u64 next_seq = 1;

void sim_event_init(struct sim_event *event, void (*fn)(struct sim_event *event), int cpu)
{
	*event = (struct sim_event){ .fn = fn, .cpu = cpu };
}

/* ---- the array ---- */

static inline bool before(const struct entry *a, const struct entry *b)
{
	return a->at < b->at || (a->at == b->at && a->seq < b->seq);
}

static void make_room(unsigned int more)
{
	unsigned int count = end - first;

	if (end + more <= room)
		return;
	if (first && count + more <= room / 2) {
		memmove(soon, soon + first, count * sizeof(*soon));
	} else {
		struct entry *larger;

		room = 2 * room + more + 64;
		larger = malloc(room * sizeof(*larger));
		if (!larger)
			sim_out_of_memory();
		if (count)
			memcpy(larger, soon + first, count * sizeof(*soon));
		free(soon);
		soon = larger;
	}
	first = 0;
	end = count;
}

/* It was set last: behind all of its time. */
static inline void soon_insert(struct sim_event *event)
{
	unsigned int i;

	make_room(1);
	for (i = end++; i > first && soon[i - 1].at > event->at; i--)
		soon[i] = soon[i - 1];
	soon[i] = (struct entry){ event->at, event->seq, event };
	event->position = SOON;
}

static void soon_remove(struct sim_event *event)
{
	struct entry key = { event->at, event->seq, event };
	unsigned int low = first, high = end;

	while (high - low > 1) {
		unsigned int middle = low + (high - low) / 2;

		if (before(&key, &soon[middle]))
			high = middle;
		else
			low = middle;
	}
	event->position = 0;
	if (low - first < end - low) {
		memmove(soon + first + 1, soon + first, (low - first) * sizeof(*soon));
		first++;
	} else {
		end--;
		memmove(soon + low, soon + low + 1, (end - low) * sizeof(*soon));
	}
}

static int compare(const void *a, const void *b)
{
	return before(a, b) ? -1 : 1;
}

/* Those from @from on, which are mostly few, or nearly in order. */
static void put_in_order(unsigned int from)
{
	unsigned int moves = MOVES * (end - from), i, j;

	for (i = from + 1; i < end; i++) {
		struct entry entry = soon[i];

		for (j = i; j > from && before(&entry, &soon[j - 1]); j--)
			soon[j] = soon[j - 1];
		soon[j] = entry;
		if (i - j > moves) {
			qsort(soon + from, end - from, sizeof(*soon), compare);
			return;
		}
		moves -= i - j;
	}
}

/* ---- from the ring and the heap into it ---- */

/* The ring shall begin at @bucket, before which it has nothing: what is near now moves there. */
static void begin_ring_at(sim_u64 bucket)
{
	struct sim_event *event;

	next_bucket = bucket;
	while ((event = sim_far_first()) && sim_bucket(event->at) < bucket + SIM_NR_BUCKETS) {
		sim_far_remove(event);
		sim_ring_insert(event);
	}
}

/* One bucket more, if there is one, and it is not too late to be of use. */
static bool take_bucket(void)
{
	struct sim_event **events;
	unsigned int count, from, i;
	sim_u64 bucket;

	if (sim_ring_length())
		bucket = sim_ring_next(next_bucket);
	else if (sim_far_length())
		bucket = sim_bucket(sim_far_first()->at);
	else
		return false;
	if (first != end && bucket > sim_bucket(sim_now) + BUCKETS_AHEAD)
		return false;
	begin_ring_at(bucket);
	count = sim_ring_take(bucket, &events);
	begin_ring_at(bucket + 1);
	make_room(count);
	from = end;
	for (i = 0; i < count; i++) {
		soon[end++] = (struct entry){ events[i]->at, events[i]->seq, events[i] };
		events[i]->position = SOON;
	}
	put_in_order(from);
	if (sim_ring_length())
		sim_ring_fetch(sim_ring_next(next_bucket));
	return true;
}

static inline void look_ahead(void)
{
	unsigned int count = end - first;

	unsigned int step;

	for (step = 0; step < SIM_FETCHES; step++)
		if (count > distances[step])
			sim_core_fetch(soon[first + distances[step]].event, step);
}

/* ---- all of it ---- */

struct sim_event *sim_queue_first(void)
{
	while (end - first < AHEAD && take_bucket())
		;
	return first == end ? NULL : soon[first].event;
}

void sim_event_set(struct sim_event *event, sim_u64 at)
{
	sim_u64 bucket;

	if (event->position)
		sim_event_cancel(event);
	event->at = at < sim_now ? sim_now : at;
	event->seq = next_seq++;
	bucket = sim_bucket(event->at);
	if (bucket < next_bucket)
		soon_insert(event);
	else if (bucket < next_bucket + SIM_NR_BUCKETS)
		sim_ring_insert(event);
	else
		sim_far_insert(event);
}

_Bool sim_event_cancel(struct sim_event *event)
{
	if (!event->position)
		return 0;
	if (event->position == SOON)
		soon_remove(event);
	else if (event->position == SIM_DEFERRED)
		sim_undefer(event);
	else if (event->position >= SIM_RING_FIRST)
		sim_ring_remove(event);
	else
		sim_far_remove(event);
	return 1;
}

struct sim_event *sim_queue_pop(sim_u64 limit)
{
	struct sim_event *event = sim_queue_first();

	if (!event || event->at > limit)
		return NULL;
	first++;
	event->position = 0;
	sim_now = event->at;
	look_ahead();
	return event;
}

unsigned int sim_queue_length(void)
{
	return end - first + sim_ring_length() + sim_far_length();
}

void sim_queue_each(void (*fn)(struct sim_event *event, void *arg), void *arg)
{
	unsigned int i;

	for (i = first; i < end; i++)
		fn(soon[i].event, arg);
	sim_ring_each(fn, arg);
	sim_far_each(fn, arg);
}
