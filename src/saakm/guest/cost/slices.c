// SPDX-License-Identifier: GPL-2.0
/* Two threads that compute, and lose the CPU to each other as their time slices end. */
#define _GNU_SOURCE
#include "cost.h"

#include <pthread.h>

#define PATIENCE	5000000000ull	/* cycles of a turn, after which no end of it is expected */

/* Of one CPU: nobody else reads or writes these while a thread runs. */
static volatile uint64_t last;
static volatile long turns;
static long wanted_turns;
static const void *volatile running;
static uint64_t *took;

/* From the last look at the clock of one to the first of the other: a part of a round more. */
static void *take_turns(void *unused)
{
	const void *me = &unused;
	uint64_t began = 0;

	while (turns < wanted_turns) {
		if (running != me) {
			/* After the test: the turn of the other is over by now. */
			uint64_t now = __builtin_ia32_rdtsc();

			if (running)
				took[turns++] = now - last;
			running = me;
			began = now;
		}
		last = __builtin_ia32_rdtsc();
		if (last - began > PATIENCE)
			die("no time slice ends: it is for schedulers that have any");
	}
	return unused;
}

double run_slice(long rounds)
{
	pthread_t other;

	took = room_for(rounds + 1);	/* the other may have looked before the last one */
	wanted_turns = rounds;
	begin();
	if (pthread_create(&other, NULL, take_turns, NULL))
		die("pthread_create");
	take_turns(NULL);
	pthread_join(other, NULL);
	end();
	return first_quartile(took, rounds);
}
