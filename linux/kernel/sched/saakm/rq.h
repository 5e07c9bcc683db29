/* SPDX-License-Identifier: GPL-2.0 */
/* SaaKM's part of struct rq. */
#ifndef _KERNEL_SCHED_SAAKM_RQ_H
#define _KERNEL_SCHED_SAAKM_RQ_H

#include <linux/hrtimer.h>
#include <linux/saakm.h>

/* How the slice of the running thread is timed, if it is shorter than a tick. */
enum saakm_slice_timing {
	SAAKM_SLICE_UNTIMED,
	SAAKM_SLICE_ALONE,		/* as soon as another thread comes to wait */
	SAAKM_SLICE_ARMED,		/* by the timer */
};

struct saakm_cpu {
	unsigned int		nr_running;
	unsigned int		nr_delayed;	/* of them: delay.c */
	bool			nohz_kicked;	/* balance for idle cores too */
	bool			kicked;		/* an idle CPU shall ask the policies */
	bool			kick_owed;	/* at the next tick */
	bool			eject_owed;	/* likewise: saakm_put_off() */
	bool			tick_work;	/* there is something for saakm_tick_work() */
	u8			slice;		/* enum saakm_slice_timing */
	unsigned int		kicks;		/* since the last one */
	bool			resched_owed;	/* misuse.c: by the next kick, whoever runs */
	bool			forced_idle;	/* by core scheduling */
	u32			ticks;		/* stands still with interrupts off */
	/* Masks of the policies that have a runnable thread here. */
	u64			active;
	/* Of these, the one that is asked first; NULL: none. */
	struct saakm_policy	*first;
	bool			special;	/* who goes before that: saakm_elect_special() */
	/* Mask of the policy that is asked first, until when: see floor.c. */
	u64			owed;
	u64			owed_until_ns;
	/* Masks of the policies that were asked to refill, and when. */
	u64			refilled;
	u64			refilled_ns;
	bool			unlocked;	/* meanwhile the lock was dropped */
	/* All runnable threads, in order of arrival. */
	struct list_head	threads;
	/* Those of them that were preempted in the kernel and wait: see floor.c. */
	struct list_head	preempted;
	unsigned int		nr_preempted;
	u64			forced_until_ns;
	/*
	 * Threads that go before the policies' own: which a policy failed to place, or lost by its
	 * ejection, or kept waiting while they are needed.
	 */
	struct saakm_rq		orphans;
	struct sched_dl_entity	server;
	struct irq_work		kick;
	struct hrtimer		slice_timer;	/* slice.c */
	struct irq_work		slice_kick;	/* a CPU arms its own timer */
	struct irq_work		probe;		/* of the watchdog, and so are these: */
	u64			idle_ns;	/* in all; unless it was forced to, */
	u64			idle_since_ns;	/* if it does, and the class was on by then */
	u64			forced_since_ns;
	unsigned int		late_ms;	/* of rounds that have not come here */
	bool			suspicious;	/* in the last one that has */
	struct irq_work		wake;		/* misuse.c */
	struct task_struct	*to_wake;
};

#endif /* _KERNEL_SCHED_SAAKM_RQ_H */
