// SPDX-License-Identifier: GPL-2.0
/*
 * prio: strict priority by nice value, preemptive; first come, first served
 * among equals. A thread of low priority runs only when no other wants the CPU:
 * not for mixed loads, but nothing shows an ordered queue better.
 */
#include <linux/saakm.h>

static u64 prio_key(const struct task_struct *task)
{
	return task->static_prio;
}

SAAKM_POLICY(prio,
	     .queue		= SAAKM_RQ_LIST,
	     .key		= prio_key,
	     .wakeup_preempt	= saakm_preempt_by_order);
