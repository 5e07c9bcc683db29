// SPDX-License-Identifier: GPL-2.0
/*
 * prio: strict priority by nice value, preemptive; first come, first served
 * among equals. A thread of low priority runs only when no other wants the CPU:
 * not for mixed loads, but nothing shows an ordered queue better.
 */
#include <linux/saakm.h>

static int prio_order(const struct task_struct *a, const struct task_struct *b)
{
	return a->static_prio - b->static_prio;
}

SAAKM_POLICY(prio,
	     .queue		= SAAKM_RQ_LIST,
	     .order		= prio_order,
	     .wakeup_preempt	= saakm_preempt_by_order);
