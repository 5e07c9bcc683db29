// SPDX-License-Identifier: GPL-2.0
/*
 * Buckets of events in no order. What a bucket has are pointers, in chunks, and how many there are
 * stands elsewhere: so that to insert an event, or to know which ones come, waits for none of them,
 * however many there are; each may have to come from memory.
 */
#include <stdlib.h>

#include "engine.h"
#include "ring.h"

#define NR_WORDS	(SIM_NR_BUCKETS / 64)
#define CHUNK_EVENTS	31
#define LINE		64

struct chunk {
	unsigned int		next;	/* index of another one, which is full, or 0 */
	struct sim_event	*events[CHUNK_EVENTS];
} __attribute__((aligned(LINE)));

struct bucket {
	unsigned int		chunk;	/* index of the first one, or 0 */
	unsigned int		count;	/* in that one */
};

static struct chunk *chunks;			/* number 0 is none */
static unsigned int nr_chunks, free_chunk;	/* a list by next */
static struct bucket buckets[SIM_NR_BUCKETS];
static sim_u64 occupied[NR_WORDS];		/* buckets that have something */
static unsigned int length;

static struct sim_event **taken;
static unsigned int room_for_taken;

static void more_chunks(void)
{
	unsigned int i, size = nr_chunks ? 2 * nr_chunks : 64;
	struct chunk *more = aligned_alloc(LINE, size * sizeof(*more));

	if (!more)
		sim_out_of_memory();
	for (i = 0; i < nr_chunks; i++)
		more[i] = chunks[i];
	free(chunks);
	chunks = more;
	for (i = size - 1; i && i >= nr_chunks; i--) {
		chunks[i].next = free_chunk;
		free_chunk = i;
	}
	nr_chunks = size;
}

/* A bucket gets one, in front of what it has. */
static void add_chunk(unsigned int bucket)
{
	unsigned int i;

	if (!free_chunk)
		more_chunks();
	i = free_chunk;
	free_chunk = chunks[i].next;
	chunks[i].next = buckets[bucket].chunk;
	buckets[bucket] = (struct bucket){ .chunk = i };
	occupied[bucket / 64] |= 1ULL << bucket % 64;
}

static void put_chunk(unsigned int i)
{
	chunks[i].next = free_chunk;
	free_chunk = i;
}

void sim_ring_insert(struct sim_event *event)
{
	unsigned int i = sim_bucket(event->at) % SIM_NR_BUCKETS;
	struct bucket *bucket = &buckets[i];

	if (!bucket->chunk || bucket->count == CHUNK_EVENTS)
		add_chunk(i);
	chunks[bucket->chunk].events[bucket->count++] = event;
	event->position = SIM_RING_FIRST + bucket->chunk;
	length++;
}

/* The last one of the bucket's first chunk takes its place. */
void sim_ring_remove(struct sim_event *event)
{
	unsigned int i = sim_bucket(event->at) % SIM_NR_BUCKETS, emptied;
	struct bucket *bucket = &buckets[i];
	struct sim_event *last = chunks[bucket->chunk].events[--bucket->count], **place;

	if (last != event) {
		place = chunks[event->position - SIM_RING_FIRST].events;
		while (*place != event)
			place++;
		*place = last;
		last->position = event->position;
	}
	event->position = 0;
	length--;
	if (bucket->count)
		return;
	emptied = bucket->chunk;
	*bucket = (struct bucket){ chunks[emptied].next, CHUNK_EVENTS };
	put_chunk(emptied);
	if (!bucket->chunk)
		occupied[i / 64] &= ~(1ULL << i % 64);
}

unsigned int sim_ring_length(void)
{
	return length;
}

sim_u64 sim_ring_next(sim_u64 from)
{
	unsigned int begin = from % SIM_NR_BUCKETS, w = begin / 64;
	sim_u64 word = occupied[w] & ~0ULL << begin % 64;

	while (!word) {
		w = (w + 1) % NR_WORDS;
		word = occupied[w];
	}
	return from + (w * 64 + __builtin_ctzll(word) - begin) % SIM_NR_BUCKETS;
}

/* The chunk that was filled first comes first: the only one that may not be full is the last. */
static unsigned int reversed(unsigned int chunk)
{
	unsigned int next, behind = 0;

	for (; chunk; chunk = next) {
		next = chunks[chunk].next;
		chunks[chunk].next = behind;
		behind = chunk;
	}
	return behind;
}

static void make_room(unsigned int count)
{
	if (count <= room_for_taken)
		return;
	room_for_taken = 2 * count;
	taken = realloc(taken, room_for_taken * sizeof(*taken));
	if (!taken)
		sim_out_of_memory();
}

unsigned int sim_ring_take(sim_u64 number, struct sim_event ***events)
{
	unsigned int i = number % SIM_NR_BUCKETS, chunk, next, j, count = 0;

	for (chunk = reversed(buckets[i].chunk); chunk; chunk = next) {
		unsigned int here = chunks[chunk].next ? CHUNK_EVENTS : buckets[i].count;

		make_room(count + here);
		for (j = 0; j < here; j++)
			taken[count++] = chunks[chunk].events[j];
		next = chunks[chunk].next;
		put_chunk(chunk);
	}
	buckets[i].chunk = 0;
	occupied[i / 64] &= ~(1ULL << i % 64);
	length -= count;
	*events = taken;
	return count;
}

/* What stands in that bucket, and which events the next one has. */
void sim_ring_fetch(sim_u64 number)
{
	const struct bucket *bucket = &buckets[number % SIM_NR_BUCKETS];
	unsigned int chunk, count = bucket->count, i;

	for (chunk = bucket->chunk; chunk; chunk = chunks[chunk].next) {
		for (i = 0; i < count; i++)
			__builtin_prefetch(chunks[chunk].events[i]);
		count = CHUNK_EVENTS;
	}
	bucket = &buckets[sim_ring_next(number + 1) % SIM_NR_BUCKETS];
	for (i = 0; i <= bucket->count; i += LINE / sizeof(chunks->events[0]))
		__builtin_prefetch(&chunks[bucket->chunk].events[i]);
}

void sim_ring_each(void (*fn)(struct sim_event *event, void *arg), void *arg)
{
	unsigned int i, j, chunk, count;

	for (i = 0; i < SIM_NR_BUCKETS; i++) {
		count = buckets[i].count;
		for (chunk = buckets[i].chunk; chunk; chunk = chunks[chunk].next) {
			for (j = 0; j < count; j++)
				fn(chunks[chunk].events[j], arg);
			count = CHUNK_EVENTS;
		}
	}
}
