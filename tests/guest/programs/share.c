// SPDX-License-Identifier: GPL-2.0
/*
 * share POLICY fair|rt SECONDS [COMMAND]
 *
 * What does a thread of the policy get beside a fair or a real-time hog on the
 * same CPU? Prints thousandths of the CPU. With a command: it is run then, and
 * the share is measured again, on a second line.
 */
#include "crowd.h"

#define CPU 1

static volatile bool stop;

static void *spinner(void *arg)
{
	pin(0, CPU);
	saakm_join(*(uint32_t *)arg);
	while (!stop)
		spin(1000);
	return NULL;
}

static void *hog(void *arg)
{
	struct sched_param param = { .sched_priority = 10 };

	pin(0, CPU);
	if (!strcmp(arg, "rt") && sched_setscheduler(0, SCHED_FIFO, &param))
		die("SCHED_FIFO");
	while (!stop)
		spin(1000);
	return NULL;
}

static void measure(pthread_t thread, unsigned int seconds)
{
	uint64_t begin, begin_used;

	/* The server's accounts take up to a period to settle. */
	sleep_ms(1100);
	begin = now_ns(CLOCK_MONOTONIC);
	begin_used = used_ns(thread);
	sleep_ms(seconds * 1000);
	printf("%llu\n", (unsigned long long)((used_ns(thread) - begin_used) * 1000 /
			 (now_ns(CLOCK_MONOTONIC) - begin)));
}

int main(int argc, char **argv)
{
	pthread_t spin_thread, hog_thread;
	uint32_t id;

	if (argc < 4)
		fail("share POLICY fair|rt SECONDS [COMMAND]");
	limit_seconds(60);
	mlockall(MCL_CURRENT | MCL_FUTURE);
	pin(0, 0);
	id = policy_id(argv[1]);
	pthread_create(&spin_thread, NULL, spinner, &id);
	pthread_create(&hog_thread, NULL, hog, argv[2]);
	measure(spin_thread, atoi(argv[3]));
	if (argc > 4) {
		if (system(argv[4]))
			fail("%s", argv[4]);
		measure(spin_thread, atoi(argv[3]));
	}
	stop = true;
	pthread_join(hog_thread, NULL);
	pthread_join(spin_thread, NULL);
	return 0;
}
