// SPDX-License-Identifier: GPL-2.0
/*
 * mlfq: a feedback queue of two levels. A thread that has used up its first slice
 * falls to the lower level until it sleeps; the upper level goes first, and
 * preempts. Within a level threads take turns, a slice each.
 *
 * The data of a thread are one number: the ns that are left of its first slice.
 */
#include <linux/saakm.h>

static u64 mlfq_key(const struct task_struct *task)
{
	s64 *left_ns = saakm_task_data(task);

	return *left_ns <= 0;
}

/* Who merely comes from another core has not slept. */
static void mlfq_place(struct process_event *event, struct core_event *core)
{
	s64 *left_ns = event->data;

	if (!(event->flags & SAAKM_EV_OUSTED))
		*left_ns = (s64)core->policy->slice_us * NSEC_PER_USEC;
}

static void mlfq_used(struct process_event *event, struct core_event *core, u64 used_ns)
{
	s64 *left_ns = event->data;

	*left_ns -= used_ns;
}

SAAKM_POLICY(mlfq,
	     .queue = SAAKM_RQ_RBTREE, .key = mlfq_key,
	     .slice_us = 4000,
	     .task_size = sizeof(s64),
	     .place = mlfq_place,
	     .used = mlfq_used,
	     .wakeup_preempt = saakm_preempt_by_order);
