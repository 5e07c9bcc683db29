// SPDX-License-Identifier: GPL-2.0
/*
 * Threads run where sched_setaffinity() lets them, whether they run, wait or sleep while it
 * changes. The host judges, by the kernel's trace: "may PID MASK" stands before a change
 * with all CPUs that it may use meanwhile, and after it with the new ones.
 */
#include "check.h"

#define MEMBERS 8

/* Some mostly run, some mostly sleep; two of three always leave room for others. */
static void round_of(struct member *m)
{
	switch (m->kind % 3) {
	case 0:
		spin(300000 + rnd(300000));
		sched_yield();
		break;
	case 1:
		spin(20000);
		sleep_us(3000 + rnd(3000));
		break;
	default:
		spin(100000 + rnd(100000));
		sleep_us(rnd(1000));
	}
}

unsigned long all_cpus(void)
{
	return nr_cpus() < 64 ? (1ul << nr_cpus()) - 1 : ~0ul;
}

void set_mask(pid_t tid, unsigned long mask)
{
	if (syscall(SYS_sched_setaffinity, tid, sizeof(mask), &mask))
		die("sched_setaffinity of %d to %#lx", tid, mask);
}

static void change(struct member *m, unsigned long *now, unsigned long mask)
{
	trace_note("may %d %#lx", m->tid, *now | mask);
	set_mask(m->tid, mask);
	trace_note("may %d %#lx", m->tid, mask);
	*now = mask;
}

void check_affinity(void)
{
	unsigned long all = all_cpus(), masks[MEMBERS];
	long changes = scaled(150);

	crowd_new(MEMBERS, policy_id(policy_name()), true);
	crowd->round = round_of;
	trace_start("sched/sched_switch");
	crowd_start();
	for (int i = 0; i < MEMBERS; i++)
		masks[i] = all;
	for (long i = 0; i < changes; i++) {
		int who = rnd(MEMBERS);

		change(&crowd->members[who], &masks[who],
		       rnd(3) ? 1ul << rnd(nr_cpus()) : 1 + rnd(all));
		sleep_us(500 + rnd(2000));
	}
	for (int i = 0; i < MEMBERS; i++)
		change(&crowd->members[i], &masks[i], all);
	crowd_moves(PATIENCE_MS / 1000, "after the affinities were changed");
	refuse_ejected();
	trace_stop();
	crowd_end();
	tried("%ld changes of affinity of %d threads that ran, waited or slept", changes, MEMBERS);
}
