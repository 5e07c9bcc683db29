// SPDX-License-Identifier: GPL-2.0
/* What timers start: ticks, and threads that sleep on an otherwise idle CPU. */
#define _GNU_SOURCE
#include "cost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WARM_UP 50
#define NAP_NS 50000

/* --- a running thread is interrupted --- */

#define BLOCK 64	/* instructions of a turn of the loop */

static void spin(uint64_t turns)
{
	asm volatile("1:\n"
		     ".rept 62\n nop\n .endr\n"
		     "dec %0\n"
		     "jnz 1b\n" : "+r"(turns));
}

/* Of the local timer, on CPU 0. */
static long timer_interrupts(void)
{
	FILE *f = fopen("/proc/interrupts", "r");
	char line[1024];
	long count = -1;

	while (f && fgets(line, sizeof(line), f)) {
		char *loc = strstr(line, "LOC:");

		if (loc)
			count = atol(loc + 4);
	}
	if (count < 0)
		die("/proc/interrupts");
	fclose(f);
	return count;
}

double run_tick(long rounds)
{
	uint64_t turns = rounds * 4000000ull / BLOCK, start;
	long ticks;

	spin(1000);
	ticks = timer_interrupts();
	start = begin();
	spin(turns);
	start = end() - start;
	ticks = timer_interrupts() - ticks;
	if (!ticks)
		die("there was no tick");
	counted = ticks;
	return (double)(start - turns * BLOCK) / ticks;
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
	uint64_t total = 0;

	for (long i = 0; i < WARM_UP + rounds; i++) {
		uint64_t start = now_ns();

		nap();
		after = idle_times();
		if (i >= WARM_UP)
			total += after.until - (after.total - before.total) - start;
		before = after;
	}
	return (double)total / rounds;
}
