// SPDX-License-Identifier: GPL-2.0
/*
 * Events that are far: a heap with four children to a node, ordered by (time, sequence number).
 * The keys stand in the heap's array beside the pointers, so that sifting touches no event but to
 * tell it where it is.
 */
#include <stdlib.h>

#include "engine.h"
#include "far.h"

#define ARITY		4
#define FIRST		2		/* the root: positions 0 and 1 mean something else */

struct entry {
	sim_u64			at;
	sim_u64			seq;
	struct sim_event	*event;
};

static struct entry *heap;
static unsigned int end = FIRST;	/* behind the last one */
static unsigned int size;

static inline bool before(const struct entry *a, const struct entry *b)
{
	return a->at < b->at || (a->at == b->at && a->seq < b->seq);
}

static inline unsigned int first_child(unsigned int i)
{
	return ARITY * (i - FIRST) + FIRST + 1;
}

static inline unsigned int parent(unsigned int i)
{
	return (i - FIRST - 1) / ARITY + FIRST;
}

static inline void put(unsigned int i, const struct entry *entry)
{
	heap[i] = *entry;
	entry->event->position = i;
}

/* There is a hole at @i: put @entry there, or nearer to the root. */
static void sift_up(unsigned int i, struct entry entry)
{
	while (i > FIRST && before(&entry, &heap[parent(i)])) {
		put(i, &heap[parent(i)]);
		i = parent(i);
	}
	put(i, &entry);
}

static unsigned int earliest_child(unsigned int first)
{
	unsigned int last = first + ARITY < end ? first + ARITY : end, best = first, i;

	for (i = first + 1; i < last; i++)
		if (before(&heap[i], &heap[best]))
			best = i;
	return best;
}

/* Likewise, or farther from the root. */
static void sift_down(unsigned int i, struct entry entry)
{
	for (;;) {
		unsigned int child = first_child(i);

		if (child >= end)
			break;
		child = earliest_child(child);
		if (before(&entry, &heap[child]))
			break;
		put(i, &heap[child]);
		i = child;
	}
	put(i, &entry);
}

struct sim_event *sim_far_first(void)
{
	return end > FIRST ? heap[FIRST].event : NULL;
}

void sim_far_insert(struct sim_event *event)
{
	if (end == size || !size) {
		size = size ? 2 * size : 256;
		heap = realloc(heap, size * sizeof(*heap));
		if (!heap)
			sim_out_of_memory();
	}
	sift_up(end++, (struct entry){ event->at, event->seq, event });
}

void sim_far_remove(struct sim_event *event)
{
	unsigned int i = event->position;
	struct entry last = heap[--end];

	event->position = 0;
	if (i == end)
		return;
	if (i > FIRST && before(&last, &heap[parent(i)]))
		sift_up(i, last);
	else
		sift_down(i, last);
}

unsigned int sim_far_length(void)
{
	return end - FIRST;
}

void sim_far_each(void (*fn)(struct sim_event *event, void *arg), void *arg)
{
	unsigned int i;

	for (i = FIRST; i < end; i++)
		fn(heap[i].event, arg);
}
