// SPDX-License-Identifier: GPL-2.0
/*
 * hangs: a FIFO that elects nobody, or nobody while a CPU is on its way to be active, so that who
 * brings it there is not elected either; or that waits, once, in a handler that must not.
 */
#include <linux/completion.h>
#include <linux/saakm.h>

static bool holds;
module_param(holds, bool, 0644);

static bool forgets;
module_param(forgets, bool, 0644);

static bool waits;
module_param(waits, bool, 0644);

static struct task_struct *hangs_schedule(struct core_event *core)
{
	if (core->curr)
		return core->curr;
	if (holds || (forgets && num_active_cpus() < num_online_cpus()))
		return NULL;
	return saakm_rq_first(&core->rq);
}

/*
 * Whoever waits enables interrupts, and one that wakes a thread of this CPU waits for ever for
 * the lock that the handler holds: docs/reference/safety.md. So those of devices and timers,
 * whose vectors are below 0xf0, wait until it is over; the class's own, which is an IPI, comes.
 */
#define ONLY_IPIS	0xeul

/* Returns what was let in before. */
static unsigned long let_in(unsigned long priority)
{
	unsigned long before;

	asm volatile("mov %%cr8, %0" : "=r" (before));
	asm volatile("mov %0, %%cr8" : : "r" (priority) : "memory");
	return before;
}

static void hangs_unblock_end(struct process_event *event, struct core_event *core)
{
	struct completion never;
	unsigned long before;

	if (!waits || !in_task())	/* else timers warn as well */
		return;
	waits = false;
	before = let_in(ONLY_IPIS);
	init_completion(&never);
	wait_for_completion_timeout(&never, 1);
	local_irq_disable();
	let_in(before);
}

SAAKM_POLICY(hangs,
	     .schedule		= hangs_schedule,
	     .unblock_end	= hangs_unblock_end);
