// SPDX-License-Identifier: GPL-2.0
/*
 * Buckets of events in no order. What a bucket has are pointers, in chunks of a cache line each,
 * so that to insert an event, or to know which ones come, touches none of them, however many
 * there are: each that is touched may have to come from memory.
 */
#include <stdlib.h>

#include "engine.h"
#include "ring.h"

#define NR_WORDS	(SIM_NR_BUCKETS / 64)
#define CHUNK_EVENTS	7

/* All chunks of a bucket but the first are full. */
struct chunk {
	struct sim_event	*events[CHUNK_EVENTS];
	unsigned int		count;
	unsigned int		next;	/* index of another one, or 0 */
} __attribute__((aligned(64)));

static struct chunk *chunks;			/* number 0 is none */
static unsigned int nr_chunks, free_chunk;	/* a list by next */
static unsigned int buckets[SIM_NR_BUCKETS];	/* first chunk, or 0 */
static sim_u64 occupied[NR_WORDS];		/* buckets that have something */
static unsigned int length;

static struct sim_event **taken;
static unsigned int room_for_taken;

static void more_chunks(void)
{
	unsigned int i, size = nr_chunks ? 2 * nr_chunks : 256;
	struct chunk *more = aligned_alloc(sizeof(*more), size * sizeof(*more));

	if (!more)
		sim_out_of_memory();
	for (i = 0; i < nr_chunks; i++)
		more[i] = chunks[i];
	free(chunks);
	chunks = more;
	for (i = nr_chunks ? nr_chunks : 1; i < size; i++) {
		chunks[i].next = free_chunk;
		free_chunk = i;
	}
	nr_chunks = size;
}

static unsigned int new_chunk(unsigned int next)
{
	unsigned int i;

	if (!free_chunk)
		more_chunks();
	i = free_chunk;
	free_chunk = chunks[i].next;
	chunks[i].count = 0;
	chunks[i].next = next;
	return i;
}

static void put_chunk(unsigned int i)
{
	chunks[i].next = free_chunk;
	free_chunk = i;
}

void sim_ring_insert(struct sim_event *event)
{
	unsigned int i = sim_bucket(event->at) % SIM_NR_BUCKETS, first = buckets[i];

	if (!first || chunks[first].count == CHUNK_EVENTS) {
		first = new_chunk(first);
		buckets[i] = first;
		occupied[i / 64] |= 1ULL << i % 64;
	}
	chunks[first].events[chunks[first].count++] = event;
	event->position = SIM_RING_FIRST + first;
	length++;
}

/* The last one of the bucket's first chunk takes its place. */
void sim_ring_remove(struct sim_event *event)
{
	unsigned int i = sim_bucket(event->at) % SIM_NR_BUCKETS;
	struct chunk *first = &chunks[buckets[i]], *chunk = &chunks[event->position - SIM_RING_FIRST];
	struct sim_event **place = chunk->events, *last = first->events[--first->count];

	if (last != event) {
		while (*place != event)
			place++;
		*place = last;
		last->position = event->position;
	}
	event->position = 0;
	length--;
	if (first->count)
		return;
	buckets[i] = first->next;
	put_chunk(first - chunks);
	if (!buckets[i])
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

/* The chunk that was filled first comes first. */
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

unsigned int sim_ring_take(sim_u64 number, struct sim_event ***events)
{
	unsigned int i = number % SIM_NR_BUCKETS, chunk, next, j, count = 0;

	for (chunk = reversed(buckets[i]); chunk; chunk = next) {
		if (count + CHUNK_EVENTS > room_for_taken) {
			room_for_taken = 2 * room_for_taken + 64;
			taken = realloc(taken, room_for_taken * sizeof(*taken));
			if (!taken)
				sim_out_of_memory();
		}
		for (j = 0; j < chunks[chunk].count; j++)
			taken[count++] = chunks[chunk].events[j];
		next = chunks[chunk].next;
		put_chunk(chunk);
	}
	buckets[i] = 0;
	occupied[i / 64] &= ~(1ULL << i % 64);
	length -= count;
	*events = taken;
	return count;
}

void sim_ring_fetch(sim_u64 number)
{
	unsigned int chunk = buckets[number % SIM_NR_BUCKETS], i;

	for (; chunk; chunk = chunks[chunk].next)
		for (i = 0; i < chunks[chunk].count; i++)
			__builtin_prefetch(chunks[chunk].events[i]);
}

void sim_ring_each(void (*fn)(struct sim_event *event, void *arg), void *arg)
{
	unsigned int i, j, chunk;

	for (i = 0; i < SIM_NR_BUCKETS; i++)
		for (chunk = buckets[i]; chunk; chunk = chunks[chunk].next)
			for (j = 0; j < chunks[chunk].count; j++)
				fn(chunks[chunk].events[j], arg);
}
