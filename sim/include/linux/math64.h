/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Products and quotients of 64 bits, and pseudo-random numbers. Stands for linux/math64.h and
 * prandom.h; another generator than there, so that a policy sees other numbers from the same seed.
 */
#ifndef _LINUX_MATH64_H
#define _LINUX_MATH64_H

#include <linux/kernel.h>

typedef unsigned __int128 u128;
typedef __int128 s128;

#define div_u64(a, b)			((u64)(a) / (u32)(b))
#define div_s64(a, b)			((s64)(a) / (s32)(b))
#define div64_s64(a, b)			((s64)(a) / (s64)(b))
#define div64_u64(a, b)			((u64)(a) / (u64)(b))

#define do_div(n, base) \
	({ u32 __base = (base), __rest = (n) % __base; (n) /= __base; __rest; })

static inline u64 mul_u64_u32_shr(u64 a, u32 multiplier, unsigned int shift)
{
	return ((u128)a * multiplier) >> shift;
}

static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return ((u128)a * b) >> shift;
}

static inline u64 mul_u64_u32_div(u64 a, u32 multiplier, u32 divisor)
{
	return (u128)a * multiplier / divisor;
}

static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 divisor)
{
	return (u128)a * b / divisor;
}

static inline u64 mul_u32_u32(u32 a, u32 b)
{
	return (u64)a * b;
}

struct rnd_state {
	u64	state;
};

/* splitmix64 */
static inline u32 prandom_u32_state(struct rnd_state *random)
{
	u64 z = random->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z ^ z >> 31) >> 32;
}

static inline void prandom_seed_state(struct rnd_state *random, u64 seed)
{
	random->state = seed;
}

/* From a stream of this run's seed */
u32 get_random_u32(void);
u64 get_random_u64(void);
u32 get_random_u32_below(u32 n);

#endif /* _LINUX_MATH64_H */
