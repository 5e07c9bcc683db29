// SPDX-License-Identifier: GPL-2.0
/* Too much of what is allowed. */
#include "wrong.h"

/* kick_storm: an election on every CPU, whatever happens on any. */
static void kick_all(void)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (wrong_now())
			saakm_kick(cpu);
	}
}

static void kick_place(struct process_event *event, struct core_event *core)
{
	good_place(event, core);
	kick_all();
}

static void kick_event(struct process_event *event, struct core_event *core)
{
	kick_all();
}

static void kick_core(struct core_event *core)
{
	kick_all();
}

static struct task_struct *kick_schedule(struct core_event *core)
{
	kick_all();
	return good_schedule(core);
}

static u64 kick_key(const struct task_struct *task)
{
	kick_all();
	return 0;
}

/* preempt_storm: whoever gets the CPU shall give it back. */
static void preempt_running(struct process_event *event, struct core_event *core)
{
	if (wrong_now())
		saakm_preempt(core);
}

/* slice_storm: all on one CPU, and some ten times as long a slice as a switch takes there. */
#define SLICE_NS	(400 * NSEC_PER_USEC)

static int together(struct process_event *event)
{
	return saakm_usable_cpu(event->task, num_online_cpus() - 1);
}

static void slice_storm(struct process_event *event, struct core_event *core)
{
	struct task_struct *task;

	if (!wrong_now())
		return;
	saakm_set_slice(event->task, SLICE_NS);
	saakm_for_each_task(task, &core->rq)
		saakm_set_slice(task, SLICE_NS);
}

/* slice_endless: whoever has used some of its slice gets another one. */
static void slice_anew(struct process_event *event, struct core_event *core, u64 used_ns)
{
	if (wrong_now())
		saakm_set_slice(event->task, NSEC_PER_MSEC);
}

const struct wrong_fault storm_faults[] = {
	{ "kick_storm", { .place = kick_place, .block = kick_event, .running = kick_event,
			  .terminate = kick_event, .attr_changed = kick_event,
			  .schedule = kick_schedule, .newly_idle = kick_core,
			  .enter_idle = kick_core, .exit_idle = kick_core,
			  .balancing_select = kick_core } },
	{ "key_kicks", {}, .key = kick_key },
	{ "preempt_storm", { .running = preempt_running } },
	{ "slice_storm", { .prepare = together, .new_end = slice_storm, .unblock_end = slice_storm,
			   .requeue = slice_storm, .running = slice_storm, .tick = slice_storm },
	  .class_queue = true },
	{ "slice_endless", { .prepare = together, .used = slice_anew }, .class_queue = true },
	{}
};
