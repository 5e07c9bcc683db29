// SPDX-License-Identifier: GPL-2.0
/*
 * shares_of SECONDS POLICY_ID...
 *
 * A hog of each policy, all on one CPU: what does each get? Prints thousandths
 * of the CPU. The CPU is left to them: the parent runs elsewhere.
 */
#include "crowd.h"

#define CPU 1
#define MOST 8

static volatile bool stop;

static void *hog(void *arg)
{
	pin(0, CPU);
	saakm_join(*(uint32_t *)arg);
	while (!stop)
		spin(1000);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MOST];
	uint64_t begin, used[MOST];
	uint32_t ids[MOST];
	int n = argc - 2;

	if (n < 1 || n > MOST)
		fail("shares_of SECONDS POLICY_ID...");
	limit_seconds(60);
	mlockall(MCL_CURRENT | MCL_FUTURE);
	pin(0, 0);
	for (int i = 0; i < n; i++) {
		ids[i] = atoi(argv[i + 2]);
		pthread_create(&threads[i], NULL, hog, &ids[i]);
	}
	sleep_ms(1100);
	begin = now_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < n; i++)
		used[i] = used_ns(threads[i]);
	sleep_ms(atoi(argv[1]) * 1000);
	for (int i = 0; i < n; i++)
		printf("%llu ", (unsigned long long)((used_ns(threads[i]) - used[i]) * 1000 /
			(now_ns(CLOCK_MONOTONIC) - begin)));
	stop = true;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
