// SPDX-License-Identifier: GPL-2.0
/* What timers start: ticks, and threads that sleep on an otherwise idle CPU. */
#define _GNU_SOURCE
#include "cost.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define WARM_UP 50
#define NAP_NS 50000

/* --- a running thread is interrupted --- */

#define SHORTEST 500	/* instructions that an interrupt takes at least */

static void spin(void)
{
	asm volatile(".rept 1000\n nop\n .endr\n");
}

/* From one look at the clock to the next one, without interruption. */
static uint64_t usual_turn(void)
{
	uint64_t least = ~0ull, last = __builtin_ia32_rdtsc();

	for (int i = 0; i < 1000; i++) {
		uint64_t now;

		spin();
		now = __builtin_ia32_rdtsc();
		if (now - last < least)
			least = now - last;
		last = now;
	}
	return least;
}

double run_tick(long rounds)
{
	uint64_t *took = room_for(rounds), usual = usual_turn(), last = begin();

	for (long i = 0; i < rounds;) {
		uint64_t now;

		spin();
		now = __builtin_ia32_rdtsc();
		if (now - last > usual + SHORTEST)
			took[i++] = now - last - usual;
		last = now;
	}
	end();
	return first_quartile(took, rounds);
}

/* --- a CPU goes idle and comes back --- */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Of CPU 0, whose rows come first in the file. */
struct idle {
	unsigned long long until;	/* when it was idle for the last time */
	unsigned long long total;
};

static struct idle idle_times(void)
{
	FILE *f = fopen("/proc/timer_list", "r");
	struct idle idle = {};
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, " .idle_entrytime : %llu nsecs", &idle.until);
		if (sscanf(line, " .idle_sleeptime : %llu nsecs", &idle.total) == 1) {
			fclose(f);
			return idle;
		}
	}
	die("/proc/timer_list");
}

static void nap(void)
{
	struct timespec t = { .tv_nsec = NAP_NS };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/*
 * The idle loop's own way from its first look at the clock to the halt counts as
 * idle, and so does the interrupt's entry: they are the same for all schedulers.
 */
double run_sleep(long rounds)
{
	uint64_t start, idle;

	for (int i = 0; i < WARM_UP; i++)
		nap();
	idle = idle_times().total;
	begin();
	start = now_ns();
	for (long i = 0; i < rounds; i++)
		nap();
	start = now_ns() - start;
	end();
	idle = idle_times().total - idle;
	return (double)(start - idle) / rounds;
}

double run_newidle(long rounds)
{
	struct idle before = idle_times(), after;
	uint64_t *took = room_for(rounds);

	for (long i = -WARM_UP; i < rounds; i++) {
		uint64_t start = now_ns();

		nap();
		after = idle_times();
		if (i >= 0)
			took[i] = after.until - (after.total - before.total) - start;
		before = after;
	}
	return first_quartile(took, rounds);
}
