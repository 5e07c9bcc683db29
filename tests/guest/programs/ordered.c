// SPDX-License-Identifier: GPL-2.0
/*
 * What makes way in an ordered queue whose policy never preempts. On one CPU a thread of nice 0
 * runs, and another one, which has slept, waits.
 *	ordered yield POLICY_ID NICE: how often the other one of that nice value ran while the
 *		first one yielded 200 times
 *	ordered renice POLICY_ID NICE: ms until it got the CPU, from when it was given that value
 */
#include "subject.h"
#include <sys/resource.h>

#define CPU	1

static struct subject first, other;
static volatile int yields;		/* still to do */

static void naps(struct subject *self)
{
	saakm_join(policy_id);
	while (!self->stop) {
		self->progress++;
		sleep_ms(2);
	}
}

static void keeps_the_cpu(struct subject *self)
{
	saakm_join(policy_id);
	while (!self->stop) {
		self->progress++;
		if (yields > 0) {
			yields--;
			sched_yield();
		}
	}
}

static void give(struct subject *subject, int nice)
{
	if (setpriority(PRIO_PROCESS, subject->tid, nice))
		die("setpriority");
}

int main(int argc, char **argv)
{
	uint64_t before, begin;
	int nice;

	if (argc != 4)
		die("usage: %s yield|renice POLICY_ID NICE", argv[0]);
	policy_id = atoi(argv[2]);
	nice = atoi(argv[3]);
	pin(0, 0);
	subject_start(&other, naps, CPU);
	AWAIT(other.progress > 2);
	if (!strcmp(argv[1], "yield"))
		give(&other, nice);
	subject_start(&first, keeps_the_cpu, CPU);
	AWAIT(first.progress > 2 && in_state(other.tid, "READY"));
	before = other.progress;
	begin = now_ns(CLOCK_MONOTONIC);
	if (!strcmp(argv[1], "yield")) {
		yields = 200;
		AWAIT(!yields);
		printf("%d\n", (int)(other.progress - before));
	} else {
		give(&other, nice);
		AWAIT(other.progress > before);
		printf("%.3f\n", (now_ns(CLOCK_MONOTONIC) - begin) / 1e6);
	}
	first.stop = 1;
	other.stop = 1;
	subject_stop(&first);
	subject_stop(&other);
	return 0;
}
