// SPDX-License-Identifier: GPL-2.0
/*
 * The event queue, ordered by (time, sequence number). What happens within the next 16 ms stands in
 * a ring of buckets of 512 ns each, as lists, with a bit for each bucket that has something. A
 * bucket is put in order when its time has come; before that it is a stack, so that to set an event
 * touches no other one, however many there are: each that is touched may have to come from memory.
 * What is later stands in a heap (far.c) until its time comes near.
 *
 * tests/sim/queue_speed.c measures it, and the heap alone. A calendar queue, which has no other
 * part but must find a width for its buckets, was slower with few events and as fast with many.
 */
#include "engine.h"
#include "far.h"

#define BUCKET_SHIFT	9			/* 512 ns */
#define NR_BUCKETS	32768
#define NR_WORDS	(NR_BUCKETS / 64)
#define NR_SUMMARIES	(NR_WORDS / 64)

#define LINE		64			/* of a cache */
#define SUBJECT_LINES	7

#define IN_RING		1U			/* position; in the heap: from 2 */

/* A list if it has a last one, in order. Else a stack: sim_event.prev means nothing. */
struct bucket {
	struct sim_event	*first, *last;
};

#define MAX_STEPS	16			/* through a stack, for one event that leaves */

static struct bucket ring[NR_BUCKETS];
static sim_u64 occupied[NR_WORDS];		/* buckets that have something */
static sim_u64 summary[NR_SUMMARIES];		/* words of occupied[] that are not 0 */
static unsigned int nr_in_ring;

/*
 * Number of the earliest bucket that the ring holds, in time from 0 on: it holds NR_BUCKETS from
 * there on, and the heap nothing that is in them.
 */
static sim_u64 base;
static sim_u64 next_seq = 1;

void sim_event_init(struct sim_event *event, void (*fn)(struct sim_event *event), int cpu)
{
	*event = (struct sim_event){ .fn = fn, .cpu = cpu };
}

static inline bool later(const struct sim_event *a, const struct sim_event *b)
{
	return a->at > b->at || (a->at == b->at && a->seq > b->seq);
}

/* Behind @prev, or first. */
static inline void link_behind(struct bucket *bucket, struct sim_event *prev,
			       struct sim_event *event)
{
	event->prev = prev;
	event->next = prev ? prev->next : bucket->first;
	*(prev ? &prev->next : &bucket->first) = event;
	*(event->next ? &event->next->prev : &bucket->last) = event;
}

static inline void ring_insert(struct sim_event *event)
{
	sim_u64 number = event->at >> BUCKET_SHIFT;
	unsigned int i = number % NR_BUCKETS;
	struct bucket *bucket = &ring[i];
	struct sim_event *prev = bucket->last;

	if (prev) {
		while (prev && later(prev, event))
			prev = prev->prev;
		link_behind(bucket, prev, event);
	} else {
		event->next = bucket->first;
		bucket->first = event;
	}
	event->position = IN_RING;
	occupied[i / 64] |= 1ULL << i % 64;
	summary[i / 4096] |= 1ULL << i / 64 % 64;
	nr_in_ring++;
}

static struct sim_event *merge(struct sim_event *a, struct sim_event *b)
{
	struct sim_event *first, **end = &first;

	while (a && b) {
		struct sim_event **earlier = later(a, b) ? &b : &a;

		*end = *earlier;
		end = &(*earlier)->next;
		*earlier = *end;
	}
	*end = a ? a : b;
	return first;
}

/* Merge sort: runs[n] is in order and has 2^n events, or none. */
static void sort(struct bucket *bucket)
{
	struct sim_event *runs[32] = { NULL }, *event = bucket->first, *next, *prev;
	unsigned int n;

	for (; event; event = next) {
		next = event->next;
		event->next = NULL;
		for (n = 0; runs[n]; n++) {
			event = merge(runs[n], event);
			runs[n] = NULL;
		}
		runs[n] = event;
	}
	for (n = 0; n < 32; n++)
		if (runs[n])
			event = merge(runs[n], event);
	bucket->first = event;
	for (prev = NULL; event; event = event->next) {
		event->prev = prev;
		prev = event;
	}
	bucket->last = prev;
}

/* A stack becomes a list: mostly in the order in which its events were set, backwards. */
static void put_in_order(struct bucket *bucket)
{
	struct sim_event *event = bucket->first, *behind = NULL, *next;
	bool sorted = true;

	bucket->last = event;
	for (; event; event = next) {
		next = event->next;
		if (next && later(next, event))
			sorted = false;
		event->next = behind;
		event->prev = next;
		behind = event;
	}
	bucket->first = behind;
	if (!sorted)
		sort(bucket);
}

/* From a stack, unless that has many. */
static bool unstack(struct bucket *bucket, struct sim_event *event)
{
	struct sim_event **link = &bucket->first;
	unsigned int steps;

	for (steps = 0; *link != event; steps++) {
		if (steps == MAX_STEPS)
			return false;
		link = &(*link)->next;
	}
	*link = event->next;
	return true;
}

static inline void ring_remove(struct sim_event *event)
{
	unsigned int i = (event->at >> BUCKET_SHIFT) % NR_BUCKETS;
	struct bucket *bucket = &ring[i];

	if (!bucket->last && !unstack(bucket, event))
		put_in_order(bucket);
	if (bucket->last) {
		*(event->prev ? &event->prev->next : &bucket->first) = event->next;
		*(event->next ? &event->next->prev : &bucket->last) = event->prev;
	}
	event->next = event->prev = NULL;
	event->position = 0;
	nr_in_ring--;
	if (bucket->first)
		return;
	occupied[i / 64] &= ~(1ULL << i % 64);
	if (!occupied[i / 64])
		summary[i / 4096] &= ~(1ULL << i / 64 % 64);
}

/* The first bucket from @from on that has something, or NR_BUCKETS. */
static unsigned int next_occupied(unsigned int from)
{
	sim_u64 word = occupied[from / 64] & ~0ULL << from % 64;
	unsigned int w = from / 64, s;

	if (word)
		return w * 64 + __builtin_ctzll(word);
	if (++w == NR_WORDS)
		return NR_BUCKETS;
	word = summary[w / 64] & ~0ULL << w % 64;
	for (s = w / 64; !word; word = summary[s])
		if (++s == NR_SUMMARIES)
			return NR_BUCKETS;
	w = s * 64 + __builtin_ctzll(word);
	return w * 64 + __builtin_ctzll(occupied[w]);
}

static inline void fetch_for(const struct sim_event *event)
{
	const char *subject = event->subject;
	unsigned int i;

	if (!subject)
		return;
	/* Around the event is what it is embedded in. */
	__builtin_prefetch((const char *)event - LINE);
	__builtin_prefetch((const char *)event + LINE);
	for (i = 0; i < SUBJECT_LINES; i++)
		__builtin_prefetch(subject + i * LINE);
}

/*
 * With thousands of threads none of what an event looks at is in a cache. So while those of bucket
 * @i happen, what the next ones look at is fetched, and the first event of the bucket after that.
 */
static void look_ahead(unsigned int i)
{
	const struct sim_event *event;

	if (++i == NR_BUCKETS)
		return;
	i = next_occupied(i);
	if (i == NR_BUCKETS)
		return;
	for (event = ring[i].first; event; event = event->next)
		fetch_for(event);
	if (++i == NR_BUCKETS)
		return;
	i = next_occupied(i);
	if (i < NR_BUCKETS)
		__builtin_prefetch(ring[i].first);
}

static struct sim_event *ring_first(void)
{
	unsigned int i = next_occupied(base % NR_BUCKETS);

	if (i == NR_BUCKETS)			/* once around */
		i = next_occupied(0);
	if (!ring[i].last) {
		put_in_order(&ring[i]);
		look_ahead(i);
	}
	return ring[i].first;
}

struct sim_event *sim_queue_first(void)
{
	return nr_in_ring ? ring_first() : sim_far_first();
}

/* The ring shall begin at @bucket, before which nothing is: what is near now moves there. */
static void move_base(sim_u64 bucket)
{
	struct sim_event *event;

	base = bucket;
	while ((event = sim_far_first()) && event->at >> BUCKET_SHIFT < base + NR_BUCKETS) {
		sim_far_remove(event);
		ring_insert(event);
	}
}

void sim_event_set(struct sim_event *event, sim_u64 at)
{
	sim_event_cancel(event);
	event->at = at < sim_now ? sim_now : at;
	event->seq = next_seq++;
	if (event->at >> BUCKET_SHIFT < base + NR_BUCKETS)
		ring_insert(event);
	else
		sim_far_insert(event);
}

_Bool sim_event_cancel(struct sim_event *event)
{
	if (event->position == IN_RING)
		ring_remove(event);
	else if (event->position == SIM_DEFERRED)
		sim_undefer(event);
	else if (event->position)
		sim_far_remove(event);
	else
		return 0;
	return 1;
}

struct sim_event *sim_queue_pop(sim_u64 limit)
{
	struct sim_event *event = sim_queue_first();

	if (!event || event->at > limit)
		return NULL;
	if (event->at >> BUCKET_SHIFT != base)
		move_base(event->at >> BUCKET_SHIFT);
	ring_remove(event);
	sim_now = event->at;
	return event;
}

unsigned int sim_queue_length(void)
{
	return nr_in_ring + sim_far_length();
}

void sim_queue_each(void (*fn)(struct sim_event *event, void *arg), void *arg)
{
	struct sim_event *event;
	unsigned int i;

	for (i = next_occupied(0); i < NR_BUCKETS; i = next_occupied(i + 1)) {
		for (event = ring[i].first; event; event = event->next)
			fn(event, arg);
		if (i + 1 == NR_BUCKETS)
			break;
	}
	sim_far_each(fn, arg);
}
