// SPDX-License-Identifier: GPL-2.0
/* Random numbers of workloads: src/saakm/workload/program_text.py defines each step. */
#include "player.h"

static u64 draw(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

u64 random_child(u64 origin, u64 a, u64 b)
{
	u64 y = origin ^ (a + 1) * 0xd1342543de82ef95ULL;

	y = draw(&y) ^ b;
	return draw(&y);
}

u64 random_below(u64 *state, u64 n)
{
	return (u64)((unsigned __int128)draw(state) * n >> 64);
}

static u64 exponential(u64 *state, u64 mean)
{
	u64 r = draw(state) | 1, m, log = 0, minus_log2;
	unsigned int leading = (unsigned int)__builtin_clzll(r), i;

	m = (r << leading) >> 32;
	for (i = 0; i < 16; i++) {
		m = (m * m) >> 31;
		log <<= 1;
		if (m >> 32) {
			m >>= 1;
			log |= 1;
		}
	}
	minus_log2 = (leading + 1) * 65536ULL - log;
	return (u64)((unsigned __int128)((minus_log2 * 45426) >> 16) * mean >> 16);
}

u64 random_time(u64 *state, const struct program_op *op)
{
	switch (op->drawn) {
	case PROGRAM_UNIFORM:
		return op->a + random_below(state, op->b - op->a + 1);
	case PROGRAM_EXPONENTIAL:
		return exponential(state, op->a);
	case PROGRAM_BIMODAL:
		return random_below(state, 1000000) < op->other ? op->b : op->a;
	default:
		return op->a;
	}
}
