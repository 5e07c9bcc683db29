// SPDX-License-Identifier: GPL-2.0
/*
 * after_idle POLICY_ID [naps]: a thread joins on CPU 1, which starts its server, and sleeps for
 * 200 ms. Then a real-time hog holds the CPU. After how many ms since it joined does the
 * thread run? With naps a fair thread ends the idling of the CPU now and then.
 */
#include "subject.h"

static volatile uint64_t joined_ns, ran_ns;

static void waits(struct subject *self __attribute__((unused)))
{
	saakm_join(policy_id);
	joined_ns = now_ns(CLOCK_MONOTONIC);
	sleep_ms(200);
	ran_ns = now_ns(CLOCK_MONOTONIC);
}

static void holds(struct subject *self)
{
	struct sched_param param = { .sched_priority = 10 };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("SCHED_FIFO");
	/* All the while the CPU idles. */
	sleep_ms(150);
	while (!self->stop)
		self->progress++;
}

static void naps(struct subject *self)
{
	while (!self->stop)
		sleep_ms(10);
}

int main(int argc, char **argv)
{
	struct subject thread, hog, napper;

	if (argc < 2)
		die("after_idle POLICY_ID [naps]");
	policy_id = atoi(argv[1]);
	pin(0, 0);
	/* The period that the server began when the policy was loaded, or before. */
	sleep_ms(1100);
	if (argc > 2)
		subject_start(&napper, naps, 1);
	subject_start(&thread, waits, 1);
	AWAIT(joined_ns);
	subject_start(&hog, holds, 1);
	AWAIT(ran_ns);
	subject_stop(&hog);
	subject_stop(&thread);
	if (argc > 2)
		subject_stop(&napper);
	printf("%llu\n", (unsigned long long)(ran_ns - joined_ns) / 1000000);
	return 0;
}
