// SPDX-License-Identifier: GPL-2.0
/* quitter: gives up in the handler that it is told, and says when its key is asked for after that. */
#include <linux/saakm.h>

static char *where = "";
module_param(where, charp, 0444);

static struct saakm_policy quitter;
static bool gone;

static u64 quitter_key(const struct task_struct *task)
{
	if (gone)
		pr_info("quitter: the key of %d after the end\n", task->pid);
	return task->pid;
}

static void quit_in(const char *handler)
{
	if (gone || strcmp(handler, where))
		return;
	saakm_eject(&quitter, SAAKM_EXIT_POLICY_ERROR, NULL, "enough");
	gone = true;
}

static void quitter_place(struct process_event *event, struct core_event *core)
{
	quit_in("place");
}

static void quitter_requeue(struct process_event *event, struct core_event *core)
{
	quit_in("requeue");
}

static void quitter_block(struct process_event *event, struct core_event *core)
{
	quit_in("block");
}

static void quitter_attr_changed(struct process_event *event, struct core_event *core)
{
	quit_in("attr_changed");
}

static void quitter_used(struct process_event *event, struct core_event *core, u64 used_ns)
{
	quit_in("used");
}

static void quitter_moved(struct process_event *event, struct core_event *from,
			  struct core_event *core)
{
	quit_in("moved");
}

SAAKM_POLICY(quitter, .queue = SAAKM_RQ_RBTREE, .key = quitter_key, .slice_us = 100,
	     .place = quitter_place, .requeue = quitter_requeue, .block = quitter_block,
	     .attr_changed = quitter_attr_changed, .used = quitter_used, .moved = quitter_moved,
	     .newly_idle = saakm_pull_idle);
