// SPDX-License-Identifier: GPL-2.0
/* Prints the frequency of this CPU's time stamp counter in kHz. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define TRIES 1000
#define SPAN_NS 100000000

struct reading {
	uint64_t ns, cycles;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/*
 * Both clocks at once. On a busy host this process may lose its CPU between
 * them, for seconds if it is nice: the closest of many tries counts.
 */
static struct reading now(void)
{
	struct reading best = {};
	uint64_t closest = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = now_ns(), cycles = __rdtsc(), after = now_ns();

		if (after - before < closest) {
			closest = after - before;
			best.ns = before + closest / 2;
			best.cycles = cycles;
		}
	}
	return best;
}

int main(void)
{
	struct reading begin = now(), end;

	do
		end = now();
	while (end.ns - begin.ns < SPAN_NS);
	printf("%.0f\n", (end.cycles - begin.cycles) * 1e6 / (end.ns - begin.ns));
	return 0;
}
