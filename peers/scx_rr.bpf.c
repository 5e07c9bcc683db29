// SPDX-License-Identifier: GPL-2.0
/*
 * Round robin as policies/rr: a queue per CPU, a time slice of 4 ms, a start on
 * an idle CPU near the last one. A newly idle CPU takes a waiting thread of
 * the next CPU by number that has one, and one that sleeps is woken for it.
 * Unlike rr, busy CPUs do not even out the lengths of their queues.
 */
#include "scx.bpf.h"

const volatile u64 slice_ns = 4000000;

s32 BPF_STRUCT_OPS(rr_select_cpu, struct task_struct *p, s32 prev_cpu, u64 flags)
{
	_Bool idle;

	return scx_bpf_select_cpu_dfl(p, prev_cpu, flags, &idle);
}

void BPF_STRUCT_OPS(rr_enqueue, struct task_struct *p, u64 flags)
{
	s32 idle = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);

	scx_bpf_dispatch(p, scx_bpf_task_cpu(p), slice_ns, flags);
	if (idle >= 0)
		scx_bpf_kick_cpu(idle, SCX_KICK_IDLE);
}

void BPF_STRUCT_OPS(rr_dispatch, s32 cpu, struct task_struct *prev)
{
	u32 nr = scx_bpf_nr_cpu_ids();

	if (scx_bpf_consume(cpu))
		return;
	if (prev && prev->scx.flags & SCX_TASK_QUEUED) {
		prev->scx.slice = slice_ns;
		return;
	}
	for (u32 i = 1; i < nr && i < MAX_CPUS; i++)
		if (scx_bpf_consume((cpu + i) % nr))
			return;
}

s32 BPF_STRUCT_OPS_SLEEPABLE(rr_init)
{
	u32 nr = scx_bpf_nr_cpu_ids();

	for (u32 cpu = 0; cpu < nr && cpu < MAX_CPUS; cpu++)
		if (scx_bpf_create_dsq(cpu, -1))
			return -1;
	return 0;
}

SCX_OPS_DEFINE(
	.select_cpu	= (void *)rr_select_cpu,
	.enqueue	= (void *)rr_enqueue,
	.dispatch	= (void *)rr_dispatch,
	.init		= (void *)rr_init,
	.name		= "scx_rr");
