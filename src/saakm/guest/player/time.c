// SPDX-License-Identifier: GPL-2.0
/*
 * Time, and how to spend it. In a guest of counted time its CPUs run by turns, each for as long as
 * it does not pause: nobody keeps the others waiting here for more than some hundred
 * instructions. So threads compute at the same time though the host has one thread for all CPUs, and
 * the CPU time of each is what the kernel says, not the number of its instructions.
 */
#include "player.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

#define TURN		200	/* rounds of an empty loop: two instructions each */
#define NEAR_ENOUGH_NS	500	/* what one more system call would cost */

static u64 clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

u64 now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC) - begin_ns;
}

u64 counter(void)
{
	return __rdtsc();
}

static void sleep_clock(int flags, u64 ns)
{
	struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, flags, &t, &t) == EINTR)
		;
}

void sleep_until(u64 at_ns)
{
	sleep_clock(TIMER_ABSTIME, begin_ns + at_ns);
}

void sleep_for(u64 ns)
{
	sleep_clock(0, ns);
}

static void turn(void)
{
	unsigned int n = TURN;

	while (n--)
		__asm__ volatile("");
	_mm_pause();
}

void spin_until(u64 at_ns)
{
	while (now_ns() < at_ns)
		turn();
}

/* CPU time: whoever lost the CPU meanwhile has got less than he thinks, and goes on. */
void burn(u64 ns)
{
	u64 begin = clock_ns(CLOCK_THREAD_CPUTIME_ID), used = 0;

	while (used + NEAR_ENOUGH_NS < ns) {
		u64 end = counter() + ns - used;

		while (counter() < end)
			turn();
		used = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	}
}

/* The counter is to count nanoseconds, as it does where time is counted in instructions. */
void check_clocks(void)
{
	u64 begin = counter(), clock = clock_ns(CLOCK_MONOTONIC), counted, passed;

	do {
		counted = counter() - begin;
		passed = clock_ns(CLOCK_MONOTONIC) - clock;
	} while (passed < 4000000);
	if (counted < passed - passed / 100 || counted > passed + passed / 100) {
		fprintf(stderr, "this machine's counter goes %.3f times in a ns: it is for guests "
			"of counted time (--deterministic)\n", (double)counted / (double)passed);
		exit(2);
	}
}
