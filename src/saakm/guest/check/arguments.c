// SPDX-License-Identifier: GPL-2.0
/* What the kernel's command line says. */
#include "check.h"

const char *argument(const char *name, const char *otherwise)
{
	return getenv(name) ?: otherwise;
}

uint32_t seed(void)
{
	return strtoul(argument("seed", "1"), NULL, 0);
}

long scaled(long usual)
{
	long n = usual * atol(argument("scale", "100")) / 100;

	return n > 1 ? n : 1;
}

const char *policy_name(void)
{
	return argument("policy", "");
}

int scratch_cpu(void)
{
	return nr_cpus() > 1 ? 1 : 0;
}
