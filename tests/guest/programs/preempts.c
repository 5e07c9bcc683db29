// SPDX-License-Identifier: GPL-2.0
/*
 * Does a thread that wakes take the CPU from a hog?
 *	preempts CPU HOG_POLICY:NICE WOKEN_POLICY:NICE
 * Says in how many rounds it ran within 300 ms, and the number of rounds.
 */
#include "sleeper.h"

#define ROUNDS	6

static uint32_t policies[2];
static int nices[2];

static void join(int which)
{
	int ret = saakm_setattr(0, SCHED_SAAKM, policies[which], nices[which], 0);

	if (ret)
		die("sched_setattr: %d", ret);
}

static void spins(struct subject *self)
{
	join(0);
	while (!self->stop)
		self->progress++;
}

static void waits(struct subject *self)
{
	join(1);
	sleeper_run(self);
}

static bool one_round(int cpu, struct subject *woken)
{
	uint64_t before = woken->progress, end;
	struct subject hog;
	bool soon;

	AWAIT(in_state(woken->tid, "BLOCKED"));
	subject_start(&hog, spins, cpu);
	AWAIT(hog.progress && in_state(hog.tid, "RUNNING"));
	sleeper_wake();
	end = now_ns(CLOCK_MONOTONIC) + 300000000;
	while (woken->progress == before && now_ns(CLOCK_MONOTONIC) < end)
		sleep_ms(1);
	soon = woken->progress != before;
	subject_stop(&hog);
	AWAIT(woken->progress != before);
	return soon;
}

int main(int argc, char **argv)
{
	struct subject woken;
	int cpu, soon = 0;

	if (argc != 4 || sscanf(argv[2], "%u:%d", &policies[0], &nices[0]) != 2 ||
	    sscanf(argv[3], "%u:%d", &policies[1], &nices[1]) != 2)
		die("usage: %s CPU HOG_POLICY:NICE WOKEN_POLICY:NICE", argv[0]);
	cpu = atoi(argv[1]);
	sleeper_event = eventfd(0, 0);
	pin(0, cpu == 3 ? 2 : 3);
	subject_start(&woken, waits, cpu);
	for (int i = 0; i < ROUNDS; i++)
		soon += one_round(cpu, &woken);
	printf("%d %d\n", soon, ROUNDS);
	woken.stop = 1;
	sleeper_wake();
	subject_stop(&woken);
	return 0;
}
