/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Softirqs; and the registers that an interrupt came with, of which there is one thing to know:
 * whether it came in user mode. Stands for linux/interrupt.h, asm/irq_regs.h, linux/ptrace.h.
 */
#ifndef _LINUX_INTERRUPT_H
#define _LINUX_INTERRUPT_H

#include <linux/hardirq.h>
#include <linux/percpu.h>

enum {
	HI_SOFTIRQ,
	TIMER_SOFTIRQ,
	NET_TX_SOFTIRQ,
	NET_RX_SOFTIRQ,
	BLOCK_SOFTIRQ,
	IRQ_POLL_SOFTIRQ,
	TASKLET_SOFTIRQ,
	SCHED_SOFTIRQ,
	HRTIMER_SOFTIRQ,
	RCU_SOFTIRQ,
	SCHED_SOFTIRQ_SAAKM,
	NR_SOFTIRQS
};

void open_softirq(int nr, void (*action)(void));
/* The second one with interrupts off, and without waking anybody. */
void raise_softirq(unsigned int nr);
void raise_softirq_irqoff(unsigned int nr);
void __raise_softirq_irqoff(unsigned int nr);

struct pt_regs {
	bool	user;		/* model: it came in user mode */
};

/* Of the interrupt that this CPU is in, or NULL. Set by the model of interrupts. */
DECLARE_PER_CPU(struct pt_regs *, __irq_regs);

static inline struct pt_regs *get_irq_regs(void)
{
	return raw_cpu_read(__irq_regs);
}

static inline bool user_mode(const struct pt_regs *regs)
{
	return regs->user;
}

#endif /* _LINUX_INTERRUPT_H */
