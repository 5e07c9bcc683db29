// SPDX-License-Identifier: GPL-2.0
/*
 * Wait queues and completions: kernel/sched/wait.c, wait_bit.c, completion.c. See <linux/wait.h>.
 */
#include <linux/sched.h>
#include <linux/wait.h>

#include "machine.h"

int autoremove_wake_function(struct wait_queue_entry *entry, unsigned int mode, int flags,
			     void *key)
{
	int woken = default_wake_function(entry, mode, flags, key);

	if (woken)
		list_del_init(&entry->entry);
	return woken;
}

void init_wait_entry(struct wait_queue_entry *entry, int flags)
{
	entry->flags = flags;
	entry->private = current;
	entry->func = autoremove_wake_function;
	INIT_LIST_HEAD(&entry->entry);
}

/* All in order of arrival; the kernel's __wake_up() reaches exclusive ones last, too. */
void prepare_to_wait(struct wait_queue_head *wq, struct wait_queue_entry *entry, int state)
{
	unsigned long flags;

	spin_lock_irqsave(&wq->lock, flags);
	if (list_empty(&entry->entry))
		list_add_tail(&entry->entry, &wq->head);
	set_current_state(state);
	spin_unlock_irqrestore(&wq->lock, flags);
}

long prepare_to_wait_event(struct wait_queue_head *wq, struct wait_queue_entry *entry, int state)
{
	prepare_to_wait(wq, entry, state);
	return 0;
}

void finish_wait(struct wait_queue_head *wq, struct wait_queue_entry *entry)
{
	unsigned long flags;

	__set_current_state(TASK_RUNNING);
	spin_lock_irqsave(&wq->lock, flags);
	list_del_init(&entry->entry);
	spin_unlock_irqrestore(&wq->lock, flags);
}

static int wake_up_locked(struct wait_queue_head *wq, unsigned int mode, int nr, void *key)
{
	struct wait_queue_entry *entry, *next;
	int woken = 0;

	list_for_each_entry_safe(entry, next, &wq->head, entry) {
		bool exclusive = entry->flags & WQ_FLAG_EXCLUSIVE;

		if (!entry->func(entry, mode, 0, key))
			continue;
		woken++;
		if (exclusive && !--nr)
			break;
	}
	return woken;
}

int __wake_up(struct wait_queue_head *wq, unsigned int mode, int nr, void *key)
{
	unsigned long flags;
	int woken;

	spin_lock_irqsave(&wq->lock, flags);
	woken = wake_up_locked(wq, mode, nr, key);
	spin_unlock_irqrestore(&wq->lock, flags);
	return woken;
}

/*
 * The kernel has a table of queues, by a hash of the address. One for all here: who is woken must
 * not depend on addresses. Whose condition does not hold sleeps again.
 */
static DECLARE_WAIT_QUEUE_HEAD(variables);

struct wait_queue_head *__var_waitqueue(void *var)
{
	return &variables;
}

void wake_up_var(void *var)
{
	if (waitqueue_active(&variables))
		__wake_up(&variables, TASK_NORMAL, 0, var);
}

/* ---- completions ---- */

void complete(struct completion *x)
{
	unsigned long flags;

	spin_lock_irqsave(&x->wait.lock, flags);
	if (x->done != UINT_MAX)
		x->done++;
	wake_up_locked(&x->wait, TASK_NORMAL, 1, NULL);
	spin_unlock_irqrestore(&x->wait.lock, flags);
}

void complete_all(struct completion *x)
{
	unsigned long flags;

	spin_lock_irqsave(&x->wait.lock, flags);
	x->done = UINT_MAX;
	wake_up_locked(&x->wait, TASK_NORMAL, 0, NULL);
	spin_unlock_irqrestore(&x->wait.lock, flags);
}

/* Whoever sees that may free it: complete() has released the lock by then. */
bool completion_done(struct completion *x)
{
	unsigned long flags;

	if (!x->done)
		return false;
	spin_lock_irqsave(&x->wait.lock, flags);
	spin_unlock_irqrestore(&x->wait.lock, flags);
	return true;
}

/* With the lock: each takes one of those that have been given. */
static bool take_completion(struct completion *x)
{
	if (!x->done)
		return false;
	if (x->done != UINT_MAX)
		x->done--;
	return true;
}

bool try_wait_for_completion(struct completion *x)
{
	unsigned long flags;
	bool taken;

	if (!x->done)
		return false;
	spin_lock_irqsave(&x->wait.lock, flags);
	taken = take_completion(x);
	spin_unlock_irqrestore(&x->wait.lock, flags);
	return taken;
}

/* do_wait_for_common(): what is left of @timeout, at least 1; 0: it is over. */
static unsigned long wait_for(struct completion *x, unsigned long timeout, int state)
{
	struct wait_queue_entry entry;
	bool taken;

	might_sleep();
	init_wait_entry(&entry, WQ_FLAG_EXCLUSIVE);
	spin_lock_irq(&x->wait.lock);
	if (!x->done) {
		do {
			if (list_empty(&entry.entry))
				list_add_tail(&entry.entry, &x->wait.head);
			__set_current_state(state);
			spin_unlock_irq(&x->wait.lock);
			timeout = schedule_timeout(timeout);
			spin_lock_irq(&x->wait.lock);
		} while (!x->done && timeout);
		__set_current_state(TASK_RUNNING);
		list_del_init(&entry.entry);
	}
	taken = take_completion(x);
	spin_unlock_irq(&x->wait.lock);
	return taken ? timeout ?: 1 : 0;
}

void wait_for_completion(struct completion *x)
{
	wait_for(x, MAX_SCHEDULE_TIMEOUT, TASK_UNINTERRUPTIBLE);
}

int wait_for_completion_interruptible(struct completion *x)
{
	wait_for(x, MAX_SCHEDULE_TIMEOUT, TASK_INTERRUPTIBLE);
	return 0;
}

int wait_for_completion_killable(struct completion *x)
{
	wait_for(x, MAX_SCHEDULE_TIMEOUT, TASK_KILLABLE);
	return 0;
}

unsigned long wait_for_completion_timeout(struct completion *x, unsigned long timeout)
{
	return wait_for(x, timeout, TASK_UNINTERRUPTIBLE);
}
