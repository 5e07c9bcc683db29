/* SPDX-License-Identifier: GPL-2.0 */
/* Which handler runs on this CPU: for reports, the watchdog, and schedule(). */
#ifndef _KERNEL_SCHED_SAAKM_CONTEXT_H
#define _KERNEL_SCHED_SAAKM_CONTEXT_H

/*
 * What this CPU is doing: the handler, and the thread that it is about or, for
 * events of cores, the policy.
 */
struct saakm_context {
	const void		*subject;
	int			cpu;	/* that it is about */
	/* Interrupts come in between: the handler may be an event of theirs. */
	struct saakm_policy	*balancer;
	union {
		struct {
			u8	handler;	/* enum saakm_handler */
			bool	balancing;
		};
		u16		busy;
	};
	bool			slept;		/* in a handler: prev's state is lost */
	bool			waits;		/* in a handler, for the lock of a runqueue */
	/* Who is blocking in __schedule(), with which state. */
	const struct task_struct *blocks;
	unsigned int		state;
};

DECLARE_PER_CPU(struct saakm_context, saakm_context);

void saakm_slept_in_handler(void);
void saakm_enabled_interrupts(struct saakm_policy *policy);
void saakm_restore_state(struct task_struct *prev);

/*
 * A tick in a handler that must have interrupts off: it has enabled them, as
 * whoever sleeps does, and the tick would wait for the runqueue lock that this
 * CPU holds.
 */
static inline bool saakm_ticks_in_handler(void)
{
	return unlikely(raw_cpu_read(saakm_context.handler)) &&
	       !raw_cpu_read(saakm_context.balancing);
}

/* schedule() must return at once: a policy's handler has called it. */
static inline bool saakm_sleeps_in_handler(void)
{
	if (likely(!raw_cpu_read(saakm_context.busy)))
		return false;
	saakm_slept_in_handler();
	return true;
}

#endif /* _KERNEL_SCHED_SAAKM_CONTEXT_H */
