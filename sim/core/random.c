// SPDX-License-Identifier: GPL-2.0
/* Random numbers for policies: a stream of this run's seed that nothing else draws from. */
#include <linux/prandom.h>

#include "../engine/host.h"

static struct sim_random stream;
static bool begun;

u64 get_random_u64(void)
{
	if (!begun)
		sim_random_init(&stream, "get_random", 0);
	begun = true;
	return sim_random_next(&stream);
}

u32 get_random_u32(void)
{
	return get_random_u64() >> 32;
}

/* 0 ... @n - 1 */
u32 get_random_u32_below(u32 n)
{
	return (u64)get_random_u32() * n >> 32;
}
