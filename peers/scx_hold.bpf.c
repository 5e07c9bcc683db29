// SPDX-License-Identifier: GPL-2.0
/*
 * Not compared with any policy: tests/guest/test_sched_ext.py needs a scheduler that holds
 * threads back though their CPU idles. It does so to those that are as nice as can be.
 */
#include "scx.bpf.h"

#define HELD		1
#define NICEST		139	/* MAX_PRIO - 1 */
#define SLICE_NS	4000000

s32 BPF_STRUCT_OPS(hold_select_cpu, struct task_struct *p, s32 prev_cpu, u64 flags)
{
	return prev_cpu;
}

void BPF_STRUCT_OPS(hold_enqueue, struct task_struct *p, u64 flags)
{
	scx_bpf_dispatch(p, p->static_prio == NICEST ? HELD : SCX_DSQ_LOCAL, SLICE_NS, flags);
}

s32 BPF_STRUCT_OPS_SLEEPABLE(hold_init)
{
	return scx_bpf_create_dsq(HELD, -1);
}

SCX_OPS_DEFINE(
	.select_cpu	= (void *)hold_select_cpu,
	.enqueue	= (void *)hold_enqueue,
	.init		= (void *)hold_init,
	.name		= "scx_hold");
