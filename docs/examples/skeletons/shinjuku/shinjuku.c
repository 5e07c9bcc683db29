// SPDX-License-Identifier: GPL-2.0
/*
 * shinjuku: one queue for all cores, first come, first served, with slices of some
 * microseconds, so that short requests do not wait for long ones. This is the form
 * without a dispatcher: each core takes the next request itself.
 */
#include <linux/saakm.h>

struct shinjuku_core {
	unsigned int	preempted, displaced, taken;
};

/* A slice that is over sends it to the end; one that another class has cut short does not. */
static void shinjuku_requeue(struct process_event *event, struct core_event *core)
{
	struct shinjuku_core *c = core->data;

	change_state(event->task, SAAKM_READY, core->id, core->shared);
	if (event->flags & (SAAKM_EV_TICK | SAAKM_EV_YIELD)) {
		c->preempted++;
	} else {
		c->displaced++;
		saakm_to_head(event->task);
	}
}

/* It waited elsewhere: so the queue is one for all cores indeed. */
static void shinjuku_moved(struct process_event *event, struct core_event *from,
			   struct core_event *core)
{
	struct shinjuku_core *c = core->data;

	c->taken++;
}

static int shinjuku_init(struct saakm_policy *policy)
{
	return saakm_share_queue(policy, cpu_possible_mask);
}

static void shinjuku_dump(struct saakm_policy *policy, struct seq_buf *text)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct shinjuku_core *c = saakm_core_of(policy, cpu)->data;

		seq_buf_printf(text, "cpu %d: %u preempted, %u displaced, %u taken\n", cpu,
			       READ_ONCE(c->preempted), READ_ONCE(c->displaced),
			       READ_ONCE(c->taken));
	}
}

SAAKM_POLICY(shinjuku,
	     .slice_us = 10,
	     .core_size = sizeof(struct shinjuku_core),
	     .requeue = shinjuku_requeue, .moved = shinjuku_moved,
	     .init = shinjuku_init, .dump = shinjuku_dump);
