// SPDX-License-Identifier: GPL-2.0
/*
 * Two hogs of one policy on one CPU: how much CPU time does each turn take?
 *	turns POLICY_ID COUNT
 * Says one turn a line, in us.
 */
#include "subject.h"

#define MAX_TURNS	16384

static volatile int turn = -1, nr_turns, wanted, next_number;
static uint64_t turns_us[MAX_TURNS];

/* Only the running one writes: both are on one CPU, and its turn is what ends here. */
static void takes_turns(struct subject *self)
{
	uint64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID), now;
	int me = __atomic_fetch_add(&next_number, 1, __ATOMIC_SEQ_CST);

	saakm_join(policy_id);
	while (nr_turns < wanted && !self->stop) {
		self->progress++;
		if (turn == me)
			continue;
		/* The other ran in between: what we used since we last began was one turn. */
		turn = me;
		now = now_ns(CLOCK_THREAD_CPUTIME_ID);
		if (nr_turns < MAX_TURNS)
			turns_us[nr_turns++] = (now - begin) / 1000;
		begin = now;
	}
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct subject a, b;

	if (argc != 3)
		die("usage: %s POLICY_ID COUNT", argv[0]);
	policy_id = atoi(argv[1]);
	wanted = atoi(argv[2]);
	pin(0, cpus - 1);
	subject_start(&a, takes_turns, cpus > 1);
	subject_start(&b, takes_turns, cpus > 1);
	AWAIT(nr_turns >= wanted);
	subject_stop(&a);
	subject_stop(&b);
	for (int i = 2; i < wanted; i++)
		printf("%llu\n", (unsigned long long)turns_us[i]);
	return 0;
}
