// SPDX-License-Identifier: GPL-2.0
/*
 * A thread joins while it waits, preempted by one of a higher class; its policy
 * elects nobody. Prints how many ns of CPU time it gets from then on.
 *	joins_waiting POLICY_ID
 */
#include "subject.h"

static void spinner(struct subject *self)
{
	while (!self->stop)
		self->progress++;
}

static uint64_t cpu_ns(const struct subject *of)
{
	clockid_t clock;

	if (pthread_getcpuclockid(of->thread, &clock))
		die("pthread_getcpuclockid");
	return now_ns(clock);
}

int main(int argc, char **argv)
{
	struct sched_param realtime = { .sched_priority = 1 };
	struct subject waits, hog;
	uint64_t before, after;

	if (argc != 2)
		die("usage: %s POLICY_ID", argv[0]);
	policy_id = atoi(argv[1]);
	pin(0, 0);
	subject_start(&waits, spinner, 1);
	subject_start(&hog, spinner, 1);
	AWAIT(waits.progress && hog.progress);
	if (sched_setscheduler(hog.tid, SCHED_FIFO, &realtime))
		die("sched_setscheduler");
	/* From here on it waits, but for what Linux's own server gives it each second. */
	before = cpu_ns(&waits);
	if (saakm_setattr(waits.tid, SCHED_SAAKM, policy_id, 0, 0))
		die("sched_setattr");
	if (cpu_ns(&waits) != before)
		die("it did not wait");
	subject_stop(&hog);
	sleep_ms(100);
	after = cpu_ns(&waits);
	if (saakm_setattr(waits.tid, SCHED_OTHER, 0, 0, 0))
		die("sched_setattr");
	subject_stop(&waits);
	printf("%lu\n", after - before);
	return 0;
}
