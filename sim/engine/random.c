// SPDX-License-Identifier: GPL-2.0
/*
 * Random numbers: xoshiro256** by Blackman and Vigna, seeded by splitmix64 from the seed of the run
 * and the name of the stream. In integers alone: the same numbers on every machine.
 */
#include "engine.h"

static sim_u64 splitmix(sim_u64 *state)
{
	sim_u64 x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static inline sim_u64 rotate(sim_u64 x, int n)
{
	return x << n | x >> (64 - n);
}

void sim_random_init(struct sim_random *random, const char *name, sim_u64 index)
{
	sim_u64 state = sim_options.seed;
	int i;

	/* Each byte is mixed in before the next, so that "ab", 1 is another stream than "a", 1. */
	for (; *name; name++)
		state = splitmix(&state) ^ (unsigned char)*name;
	state = splitmix(&state) ^ index;
	for (i = 0; i < 4; i++)
		random->s[i] = splitmix(&state);
}

sim_u64 sim_random_next(struct sim_random *random)
{
	sim_u64 *s = random->s;
	sim_u64 result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

sim_u64 sim_random_below(struct sim_random *random, sim_u64 n)
{
	/* Numbers above the last multiple of n would favour small results: draw again. */
	sim_u64 unfair = -n % n, x;

	do {
		x = sim_random_next(random);
	} while (x < unfair);
	return x % n;
}
