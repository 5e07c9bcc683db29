// SPDX-License-Identifier: GPL-2.0
/*
 * Threads and processes of modules/processes, one scenario at a time.
 *	relatives SCENARIO POLICY_ID
 */
#include "subject.h"

#define THREADS		6
#define PROCESSES	5
#define ROUNDS		60

static struct subject threads[THREADS];

static void leaves_when_told(struct subject *self)
{
	saakm_join(policy_id);
	self->progress = 1;
	while (!self->stop)
		sleep_ms(1);
	saakm_leave();
}

/* One after the other joins by itself. */
static void late_threads(void)
{
	for (int i = 0; i < THREADS; i++) {
		subject_start(&threads[i], leaves_when_told, -1);
		AWAIT(threads[i].progress);
	}
	for (int i = 0; i < THREADS; i++)
		subject_stop(&threads[i]);
}

/* All have left before the next one joins. */
static void one_at_a_time(void)
{
	for (int i = 0; i < THREADS; i++) {
		subject_start(&threads[i], leaves_when_told, -1);
		AWAIT(threads[i].progress);
		subject_stop(&threads[i]);
	}
}

static void burns(struct subject *self)
{
	self->progress = 1;
	while (!self->stop)
		burn_ns(1000000);
}

/* They are in it from their birth. */
static void born_threads(void)
{
	saakm_join(policy_id);
	for (int i = 0; i < THREADS; i++)
		subject_start(&threads[i], burns, -1);
	for (int i = 0; i < THREADS; i++)
		subject_stop(&threads[i]);
}

/* A sleeping thread is put in by another one, and has not been placed. */
static void put_in_asleep(void)
{
	subject_start(&threads[0], idler, -1);
	subject_start(&threads[1], leaves_when_told, -1);
	AWAIT(threads[1].progress);
	for (int i = 0; i < 20; i++) {
		if (saakm_setattr(threads[0].tid, SCHED_SAAKM, policy_id, 0, 0))
			die("sched_setattr");
		sleep_ms(3);
		if (saakm_setattr(threads[0].tid, SCHED_OTHER, 0, 0, 0))
			die("sched_setattr");
	}
	subject_stop(&threads[0]);
	subject_stop(&threads[1]);
}

static void burn_briefly(void)
{
	burn_ns(2000000);
	sleep_ms(1);
}

static void children(void)
{
	pid_t pids[PROCESSES];

	saakm_join(policy_id);
	for (int i = 0; i < PROCESSES; i++)
		pids[i] = process_start(burn_briefly);
	for (int i = 0; i < PROCESSES; i++)
		process_reap(pids[i], 0);
}

/* Many short processes, whose blocks shall all be freed. */
static void generations(void)
{
	saakm_join(policy_id);
	for (int i = 0; i < 400; i++)
		process_reap(process_start(burn_briefly), 0);
}

static void sleeps_until_killed(void)
{
	saakm_join(policy_id);
	shared->progress++;
	for (;;)
		sleep_ms(2);
}

/* Two that are there while the policy is replaced by another one. */
static void lasting(void)
{
	pid_t pid = process_start(sleeps_until_killed);

	saakm_join(policy_id);
	AWAIT(shared->progress);
	for (int i = 0; i < THREADS; i++)
		subject_start(&threads[i], burns, -1);
	printf("ready\n");
	fflush(stdout);
	getchar();
	for (int i = 0; i < THREADS; i++)
		subject_stop(&threads[i]);
	kill(pid, SIGKILL);
	process_reap(pid, SIGKILL);
}

/* Threads of one process join, leave, fork and die at the same time. */
static void comes_and_goes(struct subject *self)
{
	for (int i = 0; i < ROUNDS; i++) {
		saakm_join(policy_id);
		if (i % 8 == self - threads)
			process_reap(process_start(burn_briefly), 0);
		if (i % 3)
			burn_ns(100000);
		saakm_leave();
	}
	if ((self - threads) % 2)
		saakm_join(policy_id);	/* and dies in it */
}

static void coming_and_going(void)
{
	for (int i = 0; i < THREADS; i++)
		subject_start(&threads[i], comes_and_goes, -1);
	for (int i = 0; i < THREADS; i++)
		subject_stop(&threads[i]);
}

static void crowds(void)
{
	pid_t pids[PROCESSES];

	for (int i = 0; i < PROCESSES; i++)
		pids[i] = process_start(coming_and_going);
	for (int i = 0; i < PROCESSES; i++)
		process_reap(pids[i], 0);
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{ "late_threads", late_threads },
		{ "one_at_a_time", one_at_a_time },
		{ "born_threads", born_threads },
		{ "put_in_asleep", put_in_asleep },
		{ "children", children },
		{ "generations", generations },
		{ "lasting", lasting },
		{ "crowds", crowds },
		{}
	};

	return run_scenario(argc, argv, scenarios);
}
