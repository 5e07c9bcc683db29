// SPDX-License-Identifier: GPL-2.0
/*
 * How long the queue takes to give out an event and to take another one, in ns, for some numbers
 * of pending events: `test_sim_engine.py --speed`, or by hand. With it a heap alone is measured
 * (far.c).
 */
#include <time.h>

#include "check.h"
#include "far.h"

#define ROUNDS	2000000

static struct sim_random random_numbers;

struct subject {
	struct sim_event	event;
	char			more[200];	/* as a thread or a runqueue has */
};

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Ticks, bursts of some us, and sleeps. */
static sim_u64 some_time(void)
{
	sim_u64 x = sim_random_next(&random_numbers);

	switch (x % 8) {
	case 0:
		return 4000000;
	case 1:
		return x / 8 % 100000000;
	default:
		return x / 8 % 500000;
	}
}

static struct sim_event *take_from_queue(void)
{
	return sim_queue_pop(SIM_NEVER);
}

static void add_to_heap(struct sim_event *event, sim_u64 at)
{
	static sim_u64 seq;

	event->at = at;
	event->seq = ++seq;
	sim_far_insert(event);
}

static struct sim_event *take_from_heap(void)
{
	struct sim_event *event = sim_far_first();

	sim_far_remove(event);
	sim_now = event->at;
	return event;
}

static double measure(unsigned int n, struct sim_event *(*take)(void),
		      void (*add)(struct sim_event *event, sim_u64 at))
{
	struct subject *all = calloc(n, sizeof(*all));
	double begin;
	unsigned int i;

	for (i = 0; i < n; i++)
		add(&all[i].event, sim_now + some_time());
	begin = seconds();
	for (i = 0; i < ROUNDS; i++)
		add(take(), sim_now + some_time());
	begin = seconds() - begin;
	for (i = 0; i < n; i++)
		take();
	free(all);
	return begin * 1e9 / ROUNDS;
}

int main(void)
{
	static const unsigned int sizes[] = { 10, 1000, 10000, 100000 };
	unsigned int i;

	sim_random_init(&random_numbers, "speed of the queue", 0);
	puts("pending   queue    heap");
	for (i = 0; i < 4; i++) {
		double queue = measure(sizes[i], take_from_queue, sim_event_set);
		double heap = measure(sizes[i], take_from_heap, add_to_heap);

		printf("%7u %7.1f %7.1f\n", sizes[i], queue, heap);
	}
	return 0;
}
