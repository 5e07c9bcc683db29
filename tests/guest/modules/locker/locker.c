// SPDX-License-Identifier: GPL-2.0
/* locker: how often do threads go to sleep with a lock that others want? */
#include <linux/saakm.h>

static atomic_t nr_sleeps = ATOMIC_INIT(0), nr_held = ATOMIC_INIT(0), nr_kept = ATOMIC_INIT(0);
module_param_named(sleeps, nr_sleeps.counter, int, 0444);
module_param_named(held, nr_held.counter, int, 0444);
module_param_named(kept, nr_kept.counter, int, 0444);

static void locker_block(struct process_event *event, struct core_event *core)
{
	if (event->flags & SAAKM_EV_OUSTED || event->task->flags & PF_EXITING)
		return;
	atomic_inc(&nr_sleeps);
	if (!saakm_holds_lock(event->task))
		return;
	atomic_inc(&nr_held);
	saakm_forget_lock(event->task);
	atomic_add(saakm_holds_lock(event->task), &nr_kept);
}

static void locker_dump(struct saakm_policy *policy, struct seq_buf *text)
{
	seq_buf_printf(text, "%d sleeps, %d with a lock\n", atomic_read(&nr_sleeps),
		       atomic_read(&nr_held));
}

SAAKM_POLICY(locker, .flags = SAAKM_POLICY_LOCKS, .block = locker_block, .dump = locker_dump);
