// SPDX-License-Identifier: GPL-2.0
/*
 * Softirqs: kernel/softirq.c. They run at the end of an interrupt. Not modelled: ksoftirqd as a
 * thread; what is raised outside of interrupts, or again and again, comes in an interrupt of its
 * own, after this event.
 */
#include <linux/interrupt.h>

#include "machine.h"
#include "model.h"

#define MAX_RESTARTS	10
#define KSOFTIRQD_NS	NSEC_PER_USEC	/* what a switch to ksoftirqd would take */

DEFINE_PER_CPU(unsigned int, model_softirqs);
static DEFINE_PER_CPU(struct sim_event, again);
static void (*actions[NR_SOFTIRQS])(void);

void open_softirq(int nr, void (*action)(void))
{
	actions[nr] = action;
}

/* All there is to it is the end of the interrupt. */
static void interrupt(struct sim_event *event)
{
	model_irq_enter();
	model_irq_exit();
}

static void come_again(u64 at)
{
	struct sim_event *event = raw_cpu_ptr(&again);

	if (sim_event_is_set(event))
		return;
	sim_event_init(event, interrupt, sim_context.cpu);
	sim_event_set(event, at);
}

void __raise_softirq_irqoff(unsigned int nr)
{
	lockdep_assert_irqs_disabled();
	*raw_cpu_ptr(&model_softirqs) |= 1U << nr;
}

void raise_softirq_irqoff(unsigned int nr)
{
	__raise_softirq_irqoff(nr);
	if (!in_interrupt())
		come_again(sim_now);
}

void raise_softirq(unsigned int nr)
{
	unsigned long flags;

	local_irq_save(flags);
	raise_softirq_irqoff(nr);
	local_irq_restore(flags);
}

/* One after the other, with interrupts on. */
static void serve(unsigned int pending)
{
	unsigned int before = sim_context.preempt;
	int nr;

	local_irq_enable();
	if (unlikely(machine_nr_raised))
		machine_self_interrupt();
	while (pending) {
		nr = __builtin_ctz(pending);
		pending &= pending - 1;
		actions[nr]();
		if (WARN(sim_context.preempt != before,
			 "softirq %d has left the preemption count at %x instead of %x", nr,
			 sim_context.preempt, before))
			sim_context.preempt = before;
	}
	local_irq_disable();
}

/*
 * Called with interrupts off or on, and leaves them off. As handle_softirqs(): it stops if somebody
 * shall have the CPU, or after so many rounds, and wakes ksoftirqd, which is of the fair class: soon
 * or by and by. It stops after 2 ms as well, which is not reached here: no time passes.
 */
void model_do_softirqs(void)
{
	unsigned int pending = raw_cpu_read(model_softirqs), restarts = MAX_RESTARTS;

	local_irq_disable();
	sim_context.preempt += SIM_SOFTIRQ_OFFSET;
	while (pending) {
		raw_cpu_write(model_softirqs, 0);
		serve(pending);
		pending = raw_cpu_read(model_softirqs);
		if (need_resched() || !--restarts)
			break;
	}
	sim_context.preempt -= SIM_SOFTIRQ_OFFSET;
	if (pending)
		come_again(sim_now + (restarts ? KSOFTIRQD_NS : TICK_NSEC));
}

/* kernel/softirq.c, __local_bh_enable_ip(): what was raised meanwhile runs here. */
void sim_local_bh_enable(void)
{
	WARN_ON_ONCE(in_hardirq() || irqs_disabled());
	__local_bh_enable();
	if (!raw_cpu_read(model_softirqs) || in_interrupt())
		return;
	preempt_disable();
	model_do_softirqs();
	local_irq_enable();
	preempt_enable();
}

/* Its ksoftirqd would have been parked, and have nothing left. */
void machine_softirqs_dying(void)
{
	sim_event_cancel(raw_cpu_ptr(&again));
}
