// SPDX-License-Identifier: GPL-2.0
/*
 * Strict priority by nice value, as policies/prio: each CPU's queue is sorted by it,
 * who wakes preempts, and among equals only one that yields makes way. A thread that a
 * higher class preempts is put before the queue by the kernel: the next tick corrects it.
 */
#include "scx.bpf.h"

/* Does a thread wait on @cpu that is more urgent than @prio, which is lower for urgent ones? */
static _Bool waits_before(s32 cpu, int prio)
{
	struct task_struct *first;

	scx_dsq_for_each(first, cpu)
		return first->static_prio < prio;
	return 0;
}

void BPF_STRUCT_OPS(prio_enqueue, struct task_struct *p, u64 flags)
{
	s32 cpu = scx_bpf_task_cpu(p);

	scx_bpf_dispatch_vtime(p, cpu, SCX_SLICE_INF, p->static_prio, flags);
	if (p->static_prio < curr_on(cpu, p)->static_prio)
		scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
}

void BPF_STRUCT_OPS(prio_dispatch, s32 cpu, struct task_struct *prev)
{
	if (prev && prev->scx.flags & SCX_TASK_QUEUED && !waits_before(cpu, prev->static_prio + 1))
		prev->scx.slice = SCX_SLICE_INF;
	else
		scx_bpf_consume(cpu);
}

void BPF_STRUCT_OPS(prio_tick, struct task_struct *p)
{
	if (waits_before(scx_bpf_task_cpu(p), p->static_prio))
		p->scx.slice = 0;
}

s32 BPF_STRUCT_OPS_SLEEPABLE(prio_init)
{
	u32 nr = scx_bpf_nr_cpu_ids();

	for (u32 cpu = 0; cpu < nr && cpu < MAX_CPUS; cpu++)
		if (scx_bpf_create_dsq(cpu, -1))
			return -1;
	return 0;
}

SCX_OPS_DEFINE(
	.enqueue	= (void *)prio_enqueue,
	.dispatch	= (void *)prio_dispatch,
	.tick		= (void *)prio_tick,
	.init		= (void *)prio_init,
	.name		= "scx_prio");
