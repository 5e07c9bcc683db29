// SPDX-License-Identifier: GPL-2.0
/*
 * sbf: the thread with the shortest burst runs, preemptively, as a textbook has it. It
 * promises that nobody starves, and does not keep it: whoever never sleeps has a long
 * burst and waits as long as short ones fill the CPU.
 */
#include <linux/saakm.h>

struct sbf_task {
	u64 present_ns;		/* CPU time since its last sleep */
	u64 average_ns;		/* of its bursts */
};

/* A burst that is longer already than those before says more than they. */
static u64 sbf_key(const struct task_struct *task)
{
	const struct sbf_task *t = saakm_task_data(task);

	return max(t->average_ns, t->present_ns);
}

static void sbf_used(struct process_event *event, struct core_event *core, u64 used_ns)
{
	struct sbf_task *t = event->data;

	t->present_ns += used_ns;
}

static void sbf_block(struct process_event *event, struct core_event *core)
{
	struct sbf_task *t = event->data;

	t->average_ns = (t->average_ns + t->present_ns) / 2;
	t->present_ns = 0;
}

SAAKM_POLICY(sbf,
	     .queue		= SAAKM_RQ_RBTREE,
	     .key		= sbf_key,
	     .task_size		= sizeof(struct sbf_task),
	     .used		= sbf_used,
	     .block		= sbf_block,
	     .wakeup_preempt	= saakm_preempt_by_order);
MODULE_INFO(saakm_promises, "no-starvation");
