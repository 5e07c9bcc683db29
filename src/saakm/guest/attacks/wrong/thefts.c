// SPDX-License-Identifier: GPL-2.0
/* Threads and queues of others, and threads that are moved for ever. */
#include "wrong.h"

/* kidnap: another policy's waiting thread, into a queue of its own. */
static void kidnap(struct core_event *core)
{
	struct task_struct *task = foreign_waiting(core->id);

	if (task && wrong_now())
		saakm_move_task(task, core->id, wrong_rq(core->id));
}

/* rob: all that waits in another policy's queue, which one of its threads leads to. */
static void rob(struct core_event *core)
{
	struct task_struct *task = foreign_waiting(core->id);
	struct saakm_rq *from = task ? READ_ONCE(task->saakm.rq) : NULL;

	if (from && from->cpu != core->id && wrong_now())
		saakm_steal(from, core->id, wrong_rq(core->id), UINT_MAX, NULL, NULL);
}

/* pull_foreign: the same, of the queues that the class keeps, which anybody can find. */
static void pull_foreign(struct core_event *core)
{
	struct saakm_rq *from = foreign_rq(other_cpu(core->id));

	if (from && wrong_now())
		saakm_steal(from, core->id, wrong_rq(core->id), UINT_MAX, NULL, NULL);
}

/* push_foreign: its own threads go there. */
static void push_foreign(struct core_event *core)
{
	struct saakm_rq *to = foreign_rq(core->id);

	if (to && wrong_now())
		saakm_steal(wrong_rq(other_cpu(core->id)), core->id, to, UINT_MAX, NULL, NULL);
}

/* pull_for_another: the class shall pull the other policy's threads, where that has not asked. */
static void pull_for_another(struct core_event *core)
{
	struct saakm_policy *other = foreign_policy();

	if (other && wrong_now())
		saakm_pull_idle(saakm_core_of(other, core->id));
}

/* pull_under_lock: of the class's queues, which takes the locks of two CPUs. */
static void pull_under_lock(struct process_event *event, struct core_event *core)
{
	if (wrong_now())
		saakm_pull_idle(core);
}

/* pull_none: of queues that the class does not keep. */
static void pull_none(struct core_event *core)
{
	if (!wrong_now())
		return;
	saakm_pull_idle(core);
	saakm_pull_busier(core);
}

/* intrude: its own threads, into another policy's queue. */
static DEFINE_PER_CPU(struct saakm_rq *, seen_queue);

static void look_for_queues(struct core_event *core)
{
	struct task_struct *task = foreign_waiting(core->id);
	struct saakm_rq *rq = task ? READ_ONCE(task->saakm.rq) : NULL;

	if (rq)
		per_cpu(seen_queue, rq->cpu) = rq;
}

static void intrude_place(struct process_event *event, struct core_event *core)
{
	struct saakm_rq *foreign = per_cpu(seen_queue, core->id);

	if (foreign && wrong_now() &&
	    !change_state(event->task, SAAKM_READY, core->id, foreign))
		return;
	good_place(event, core);
}

/* swap: threads that are never elected go from CPU to CPU, each time as if they had just come. */
static struct task_struct *swap_schedule(struct core_event *core)
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

static bool wants_prey(struct task_struct *task, void *unused)
{
	return is_prey(task);
}

static void swap_prey(struct core_event *core)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (cpu != core->id && wrong_now())
			saakm_steal(wrong_rq(cpu), core->id, wrong_rq(core->id), UINT_MAX,
				    wants_prey, NULL);
	}
}

/* steal_all: whatever it finds, from queues of threads that may not come. */
static void steal_all(struct core_event *core)
{
	int cpu;

	for_each_online_cpu(cpu) {
		for (int i = 0; cpu != core->id && i < 10 && wrong_now(); i++)
			saakm_steal(wrong_rq(cpu), core->id, wrong_rq(core->id), UINT_MAX,
				    NULL, NULL);
	}
}

/* sleep_moved: whoever blocks on the newly idle CPU is current, and its state is lost. */
static void steal_any(struct core_event *core)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (cpu != core->id)
			saakm_steal(wrong_rq(cpu), core->id, wrong_rq(core->id), 1, NULL, NULL);
	}
}

static void sleep_moved(struct process_event *event, struct core_event *from, struct core_event *to)
{
	if (!wrong_now())
		return;
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule();
}

const struct wrong_fault theft_faults[] = {
	{ "kidnap", { .balancing_select = kidnap, .newly_idle = kidnap } },
	{ "rob", { .balancing_select = rob, .newly_idle = rob } },
	{ "pull_foreign", { .balancing_select = pull_foreign, .newly_idle = pull_foreign } },
	{ "push_foreign", { .balancing_select = push_foreign, .newly_idle = push_foreign } },
	{ "pull_for_another", { .balancing_select = pull_for_another,
				.newly_idle = pull_for_another } },
	{ "pull_under_lock", { .tick = pull_under_lock }, .class_queue = true },
	{ "pull_none", { .balancing_select = pull_none, .newly_idle = pull_none } },
	{ "intrude", { .balancing_select = look_for_queues, .newly_idle = look_for_queues,
		       .place = intrude_place } },
	{ "swap", { .schedule = swap_schedule, .balancing_select = swap_prey,
		  .newly_idle = swap_prey } },
	{ "sleep_moved", { .balancing_select = steal_any, .newly_idle = steal_any,
			   .moved = sleep_moved } },
	{ "steal_all", { .balancing_select = steal_all, .newly_idle = steal_all } },
	{}
};
