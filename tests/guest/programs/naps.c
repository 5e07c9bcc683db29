// SPDX-License-Identifier: GPL-2.0
/*
 * A thread of a policy that sleeps for a millisecond, again and again.
 *	naps POLICY_ID TIMES	prints, in microseconds, by how much it overslept: the sum of all, and
 *				the longest
 */
#include "subject.h"

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t longest = 0, sum = 0;

	if (argc < 3)
		die("naps POLICY_ID TIMES");
	saakm_join(atoi(argv[1]));
	for (int i = atoi(argv[2]); i > 0; i--) {
		uint64_t wake_ns = now_ns() + 1000000, late_ns;
		struct timespec at = { wake_ns / 1000000000, wake_ns % 1000000000 };

		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
			;
		late_ns = now_ns() - wake_ns;
		sum += late_ns;
		longest = late_ns > longest ? late_ns : longest;
	}
	printf("%llu %llu\n", (unsigned long long)sum / 1000, (unsigned long long)longest / 1000);
	return 0;
}
