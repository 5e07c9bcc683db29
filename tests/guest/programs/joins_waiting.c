// SPDX-License-Identifier: GPL-2.0
/*
 * A thread joins while it waits, preempted by one of a higher class; its policy
 * elects nobody. It leaves while it still waits, sleeps, joins asleep, and wakes.
 * Prints how many ns of CPU time it gets from then on, each time.
 *	joins_waiting POLICY_ID
 */
#include "subject.h"

static int pipe_ends[2];

static void spinner(struct subject *self)
{
	while (!self->stop)
		self->progress++;
}

static void sleeps_once(struct subject *self)
{
	char byte;

	while (!shared->step)
		self->progress++;
	if (read(pipe_ends[0], &byte, 1) != 1)
		die("read");
	spinner(self);
}

static uint64_t cpu_ns(const struct subject *of)
{
	clockid_t clock;

	if (pthread_getcpuclockid(of->thread, &clock))
		die("pthread_getcpuclockid");
	return now_ns(clock);
}

static void set(const struct subject *of, int policy, uint32_t id)
{
	if (saakm_setattr(of->tid, policy, id, 0, 0))
		die("sched_setattr");
}

/* From here on it waits, but for what Linux's own server gives it each second. */
static void preempt(struct subject *by)
{
	struct sched_param realtime = { .sched_priority = 1 };

	if (sched_setscheduler(by->tid, SCHED_FIFO, &realtime))
		die("sched_setscheduler");
}

/* Its CPU time then. It may have got the server's share just now: then again. */
static uint64_t joins_waiting(struct subject *waits)
{
	uint64_t before;

	for (;;) {
		before = cpu_ns(waits);
		set(waits, SCHED_SAAKM, policy_id);
		if (cpu_ns(waits) == before)
			return before;
		set(waits, SCHED_OTHER, 0);
	}
}

static uint64_t joins_asleep(struct subject *waits)
{
	uint64_t before;

	shared->step = 1;
	/* It may say so on its way to sleep: then it would join running, or preempted. */
	for (;;) {
		AWAIT(kernel_state(waits->tid) == 'S');
		before = cpu_ns(waits);
		set(waits, SCHED_SAAKM, policy_id);
		if (in_state(waits->tid, "NOT_QUEUED") && cpu_ns(waits) == before)
			break;
		set(waits, SCHED_OTHER, 0);
		sleep_ms(1);
	}
	if (write(pipe_ends[1], "", 1) != 1)
		die("write");
	sleep_ms(100);
	return cpu_ns(waits) - before;
}

int main(int argc, char **argv)
{
	struct subject waits, hog;
	uint64_t before, waited, woken;

	if (argc != 2)
		die("usage: %s POLICY_ID", argv[0]);
	policy_id = atoi(argv[1]);
	make_shared();
	if (pipe(pipe_ends))
		die("pipe");
	pin(0, 0);
	subject_start(&waits, sleeps_once, 1);
	subject_start(&hog, spinner, 1);
	AWAIT(waits.progress && hog.progress);
	preempt(&hog);
	before = joins_waiting(&waits);
	subject_stop(&hog);
	sleep_ms(100);
	waited = cpu_ns(&waits) - before;

	set(&waits, SCHED_OTHER, 0);
	subject_start(&hog, spinner, 1);
	AWAIT(hog.progress);
	preempt(&hog);
	joins_waiting(&waits);
	set(&waits, SCHED_OTHER, 0);
	subject_stop(&hog);
	woken = joins_asleep(&waits);
	printf("%lu %lu\n", waited, woken);

	set(&waits, SCHED_OTHER, 0);
	subject_stop(&waits);
	return 0;
}
