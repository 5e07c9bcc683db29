/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work for kernel threads. Stands for linux/workqueue.h. A work item is never run by two workers at
 * once; delays end at a tick of the CPU that queued it.
 */
#ifndef _LINUX_WORKQUEUE_H
#define _LINUX_WORKQUEUE_H

#include <linux/timer.h>
#include <linux/list.h>

struct work_struct;
struct workqueue_struct;
typedef void (*work_func_t)(struct work_struct *work);

/* model: sim/core/workqueue.c */
struct work_struct {
	struct list_head	entry;		/* of its queue; next NULL: not initialised */
	work_func_t		func;
	bool			pending;	/* queued, or its timer runs */
	unsigned int		disabled;	/* so many wait until it is not running any more */
	struct workqueue_struct	*wq;		/* where it was last queued */
};

struct delayed_work {
	struct work_struct	work;
	struct timer_list	timer;
	struct workqueue_struct	*wq;		/* for which the timer runs */
};

void delayed_work_timer_fn(struct timer_list *timer);

#define __WORK_INITIALIZER(name, _func) \
	{ .entry = LIST_HEAD_INIT((name).entry), .func = (_func) }
#define DECLARE_WORK(name, _func)	struct work_struct name = __WORK_INITIALIZER(name, _func)
#define DECLARE_DELAYED_WORK(name, _func)				\
	struct delayed_work name = {					\
		.work = __WORK_INITIALIZER((name).work, _func),		\
		.timer = { .function = delayed_work_timer_fn },		\
	}
#define INIT_WORK(_work, _func) do {					\
	struct work_struct *__work = (_work);				\
									\
	*__work = (struct work_struct){ .func = (_func) };		\
	INIT_LIST_HEAD(&__work->entry);					\
} while (0)
#define INIT_DELAYED_WORK(_dwork, _func) do {				\
	INIT_WORK(&(_dwork)->work, _func);				\
	timer_setup(&(_dwork)->timer, delayed_work_timer_fn, 0);	\
} while (0)

static inline struct delayed_work *to_delayed_work(struct work_struct *work)
{
	return container_of(work, struct delayed_work, work);
}

#define work_pending(work)		((work)->pending)
#define delayed_work_pending(dwork)	work_pending(&(dwork)->work)

/* One for all CPUs; bound, with high priority or freezable there, the same here. */
extern struct workqueue_struct *system_wq, *system_unbound_wq, *system_highpri_wq, *system_long_wq;

bool queue_work(struct workqueue_struct *wq, struct work_struct *work);
bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *dwork,
			unsigned long delay);
bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *dwork,
		      unsigned long delay);
bool flush_work(struct work_struct *work);
bool flush_delayed_work(struct delayed_work *dwork);
bool cancel_work(struct work_struct *work);
bool cancel_work_sync(struct work_struct *work);
bool cancel_delayed_work(struct delayed_work *dwork);
bool cancel_delayed_work_sync(struct delayed_work *dwork);
__printf(1, 4)
struct workqueue_struct *alloc_workqueue(const char *fmt, unsigned int flags, int max_active, ...);
void destroy_workqueue(struct workqueue_struct *wq);
void flush_workqueue(struct workqueue_struct *wq);

#define WQ_UNBOUND		(1 << 1)
#define WQ_HIGHPRI		(1 << 4)

#define schedule_work(work)		queue_work(system_wq, work)
#define schedule_delayed_work(dwork, delay) queue_delayed_work(system_wq, dwork, delay)

#endif /* _LINUX_WORKQUEUE_H */
