// SPDX-License-Identifier: GPL-2.0
/*
 * A feedback queue of two levels, as docs/examples/mlfq: a thread that has used up its
 * first slice falls to the lower level until it sleeps. Unlike mlfq, which looks at
 * every tick, a thread goes on until its turn of a slice ends.
 *
 * dsq_vtime, of which queues in order of arrival make no use, is the CPU time at which
 * the first slice ends.
 */
#include "scx.bpf.h"

const volatile u64 slice_ns = 4000000;

#define LOWER	MAX_CPUS	/* the lower level's queue of CPU 0; that of the upper one is 0 */
#define is_low(p) ((p)->se.sum_exec_runtime >= (p)->scx.dsq_vtime)

s32 BPF_STRUCT_OPS(mlfq_select_cpu, struct task_struct *p, s32 prev_cpu, u64 flags)
{
	_Bool idle;

	return scx_bpf_select_cpu_dfl(p, prev_cpu, flags, &idle);
}

void BPF_STRUCT_OPS(mlfq_enable, struct task_struct *p)
{
	p->scx.dsq_vtime = p->se.sum_exec_runtime + slice_ns;
}

void BPF_STRUCT_OPS(mlfq_runnable, struct task_struct *p, u64 flags)
{
	if (flags & SCX_ENQ_WAKEUP)
		p->scx.dsq_vtime = p->se.sum_exec_runtime + slice_ns;
}

void BPF_STRUCT_OPS(mlfq_enqueue, struct task_struct *p, u64 flags)
{
	s32 cpu = scx_bpf_task_cpu(p);

	scx_bpf_dispatch(p, is_low(p) ? LOWER + cpu : cpu, slice_ns, flags);
	if (!is_low(p) && is_low(curr_on(cpu, p)))
		scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
}

void BPF_STRUCT_OPS(mlfq_dispatch, s32 cpu, struct task_struct *prev)
{
	_Bool goes_on = prev && prev->scx.flags & SCX_TASK_QUEUED;

	if (scx_bpf_consume(cpu))
		return;
	if ((!goes_on || is_low(prev)) && scx_bpf_consume(LOWER + cpu))
		return;
	if (goes_on)
		prev->scx.slice = slice_ns;
}

s32 BPF_STRUCT_OPS_SLEEPABLE(mlfq_init)
{
	u32 nr = scx_bpf_nr_cpu_ids();

	for (u32 cpu = 0; cpu < nr && cpu < MAX_CPUS; cpu++)
		if (scx_bpf_create_dsq(cpu, -1) || scx_bpf_create_dsq(LOWER + cpu, -1))
			return -1;
	return 0;
}

SCX_OPS_DEFINE(
	.select_cpu	= (void *)mlfq_select_cpu,
	.enable		= (void *)mlfq_enable,
	.runnable	= (void *)mlfq_runnable,
	.enqueue	= (void *)mlfq_enqueue,
	.dispatch	= (void *)mlfq_dispatch,
	.init		= (void *)mlfq_init,
	.name		= "scx_mlfq");
