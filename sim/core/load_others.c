// SPDX-License-Identifier: GPL-2.0
/* What a thread of a workload does to itself or to others: parameters, cgroups, signals. */
#include "load.h"

enum load_next load_others(struct model_thread *t)
{
	const struct program_op *op = t->op;
	u64 number = op->indexed ? load_sum(t, op->other) : LOAD_ALL;

	t->whose = op->ref;
	/* There are less than so many threads. */
	t->which = (u32)min_t(u64, number, op->indexed ? LOAD_ALL - 1 : LOAD_ALL);
	return load_advance(t);
}

static void getattr(struct task_struct *p)
{
	struct sched_attr attr;

	model_getattr(p, &attr);
	model_hash(attr.sched_policy ^ (u64)attr.sched_saakm_policy << 32);
}

static void change(struct model_thread *t, const struct program_op *op, struct task_struct *p)
{
	struct program_policy policy = { op->b, op->a, op->ref };

	switch (op->code) {
	case OP_SET_NICE:
		load_set_nice(t, p, (int)op->a);
		break;
	case OP_SET_CPUS:
		load_set_cpus(t, p, (struct program_cpus){ op->ref, op->other });
		break;
	case OP_SET_POLICY:
		load_set_policy(t, p, policy, task_nice(p), p->sched_reset_on_fork);
		break;
	case OP_SET_CGROUP:
		load_set_cgroup(t, p, load_resolve(t, op->ref,
						   op->indexed & PROGRAM_REF_INDEXED));
		break;
	case OP_GETATTR:
		getattr(p);
		break;
	default:
		load_kill(p);
	}
}

/*
 * find_task_by_vpid(): from the fork on, before it has run, up to when it is gone. Another one may
 * go while this one sleeps in the system call.
 */
static struct task_struct *find(const struct load_group *group, u32 number)
{
	const struct model_thread *other;

	other = number < group->next_number ? group->by_number[number] : NULL;
	return other && other->task ? get_task_struct(other->task) : NULL;
}

enum load_next load_change(struct model_thread *t)
{
	const struct program_op *op = t->op;
	const struct load_group *group = &load_groups[t->whose];
	u32 number = t->which == LOAD_ALL ? 0 : t->which;
	u32 end = t->which == LOAD_ALL ? group->next_number : number + 1;
	struct task_struct *p;

	load_advance(t);
	if (op->how != PROGRAM_OTHERS) {
		change(t, op, t->task);
		return LOAD_ON;
	}
	for (; number < end; number++) {
		p = find(group, number);
		if (!p)
			continue;
		if (p->model)
			change(t, op, p);
		put_task_struct(p);
	}
	return LOAD_ON;
}
