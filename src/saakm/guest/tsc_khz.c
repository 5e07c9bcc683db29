// SPDX-License-Identifier: GPL-2.0
/* Prints the frequency of this CPU's time stamp counter in kHz. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

int main(void)
{
	uint64_t start_ns = now_ns(), start = __rdtsc(), ns, cycles;

	do {
		cycles = __rdtsc() - start;
		ns = now_ns() - start_ns;
	} while (ns < 100000000);
	printf("%.0f\n", cycles * 1e6 / ns);
	return 0;
}
