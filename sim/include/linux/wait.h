/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waiting for a condition: wait queues, completions, wait_var_event(). Stands for linux/wait.h,
 * wait_bit.h, swait.h and completion.h. A queue keeps the kernel's entries, so that wakers see what
 * they would see there.
 */
#ifndef _LINUX_WAIT_H
#define _LINUX_WAIT_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/spinlock.h>

struct task_struct;
struct wait_queue_entry;

typedef int (*wait_queue_func_t)(struct wait_queue_entry *entry, unsigned int mode, int flags,
				 void *key);

#define WQ_FLAG_EXCLUSIVE	1

struct wait_queue_entry {
	unsigned int		flags;
	void			*private;	/* the thread */
	wait_queue_func_t	func;
	struct list_head	entry;
};
typedef struct wait_queue_entry wait_queue_entry_t;

struct wait_queue_head {
	spinlock_t		lock;
	struct list_head	head;
};
typedef struct wait_queue_head wait_queue_head_t;

#define __WAIT_QUEUE_HEAD_INITIALIZER(name) { .head = LIST_HEAD_INIT((name).head) }
#define DECLARE_WAIT_QUEUE_HEAD(name) \
	struct wait_queue_head name = __WAIT_QUEUE_HEAD_INITIALIZER(name)

static inline void init_waitqueue_head(struct wait_queue_head *wq)
{
	spin_lock_init(&wq->lock);
	INIT_LIST_HEAD(&wq->head);
}

static inline bool waitqueue_active(struct wait_queue_head *wq)
{
	return !list_empty(&wq->head);
}

static inline bool wq_has_sleeper(struct wait_queue_head *wq)
{
	smp_mb();
	return waitqueue_active(wq);
}

void init_wait_entry(struct wait_queue_entry *entry, int flags);
void prepare_to_wait(struct wait_queue_head *wq, struct wait_queue_entry *entry, int state);
long prepare_to_wait_event(struct wait_queue_head *wq, struct wait_queue_entry *entry, int state);
void finish_wait(struct wait_queue_head *wq, struct wait_queue_entry *entry);
int autoremove_wake_function(struct wait_queue_entry *entry, unsigned int mode, int flags,
			     void *key);
/* @nr: how many exclusive ones; 0: all */
int __wake_up(struct wait_queue_head *wq, unsigned int mode, int nr, void *key);
struct wait_queue_head *__var_waitqueue(void *var);
void wake_up_var(void *var);

#define wake_up(wq)			__wake_up(wq, TASK_NORMAL, 1, NULL)
#define wake_up_all(wq)			__wake_up(wq, TASK_NORMAL, 0, NULL)

/* An interruptible sleep ends by its condition alone: who gets signals sleeps otherwise, below. */
#define ___wait_event(wq, condition, state, sleep) do {				\
	struct wait_queue_entry __entry;					\
										\
	might_sleep();								\
	init_wait_entry(&__entry, 0);						\
	for (;;) {								\
		prepare_to_wait_event(wq, &__entry, state);			\
		if (condition)							\
			break;							\
		sleep;								\
	}									\
	finish_wait(wq, &__entry);						\
} while (0)
#define wait_event(wq, condition) \
	___wait_event(&(wq), condition, TASK_UNINTERRUPTIBLE, schedule())
#define wait_event_idle(wq, condition) \
	___wait_event(&(wq), condition, TASK_IDLE, schedule())
#define wait_event_interruptible(wq, condition) \
	({ ___wait_event(&(wq), condition, TASK_INTERRUPTIBLE, schedule()); 0; })
#define wait_event_killable(wq, condition)	({ wait_event(wq, condition); 0; })
#define wait_var_event(var, condition) \
	___wait_event(__var_waitqueue(var), condition, TASK_UNINTERRUPTIBLE, schedule())

/* What is left of @timeout, at least 1 if the condition holds; 0: it does not. */
#define __sim_wait_timeout(wq, condition, timeout, state) ({			\
	long __left = (timeout);						\
	bool __holds = false;							\
	___wait_event(&(wq), (__holds = (condition)) || !__left, state,		\
		      __left = schedule_timeout(__left));			\
	__holds ? (__left ?: 1) : 0;						\
})
#define wait_event_timeout(wq, condition, timeout) \
	__sim_wait_timeout(wq, condition, timeout, TASK_UNINTERRUPTIBLE)
#define wait_event_idle_timeout(wq, condition, timeout) \
	__sim_wait_timeout(wq, condition, timeout, TASK_IDLE)
/* Of all sleeps the only one that a signal ends: where an agent is parked. */
#define wait_event_interruptible_timeout(wq, condition, timeout) ({		\
	bool __signalled = false;						\
	long __rest = __sim_wait_timeout(wq, (condition) ||			\
					 (__signalled = signal_pending(current)),	\
					 timeout, TASK_INTERRUPTIBLE);		\
	__signalled ? -ERESTARTSYS : __rest;					\
})
#define wait_event_killable_timeout(wq, condition, timeout) \
	__sim_wait_timeout(wq, condition, timeout, TASK_KILLABLE)

struct completion {
	unsigned int		done;		/* UINT_MAX: for all and ever */
	wait_queue_head_t	wait;
};

#define COMPLETION_INITIALIZER(name) \
	{ .wait = __WAIT_QUEUE_HEAD_INITIALIZER((name).wait) }
#define DECLARE_COMPLETION(name)	struct completion name = COMPLETION_INITIALIZER(name)
#define DECLARE_COMPLETION_ONSTACK(name) DECLARE_COMPLETION(name)

static inline void init_completion(struct completion *x)
{
	x->done = 0;
	init_waitqueue_head(&x->wait);
}

static inline void reinit_completion(struct completion *x)
{
	x->done = 0;
}

void complete(struct completion *x);
void complete_all(struct completion *x);
void wait_for_completion(struct completion *x);
int wait_for_completion_interruptible(struct completion *x);
int wait_for_completion_killable(struct completion *x);
unsigned long wait_for_completion_timeout(struct completion *x, unsigned long timeout);
bool try_wait_for_completion(struct completion *x);
bool completion_done(struct completion *x);

#endif /* _LINUX_WAIT_H */
