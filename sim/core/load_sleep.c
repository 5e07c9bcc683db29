// SPDX-License-Identifier: GPL-2.0
/* How threads of a workload sleep and wake. */
#include "load.h"

/*
 * As futex_wait_queue() and do_nanosleep(): the state comes first, then the thread is where others
 * find it, so that a wakeup which comes before schedule() is not lost.
 */
void load_prepare(struct model_thread *t, struct list_head *waiters)
{
	t->flags |= LOAD_WAITS;
	set_current_state(TASK_INTERRUPTIBLE);
	if (waiters)
		list_add_tail(&t->node, waiters);
}

/* signal_pending_state(): who is killed sleeps no more. load_end() takes it off any queue. */
enum load_next load_block(struct model_thread *t)
{
	if (unlikely(load_dies(t)))
		__set_current_state(TASK_RUNNING);
	else
		model_block(0);
	return LOAD_LEAVE;
}

void load_wake(struct model_thread *t, int flags)
{
	struct task_struct *p = t->task;

	list_del_init(&t->node);
	t->flags &= ~LOAD_WAITS;
	try_to_wake_up(p, TASK_NORMAL, flags);
}

bool load_sleeps_on(struct model_thread *t)
{
	if (likely(!(t->flags & LOAD_WAITS)))
		return false;
	set_current_state(TASK_INTERRUPTIBLE);
	if (!(t->flags & LOAD_WAITS)) {
		__set_current_state(TASK_RUNNING);
		return false;
	}
	model_block(0);
	return true;
}

/* hrtimer_wakeup(), on the CPU that the thread fell asleep on, or where its timers went. */
void load_sleep_is_over(struct sim_event *event)
{
	struct model_thread *t = container_of(event, struct model_thread, timer);

	model_irq_enter();
	load_wake(t, 0);
	model_irq_exit();
}

enum load_next load_sleep_until(struct model_thread *t, u64 at)
{
	load_prepare(t, NULL);
	sim_event_init(&t->timer, load_sleep_is_over, raw_smp_processor_id());
	sim_event_set(&t->timer, at);
	return load_block(t);
}
