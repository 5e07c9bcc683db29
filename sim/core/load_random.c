// SPDX-License-Identifier: GPL-2.0
/* Random numbers of workloads: src/saakm/workload/program_text.py defines each step. */
#include "load.h"

static u64 next(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

u64 load_random_child(u64 origin, u64 a, u64 b)
{
	u64 y = origin ^ (a + 1) * 0xd1342543de82ef95ULL;

	y = next(&y) ^ b;
	return next(&y);
}

u64 load_random_below(u64 *state, u64 n)
{
	return (u64)((unsigned __int128)next(state) * n >> 64);
}

/* ln 2 times -log2 of a number between 0 and 1, in steps of 1/65536. */
static u64 exponential(u64 *state, u64 mean)
{
	u64 r = next(state) | 1, m, log = 0, minus_log2;
	unsigned int k = __builtin_clzll(r), i;

	m = r << k >> 32;
	/* Half of the bits are 1: no processor guesses which, so there is no branch. */
	for (i = 0; i < 16; i++) {
		u64 bit;

		m = m * m >> 31;
		bit = m >> 32;
		m >>= bit;
		log = log << 1 | bit;
	}
	minus_log2 = (k + 1) * 65536ULL - log;
	return (u64)((unsigned __int128)(minus_log2 * 45426 >> 16) * mean >> 16);
}

u64 load_random_time(u64 *state, const struct program_op *op)
{
	switch (op->drawn) {
	case PROGRAM_UNIFORM:
		return op->a + load_random_below(state, op->b - op->a + 1);
	case PROGRAM_EXPONENTIAL:
		return exponential(state, op->a);
	case PROGRAM_BIMODAL:
		return load_random_below(state, 1000000) < op->other ? op->b : op->a;
	default:
		return op->a;
	}
}
