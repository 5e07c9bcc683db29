/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which context code runs in. Stands for linux/preempt.h, irqflags.h, hardirq.h and bottom_half.h.
 * The counters are those of the CPU that is simulated now, in sim_context; that they are 0 again at
 * the end of an event is checked there. Enabling preemption or interrupts lets nothing in by
 * itself: what is due comes after the event, or where a strand gives way (sim/engine/host.h).
 */
#ifndef _LINUX_PREEMPT_H
#define _LINUX_PREEMPT_H

#include <linux/cleanup.h>
#include <linux/kernel.h>
#include <sim/host.h>

/* Checks that cost something are those of a sanitized build. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define SIM_SANITIZED 1
#else
#define SIM_SANITIZED 0
#endif

#define SOFTIRQ_DISABLE_OFFSET	(2 * SIM_SOFTIRQ_OFFSET)

#define preempt_count()		((int)sim_context.preempt)
#define hardirq_count()		(sim_context.preempt & SIM_HARDIRQ_MASK)
#define softirq_count()		(sim_context.preempt & SIM_SOFTIRQ_MASK)
#define in_hardirq()		(hardirq_count() != 0)
#define in_softirq()		(softirq_count() != 0)
#define in_serving_softirq()	((sim_context.preempt & SIM_SOFTIRQ_OFFSET) != 0)
#define in_interrupt()		(hardirq_count() || softirq_count())
#define in_task()		(!(hardirq_count() || in_serving_softirq()))
#define irqs_disabled()		(sim_context.irqs_off != 0)
#define preemptible()		(!sim_context.preempt && !sim_context.irqs_off)

static __always_inline void preempt_disable(void)
{
	sim_context.preempt++;
	barrier();
}

static __always_inline void preempt_enable(void)
{
	barrier();
	sim_context.preempt--;
}

#define preempt_enable_no_resched()	preempt_enable()

static __always_inline void __local_bh_disable(void)
{
	sim_context.preempt += SOFTIRQ_DISABLE_OFFSET;
	barrier();
}

static __always_inline void __local_bh_enable(void)
{
	barrier();
	sim_context.preempt -= SOFTIRQ_DISABLE_OFFSET;
}

#define local_bh_disable()	__local_bh_disable()
/* softirq.c: softirqs that are pending run there */
void sim_local_bh_enable(void);
#define local_bh_enable()	sim_local_bh_enable()

static __always_inline unsigned long __sim_irq_save(void)
{
	unsigned long flags = sim_context.irqs_off;

	sim_context.irqs_off = 1;
	barrier();
	return flags;
}

static __always_inline void __sim_irq_restore(unsigned long flags)
{
	barrier();
	sim_context.irqs_off = flags;
}

#define local_irq_save(flags)		((void)((flags) = __sim_irq_save()))
#define local_irq_restore(flags)	__sim_irq_restore(flags)
#define local_irq_disable()		((void)__sim_irq_save())
#define local_irq_enable()		__sim_irq_restore(0)

/* Who may sleep holds no spinlock, and is in no RCU section, handler or interrupt. */
__cold void sim_sleeps_in_atomic(const char *file, int line);

#define __sim_might_sleep(file, line) do {					\
	if (unlikely(sim_context.preempt | sim_context.irqs_off | sim_context.rcu)) \
		sim_sleeps_in_atomic(file, line);				\
} while (0)
#define might_sleep()		__sim_might_sleep(__FILE__, __LINE__)
#define might_sleep_if(c)	do { if (c) might_sleep(); } while (0)
#define might_resched()		might_sleep()

/* In a loop that waits for another CPU: a moment passes, in which that may run. */
void cpu_relax(void);

DEFINE_LOCK_GUARD_0(preempt, preempt_disable(), preempt_enable())
DEFINE_LOCK_GUARD_0(preempt_notrace, preempt_disable(), preempt_enable())
DEFINE_LOCK_GUARD_0(irq, local_irq_disable(), local_irq_enable())
DEFINE_LOCK_GUARD_0(irqsave, local_irq_save(_T->flags), local_irq_restore(_T->flags),
		    unsigned long flags)

#endif /* _LINUX_PREEMPT_H */
