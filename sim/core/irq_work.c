// SPDX-License-Identifier: GPL-2.0
/*
 * Work for an interrupt: kernel/irq_work.c. What a CPU queues for itself waits in one list, which
 * runs latest first as there; what others queue for it comes by IPI, in order of arrival.
 */
#include <linux/irq_work.h>
#include <linux/percpu.h>

#include "machine.h"
#include "model.h"

struct cpu_works {
	struct llist_head	raised, lazy;	/* by itself */
	struct llist_head	remote;		/* by others */
	struct sim_event	self, ipi;	/* at once, and after the way from there */
	bool			is_raised;	/* an interrupt by itself is to be taken */
};

static DEFINE_PER_CPU(struct cpu_works, works);
unsigned int machine_nr_raised;

static bool claim(struct irq_work *work)
{
	if (work->flags & IRQ_WORK_PENDING)
		return false;
	work->flags |= IRQ_WORK_PENDING | IRQ_WORK_BUSY;
	return true;
}

/*
 * It may be queued anew while its function runs, and be freed by that: only what is claimed stays.
 */
static void run_one(struct irq_work *work)
{
	unsigned int flags = work->flags &= ~IRQ_WORK_PENDING;

	machine_calls(work->func);
	work->func(work);
	if (work->flags != flags)
		return;
	work->flags &= ~IRQ_WORK_BUSY;
	sim_wake_all(&work->waiters);
}

static void run_list(struct llist_node *node)
{
	struct irq_work *work, *next;

	llist_for_each_entry_safe(work, next, node, node)
		run_one(work);
}

void irq_work_run(void)
{
	run_list(llist_del_all(raw_cpu_ptr(&works.raised)));
	run_list(llist_del_all(raw_cpu_ptr(&works.lazy)));
}

static void run_remote(void)
{
	run_list(llist_reverse_order(llist_del_all(raw_cpu_ptr(&works.remote))));
}

static void lower(struct cpu_works *mine)
{
	machine_nr_raised -= mine->is_raised;
	mine->is_raised = false;
}

/* If the CPU has not come by where it would have taken it before. */
static void self_interrupt(struct sim_event *event)
{
	lower(raw_cpu_ptr(&works));
	model_irq_enter();
	irq_work_run();
	model_irq_exit();
}

/*
 * A CPU takes what it has sent itself as soon as its interrupts are on: before it elects, and
 * before softirqs run. It is in the kernel there. Once only: what a work queues again and again
 * comes by events.
 */
void machine_self_interrupt(void)
{
	struct pt_regs *regs = raw_cpu_read(__irq_regs);
	struct cpu_works *mine = raw_cpu_ptr(&works);

	if (!mine->is_raised || irqs_disabled())
		return;
	lower(mine);
	sim_event_cancel(&mine->self);
	model_irq_enter();
	raw_cpu_write(__irq_regs, &model_kernel_regs);
	irq_work_run();
	model_irq_leave();
	raw_cpu_write(__irq_regs, regs);
}

/*
 * Only for the first of the list, as there. A CPU that is offline never takes it, and has none
 * for what it queues later: see saakm_queue_work().
 */
static void raise_self(struct cpu_works *mine)
{
	if (!cpu_online(sim_context.cpu))
		return;
	machine_nr_raised += !mine->is_raised;
	mine->is_raised = true;
	/* Not set_once(): a lazy one may have set it for later. */
	sim_event_cancel(&mine->self);
	sim_event_init(&mine->self, self_interrupt, sim_context.cpu);
	sim_event_set(&mine->self, sim_now);
}

static void ipi(struct sim_event *event)
{
	model_irq_enter();
	run_remote();
	model_irq_exit();
}

static void set_once(struct sim_event *event, void (*fn)(struct sim_event *event), int cpu, u64 at)
{
	if (sim_event_is_set(event))
		return;
	sim_event_init(event, fn, cpu);
	sim_event_set(event, at);
}

bool irq_work_queue(struct irq_work *work)
{
	struct cpu_works *here;
	unsigned long flags;
	bool queued;

	local_irq_save(flags);
	here = raw_cpu_ptr(&works);
	queued = claim(work);
	if (queued && work->flags & IRQ_WORK_LAZY) {
		/* At the next tick; at once if there is none. */
		llist_add(&work->node, &here->lazy);
		set_once(&here->self, self_interrupt, sim_context.cpu,
			 tick_nohz_tick_stopped_cpu(sim_context.cpu) ?
			 sim_now : roundup(sim_now + 1, (u64)TICK_NSEC));
	} else if (queued) {
		if (llist_add(&work->node, &here->raised))
			raise_self(here);
	}
	local_irq_restore(flags);
	return queued;
}

bool irq_work_queue_on(struct irq_work *work, int cpu)
{
	WARN_ON_ONCE(!cpu_online(cpu));
	if (cpu == sim_context.cpu)
		return irq_work_queue(work);
	if (!claim(work))
		return false;
	llist_add(&work->node, per_cpu_ptr(&works.remote, cpu));
	if (cpu_online(cpu))
		set_once(per_cpu_ptr(&works.ipi, cpu), ipi, cpu, sim_now + MACHINE_IPI_NS);
	return true;
}

void irq_work_sync(struct irq_work *work)
{
	lockdep_assert_irqs_enabled();
	might_sleep();
	while (work->flags & IRQ_WORK_BUSY)
		sim_wait(&work->waiters, "the end of an irq_work");
}

/* kernel/smp.c, smpcfd_dying_cpu() */
void machine_cpu_dying(int cpu)
{
	run_remote();
	irq_work_run();
	lower(raw_cpu_ptr(&works));
	sim_event_cancel(raw_cpu_ptr(&works.ipi));
	sim_event_cancel(raw_cpu_ptr(&works.self));
}
