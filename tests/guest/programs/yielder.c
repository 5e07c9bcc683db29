// SPDX-License-Identifier: GPL-2.0
/*
 * yielder POLICY COUNT CPU
 *
 * A thread that is alone on its CPU yields: every call must return at once, since
 * there is nobody else. Prints the seconds that it took.
 */
#include "crowd.h"

int main(int argc, char **argv)
{
	uint64_t begin;

	if (argc != 4)
		fail("yielder POLICY COUNT CPU");
	crowd_doing = "yielding";
	limit_seconds(30);
	pin(0, atoi(argv[3]));
	saakm_join(policy_id(argv[1]));
	begin = now_ns(CLOCK_MONOTONIC);
	for (int i = atoi(argv[2]); i; i--)
		sched_yield();
	printf("%.3f\n", (now_ns(CLOCK_MONOTONIC) - begin) / 1e9);
	return 0;
}
