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
};

static DEFINE_PER_CPU(struct cpu_works, works);

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

static void self_interrupt(struct sim_event *event)
{
	model_irq_enter();
	irq_work_run();
	model_irq_exit();
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
		llist_add(&work->node, &here->raised);
		/* Not set_once(): a lazy one may have set it for later. */
		sim_event_cancel(&here->self);
		sim_event_init(&here->self, self_interrupt, sim_context.cpu);
		sim_event_set(&here->self, sim_now);
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
	sim_event_cancel(raw_cpu_ptr(&works.ipi));
	sim_event_cancel(raw_cpu_ptr(&works.self));
}
