// SPDX-License-Identifier: GPL-2.0
/* What a policy may look like, whatever the shipped ones do. */
#include <linux/saakm.h>

struct sample_task {
	u64 key;
};

static u64 sample_key(const struct task_struct *task)
{
	return 0;
}

static int sample_prepare(struct process_event *event)
{
	return saakm_usable_cpu(event->task, 0);
}

static bool sample_wakeup_preempt(struct task_struct *running,
				  struct task_struct *woken)
{
	return saakm_preempt_by_order(running, woken);
}

SAAKM_POLICY(sample, .queue = SAAKM_RQ_LIST, .key = sample_key,
	     .task_size = sizeof(struct sample_task), .new_prepare = sample_prepare,
	     .unblock_prepare = sample_prepare, .newly_idle = saakm_pull_idle,
	     .wakeup_preempt = sample_wakeup_preempt);
