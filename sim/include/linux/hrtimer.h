/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Timers. Stands for linux/hrtimer.h and linux/timer.h. They go off at their time, to the ns, in an
 * interrupt of the CPU that they were started on: hard or soft makes no difference here.
 */
#ifndef _LINUX_HRTIMER_H
#define _LINUX_HRTIMER_H

#include <linux/list.h>
#include <linux/time.h>

#define CLOCK_MONOTONIC		1
typedef int clockid_t;

enum hrtimer_restart {
	HRTIMER_NORESTART,
	HRTIMER_RESTART,
};

enum hrtimer_mode {
	HRTIMER_MODE_ABS		= 0x00,
	HRTIMER_MODE_REL		= 0x01,
	HRTIMER_MODE_PINNED		= 0x02,
	HRTIMER_MODE_SOFT		= 0x04,
	HRTIMER_MODE_HARD		= 0x08,
	HRTIMER_MODE_ABS_PINNED		= HRTIMER_MODE_ABS | HRTIMER_MODE_PINNED,
	HRTIMER_MODE_REL_PINNED		= HRTIMER_MODE_REL | HRTIMER_MODE_PINNED,
	HRTIMER_MODE_ABS_HARD		= HRTIMER_MODE_ABS | HRTIMER_MODE_HARD,
	HRTIMER_MODE_REL_HARD		= HRTIMER_MODE_REL | HRTIMER_MODE_HARD,
	HRTIMER_MODE_ABS_PINNED_HARD	= HRTIMER_MODE_ABS_PINNED | HRTIMER_MODE_HARD,
	HRTIMER_MODE_REL_PINNED_HARD	= HRTIMER_MODE_REL_PINNED | HRTIMER_MODE_HARD,
};

/* model: sim/core/timers.c */
struct hrtimer {
	enum hrtimer_restart	(*function)(struct hrtimer *timer);
	ktime_t			expires;
	struct sim_event	event;
};

void hrtimer_init(struct hrtimer *timer, clockid_t clock, enum hrtimer_mode mode);
void hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *timer),
		   clockid_t clock, enum hrtimer_mode mode);
void hrtimer_start(struct hrtimer *timer, ktime_t time, enum hrtimer_mode mode);
/* 1: it was active; 0: not; -1: its function runs, and it is not cancelled */
int hrtimer_try_to_cancel(struct hrtimer *timer);
int hrtimer_cancel(struct hrtimer *timer);
bool hrtimer_active(const struct hrtimer *timer);
u64 hrtimer_forward(struct hrtimer *timer, ktime_t now, ktime_t interval);

#define hrtimer_forward_now(timer, interval)	hrtimer_forward(timer, ktime_get(), interval)
#define hrtimer_is_queued(timer)		sim_event_is_set(&(timer)->event)

static inline void hrtimer_add_expires_ns(struct hrtimer *timer, u64 ns)
{
	timer->expires += ns;
}

static inline void hrtimer_restart(struct hrtimer *timer)
{
	hrtimer_start(timer, timer->expires, HRTIMER_MODE_ABS);
}

/* Of jiffies: due at the first tick of their CPU at or after @expires. */
struct timer_list {
	struct list_head	entry;		/* of its CPU, in order of expiry */
	unsigned long		expires;
	void			(*function)(struct timer_list *timer);
	unsigned int		flags;
	int			cpu;
};

#define timer_setup(timer, fn, _flags) \
	((void)(*(timer) = (struct timer_list){ .function = (fn), .flags = (_flags) }))
#define from_timer(var, callback_timer, field) \
	container_of(callback_timer, __typeof__(*var), field)

static inline bool timer_pending(const struct timer_list *timer)
{
	return timer->entry.next != NULL;
}

void add_timer(struct timer_list *timer);
void add_timer_on(struct timer_list *timer, int cpu);
int mod_timer(struct timer_list *timer, unsigned long expires);
int timer_delete(struct timer_list *timer);
int timer_delete_sync(struct timer_list *timer);

#endif /* _LINUX_HRTIMER_H */
