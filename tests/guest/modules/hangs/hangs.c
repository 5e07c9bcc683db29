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

static void hangs_unblock_end(struct process_event *event, struct core_event *core)
{
	struct completion never;

	if (!waits || !in_task())	/* else timers warn as well */
		return;
	waits = false;
	init_completion(&never);
	wait_for_completion_timeout(&never, 1);
}

SAAKM_POLICY(hangs,
	     .schedule		= hangs_schedule,
	     .unblock_end	= hangs_unblock_end);
