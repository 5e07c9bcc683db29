/* SPDX-License-Identifier: GPL-2.0 */
/* Work for an interrupt that comes as soon as interrupts are on. Stands for linux/irq_work.h. */
#ifndef _LINUX_IRQ_WORK_H
#define _LINUX_IRQ_WORK_H

#include <linux/llist.h>
#include <sim/host.h>

#define IRQ_WORK_PENDING	0x01	/* queued, has not begun */
#define IRQ_WORK_BUSY		0x02	/* its function is being called */
#define IRQ_WORK_LAZY		0x04	/* at the next tick */
#define IRQ_WORK_HARD_IRQ	0x08	/* also with PREEMPT_RT: no difference here */

struct irq_work {
	struct llist_node	node;
	unsigned int		flags;
	void			(*func)(struct irq_work *work);
	struct sim_waiters	waiters;	/* irq_work_sync() */
};

#define __IRQ_WORK_INIT(_func, _flags) { .flags = (_flags), .func = (_func) }
#define IRQ_WORK_INIT(_func)		(struct irq_work)__IRQ_WORK_INIT(_func, 0)
#define IRQ_WORK_INIT_HARD(_func)	(struct irq_work)__IRQ_WORK_INIT(_func, IRQ_WORK_HARD_IRQ)
#define DEFINE_IRQ_WORK(name, _func)	struct irq_work name = __IRQ_WORK_INIT(_func, 0)

static inline void init_irq_work(struct irq_work *work, void (*func)(struct irq_work *work))
{
	*work = IRQ_WORK_INIT(func);
}

static inline bool irq_work_is_pending(const struct irq_work *work)
{
	return work->flags & IRQ_WORK_PENDING;
}

static inline bool irq_work_is_busy(const struct irq_work *work)
{
	return work->flags & (IRQ_WORK_PENDING | IRQ_WORK_BUSY);
}

/* False: it is queued already. */
bool irq_work_queue(struct irq_work *work);
bool irq_work_queue_on(struct irq_work *work, int cpu);
/* All of this CPU's, now; interrupts are off. */
void irq_work_run(void);
void irq_work_sync(struct irq_work *work);

#endif /* _LINUX_IRQ_WORK_H */
