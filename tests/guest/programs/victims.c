// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that give a policy every occasion for a wrong move: births, sleeps,
 * ticks, exits, one CPU and many. Ends well only if all of them do.
 *	victims POLICY_ID
 */
#include "subject.h"

/* Of the CPUs, 0 is the one that a zeroed runqueue seems to belong to. */
static const int cpus[] = { 0, 0, 0, 1, 1, -1, -1 };

static void sleeps_and_burns(struct subject *self)
{
	saakm_join(policy_id);
	for (int i = 0; i < 6; i++) {
		burn_ns(3000000);
		sleep_ms(2);
	}
	self->progress = 1;
}

static void burns(struct subject *self)
{
	saakm_join(policy_id);
	burn_ns(40000000);
	self->progress = 1;
}

static void naps(struct subject *self)
{
	saakm_join(policy_id);
	sleep_ms(100);
	self->progress = 1;
}

static void sleeps(void)
{
	sleep_ms(2);
}

static void forks(void)
{
	saakm_join(policy_id);
	for (int i = 0; i < 3; i++)
		process_reap(process_start(sleeps), 0);
}

int main(int argc, char **argv)
{
	enum { KINDS = 3, N = sizeof(cpus) / sizeof(*cpus) };
	void (*const bodies[KINDS])(struct subject *) = { naps, sleeps_and_burns, burns };
	static struct subject subjects[N][KINDS];
	pid_t pid;

	if (argc != 2)
		die("usage: %s POLICY_ID", argv[0]);
	policy_id = atoi(argv[1]);
	pid = process_start(forks);
	for (int i = 0; i < N; i++)
		for (int kind = 0; kind < KINDS; kind++)
			subject_start(&subjects[i][kind], bodies[kind], cpus[i]);
	for (int i = 0; i < N; i++)
		for (int kind = 0; kind < KINDS; kind++)
			AWAIT(subjects[i][kind].progress);
	for (int i = 0; i < N; i++)
		for (int kind = 0; kind < KINDS; kind++)
			subject_stop(&subjects[i][kind]);
	process_reap(pid, 0);
	return 0;
}
