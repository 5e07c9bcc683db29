// SPDX-License-Identifier: GPL-2.0
/* A request's work is a number of rounds, which took its time when nobody interrupted them. */
#include "bimodal.h"

#define ROUNDS	20000
#define TRIES	25

static double rounds_per_us;

static void compute(long rounds)
{
	uint64_t x = 88172645463325252ull;

	while (rounds--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		/* Nobody reads it, but the compiler shall not know that. */
		asm volatile("" : "+r"(x));
	}
}

/* The fastest try is the one that nobody interrupted. */
void work_calibrate(void)
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t began_ns = now_ns(), took_ns;

		compute(ROUNDS);
		took_ns = now_ns() - began_ns;
		if (took_ns && ROUNDS * 1e3 / took_ns > rounds_per_us)
			rounds_per_us = ROUNDS * 1e3 / took_ns;
	}
	if (rounds_per_us == 0)
		die("the clock stands still");
}

void work_do(long us)
{
	compute(us * rounds_per_us);
}
