// SPDX-License-Identifier: GPL-2.0
/* Two threads that compute, and lose the CPU to each other as their time slices end. */
#define _GNU_SOURCE
#include "cost.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#define PATIENCE	1000000000ull	/* cycles of a turn, after which no end of it is expected */

static _Atomic uint64_t last;	/* the last look at the clock: twice that, and who looked */
static volatile long turns;
static long wanted_turns;
static uint64_t *took;

/*
 * From the last look of one to the first of the other. Who loses the CPU between its look and the
 * exchange yields a sample that is far too large: hence quartiles.
 */
static void *take_turns(void *is_other)
{
	uint64_t me = is_other != NULL, began = __builtin_ia32_rdtsc();

	while (turns < wanted_turns) {
		uint64_t now = __builtin_ia32_rdtsc();
		uint64_t before = atomic_exchange_explicit(&last, now << 1 | me, memory_order_relaxed);

		if (before && (before & 1) != me) {
			took[turns++] = now - (before >> 1);
			began = now;
		}
		if (now - began > PATIENCE) {
			errno = 0;
			die("no time slice ends: it is for schedulers that have any");
		}
	}
	return NULL;
}

double run_slice(long rounds)
{
	pthread_t other;

	took = room_for(rounds + 1);	/* the other may have looked before the last one */
	wanted_turns = rounds;
	begin();
	if (pthread_create(&other, NULL, take_turns, &wanted_turns))
		die("pthread_create");
	take_turns(NULL);
	pthread_join(other, NULL);
	end();
	return first_quartile(took, rounds);
}
