// SPDX-License-Identifier: GPL-2.0
/*
 * A sched_ext scheduler that decides as policies/fifo does: one queue per CPU,
 * first come, first served. A thread stays on the CPU that its PID names and
 * runs until it blocks or yields. No balancing.
 */
#include "scx.bpf.h"

s32 BPF_STRUCT_OPS(fifo_select_cpu, struct task_struct *p, s32 prev_cpu, u64 flags)
{
	u32 cpu = (u32)p->pid % scx_bpf_nr_cpu_ids();

	return bpf_cpumask_test_cpu(cpu, p->cpus_ptr) ? (s32)cpu : prev_cpu;
}

void BPF_STRUCT_OPS(fifo_enqueue, struct task_struct *p, u64 flags)
{
	scx_bpf_dispatch(p, SCX_DSQ_LOCAL, SCX_SLICE_INF, flags);
}

SCX_OPS_DEFINE(
	.select_cpu	= (void *)fifo_select_cpu,
	.enqueue	= (void *)fifo_enqueue,
	.name		= "scx_fifo");
