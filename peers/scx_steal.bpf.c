// SPDX-License-Identifier: GPL-2.0
/*
 * scx_fifo with work stealing, as docs/examples/steal: a newly idle CPU takes
 * the longest waiting thread of the next CPU that has one.
 */
#include "scx.bpf.h"

s32 BPF_STRUCT_OPS(steal_select_cpu, struct task_struct *p, s32 prev_cpu, u64 flags)
{
	u32 cpu = (u32)p->pid % scx_bpf_nr_cpu_ids();

	return bpf_cpumask_test_cpu(cpu, p->cpus_ptr) ? (s32)cpu : prev_cpu;
}

void BPF_STRUCT_OPS(steal_enqueue, struct task_struct *p, u64 flags)
{
	scx_bpf_dispatch(p, scx_bpf_task_cpu(p), SCX_SLICE_INF, flags);
}

void BPF_STRUCT_OPS(steal_dispatch, s32 cpu, struct task_struct *prev)
{
	u32 nr = scx_bpf_nr_cpu_ids();

	if (scx_bpf_consume(cpu))
		return;
	if (prev && prev->scx.flags & SCX_TASK_QUEUED) {
		prev->scx.slice = SCX_SLICE_INF;
		return;
	}
	for (u32 i = 1; i < nr && i < MAX_CPUS; i++)
		if (scx_bpf_consume((cpu + i) % nr))
			return;
}

s32 BPF_STRUCT_OPS_SLEEPABLE(steal_init)
{
	u32 nr = scx_bpf_nr_cpu_ids();

	for (u32 cpu = 0; cpu < nr && cpu < MAX_CPUS; cpu++)
		if (scx_bpf_create_dsq(cpu, -1))
			return -1;
	return 0;
}

SCX_OPS_DEFINE(
	.select_cpu	= (void *)steal_select_cpu,
	.enqueue	= (void *)steal_enqueue,
	.dispatch	= (void *)steal_dispatch,
	.init		= (void *)steal_init,
	.name		= "scx_steal");
