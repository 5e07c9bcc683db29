// SPDX-License-Identifier: GPL-2.0
/* The interpreter: each thread plays the program of its group. */
#include "player.h"

#include <unistd.h>

static void set(struct thread *t)
{
	const struct program_op *op = t->op;

	switch (op->code) {
	case OP_SET_NICE:
		set_nice(t, (int)op->a);
		break;
	case OP_SET_CPUS:
		set_cpus(t, (struct program_cpus){ op->ref, op->other });
		break;
	default:
		set_policy(t, (struct program_policy){ (unsigned char)op->b,
						       (unsigned char)op->a, op->ref });
	}
}

static void time_op(struct thread *t)
{
	u64 ns = random_time(&t->random, t->op);

	switch (t->op->code) {
	case OP_RUN:
		burn(ns);
		break;
	case OP_SPIN:
		spin_until(now_ns() + ns);
		break;
	default:
		sleep_for(ns);
	}
}

static void chance(struct thread *t)
{
	if (random_below(&t->random, 1000000) >= t->op->a)
		t->op = &program->ops[t->op->ref];
}

static void loop_op(struct thread *t)
{
	if (t->op->code == OP_LOOP)
		t->rounds[t->depth++] = 0;
	else if (++t->rounds[t->depth - 1] < t->op->a)
		t->op = &program->ops[t->op->ref];
	else
		t->depth--;
}

/* Of latencies and iterations nothing is kept: what is compared here are events. */
static void step(struct thread *t)
{
	switch (t->op->code) {
	case OP_RUN: case OP_SPIN: case OP_SLEEP: time_op(t); break;
	case OP_TIMER: timer(t); break;
	case OP_LOCK: mutex_lock(t); break;
	case OP_UNLOCK: mutex_unlock(t); break;
	case OP_WAIT: cond_wait(t); break;
	case OP_SIGNAL: cond_signal(t, false); break;
	case OP_BROADCAST: cond_signal(t, true); break;
	case OP_BARRIER: barrier(t); break;
	case OP_UP: up(t); break;
	case OP_DOWN: down(t); break;
	case OP_WRITE: write_pipe(t); break;
	case OP_READ: read_pipe(t); break;
	case OP_SUSPEND: suspend(t); break;
	case OP_RESUME: resume(t); break;
	case OP_YIELD: sched_yield(); break;
	case OP_FORK: fork_children(t); break;
	case OP_JOIN: join_children(t); break;
	case OP_SET_NICE: case OP_SET_CPUS: case OP_SET_POLICY: set(t); break;
	case OP_PICK: t->pick = (u32)random_below(&t->random, t->op->a); break;
	case OP_LOOP: case OP_AGAIN: loop_op(t); break;
	case OP_CHANCE: chance(t); break;
	case OP_PI_LOCK: pi_lock(t); break;
	case OP_PI_UNLOCK: pi_unlock(t); break;
	case OP_SET_CGROUP: set_cgroup(t); break;
	case OP_CGROUP_WEIGHT: cgroup_weight(t); break;
	case OP_CGROUP_POLICY: cgroup_policy(t); break;
	default: break;
	}
	t->op++;
}

void *play(void *thread)
{
	struct thread *t = thread;

	t->tid = gettid();
	set_first(t);
	while (t->op->code != OP_END && t->op->code != OP_EXIT)
		step(t);
	tell_parent(t);
	has_ended();
	return NULL;
}
