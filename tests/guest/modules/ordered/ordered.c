// SPDX-License-Identifier: GPL-2.0
/*
 * ordered: by nice value. Its tick does nothing, and nobody preempts by waking: what takes the
 * CPU from a thread is a default for ordered queues, attr_changed or schedule.
 */
#include <linux/saakm.h>

/* By nice value + 20: what the class says that a thread weighs. */
static unsigned int weights[40];
module_param_array(weights, uint, NULL, 0444);

static u64 ordered_key(const struct task_struct *task)
{
	return task->static_prio;
}

static void ordered_running(struct process_event *event, struct core_event *core)
{
	weights[task_nice(event->task) + 20] = saakm_task_weight(event->task);
}

static void ordered_tick(struct process_event *event, struct core_event *core)
{
}

SAAKM_POLICY(ordered,
	     .queue	= SAAKM_RQ_RBTREE,
	     .key	= ordered_key,
	     .prepare	= saakm_prev_cpu,
	     .running	= ordered_running,
	     .tick	= ordered_tick);
module_param_named(yield_to_any, ordered.yield_to_any, bool, 0444);
