// SPDX-License-Identifier: GPL-2.0
/*
 * Sets its own priority, naming no policy, again and again: each call must work.
 *	keeper MILLISECONDS
 * Goes on until it is fair for that long.
 */
#include "subject.h"

int main(int argc, char **argv)
{
	struct sched_param param = {};
	uint64_t end = 0, now;

	if (argc != 2)
		die("usage: %s MILLISECONDS", argv[0]);
	do {
		now = now_ns(CLOCK_MONOTONIC);
		/* The libc's own refuses a policy that it does not know. */
		if (syscall(SYS_sched_setparam, 0, &param))
			die("sched_setparam");
		if (!end && syscall(SYS_sched_getscheduler, 0) != SCHED_SAAKM)
			end = now + atol(argv[1]) * 1000000ull;
	} while (!end || now < end);
	return 0;
}
