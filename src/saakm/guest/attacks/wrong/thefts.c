// SPDX-License-Identifier: GPL-2.0
/* Threads and queues of others, and threads that are moved for ever. */
#include "wrong.h"

/* kidnap: another policy's waiting thread, into a queue of its own. */
static void kidnap(struct saakm_policy *policy, struct core_event *core)
{
	struct task_struct *task = foreign_waiting(core->id);

	if (task && wrong_now())
		saakm_move_task(task, core->id, wrong_rq(core->id));
}

/* rob: all that waits in another policy's queue, which one of its threads leads to. */
static void rob(struct saakm_policy *policy, struct core_event *core)
{
	struct task_struct *task = foreign_waiting(core->id);
	struct saakm_rq *from = task ? READ_ONCE(task->saakm.rq) : NULL;

	if (from && from->cpu != core->id && wrong_now())
		saakm_steal(from, core->id, wrong_rq(core->id), UINT_MAX, NULL);
}

/* intrude: its own threads, into another policy's queue. */
static DEFINE_PER_CPU(struct saakm_rq *, seen_queue);

static void look_for_queues(struct saakm_policy *policy, struct core_event *core)
{
	struct task_struct *task = foreign_waiting(core->id);
	struct saakm_rq *rq = task ? READ_ONCE(task->saakm.rq) : NULL;

	if (rq)
		per_cpu(seen_queue, rq->cpu) = rq;
}

static void intrude_place(struct saakm_policy *policy, struct process_event *event,
			  struct core_event *core)
{
	struct saakm_rq *foreign = per_cpu(seen_queue, core->id);

	if (foreign && wrong_now() &&
	    !change_state(event->task, SAAKM_READY, core->id, foreign))
		return;
	good_place(policy, event, core);
}

/* swap: threads that are never elected go from CPU to CPU, each time as if they had just come. */
static struct task_struct *swap_schedule(struct saakm_policy *policy, struct core_event *core)
{
	struct task_struct *task = saakm_curr(core);

	if (task)
		return task;
	saakm_for_each_task(task, wrong_rq(core->id)) {
		if (!is_prey(task) || !wrong_now())
			return task;
	}
	return NULL;
}

static void swap_prey(struct saakm_policy *policy, struct core_event *core)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (cpu != core->id && wrong_now())
			saakm_steal(wrong_rq(cpu), core->id, wrong_rq(core->id), UINT_MAX, is_prey);
	}
}

/* steal_all: whatever it finds, from queues of threads that may not come. */
static void steal_all(struct saakm_policy *policy, struct core_event *core)
{
	int cpu;

	for_each_online_cpu(cpu) {
		for (int i = 0; cpu != core->id && i < 10 && wrong_now(); i++)
			saakm_steal(wrong_rq(cpu), core->id, wrong_rq(core->id), UINT_MAX, NULL);
	}
}

/* sleep_moved: whoever blocks on the newly idle CPU is current, and its state is lost. */
static void steal_any(struct saakm_policy *policy, struct core_event *core)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (cpu != core->id)
			saakm_steal(wrong_rq(cpu), core->id, wrong_rq(core->id), 1, NULL);
	}
}

static void sleep_moved(struct saakm_policy *policy, struct process_event *event,
			struct core_event *from, struct core_event *to)
{
	if (!wrong_now())
		return;
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule();
}

const struct wrong_fault theft_faults[] = {
	{ "kidnap", { .balancing_select = kidnap, .newly_idle = kidnap } },
	{ "rob", { .balancing_select = rob, .newly_idle = rob } },
	{ "intrude", { .balancing_select = look_for_queues, .newly_idle = look_for_queues,
		       .new_place = intrude_place, .unblock_place = intrude_place } },
	{ "swap", { .schedule = swap_schedule, .balancing_select = swap_prey,
		  .newly_idle = swap_prey } },
	{ "sleep_moved", { .balancing_select = steal_any, .newly_idle = steal_any,
			   .moved = sleep_moved } },
	{ "steal_all", { .balancing_select = steal_all, .newly_idle = steal_all } },
	{}
};
