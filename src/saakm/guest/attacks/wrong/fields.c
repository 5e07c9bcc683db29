// SPDX-License-Identifier: GPL-2.0
/* Writes to what the class has handed out to be read. */
#include "wrong.h"

#define FIELD_TICK(_name, _write)						\
static void _name(struct process_event *event, struct core_event *core)		\
{										\
	good_tick(event, core);							\
	if (wrong_now()) {							\
		_write;								\
	}									\
}

FIELD_TICK(count_zero, core->nr_runnable = 0)
FIELD_TICK(count_huge, core->nr_runnable = UINT_MAX / 2)
FIELD_TICK(core_id, core->id = other_cpu(core->id))
FIELD_TICK(core_rq_count, core->rq.nr_tasks = UINT_MAX / 2)
FIELD_TICK(policy_priority, wrong_policy.priority = INT_MIN)
FIELD_TICK(policy_task_size, wrong_policy.task_size = 1 << 20)
FIELD_TICK(policy_routines, memset(&wrong_policy.routines, 0, sizeof(wrong_policy.routines)))
FIELD_TICK(policy_threads, wrong_policy.nr_threads = 0)
/* The class looks for it by its id when it is removed. */
FIELD_TICK(policy_id, wrong_policy.id = foreign_policy() ? foreign_policy()->id : 1)

/* What the class does by the queue's type and key it does also when they are gone. */
static u64 by_pid(const struct task_struct *task)
{
	return task->pid;
}

static void policy_queue(struct process_event *event, struct core_event *core)
{
	if (!wrong_now())
		return;
	wrong_policy.queue = SAAKM_RQ_FIFO;
	wrong_policy.key = NULL;
	wrong_policy.bound = by_pid;
}

/* core_data: then it has threads pulled, in the other's name. */
static void core_data(struct process_event *event, struct core_event *core)
{
	struct saakm_policy *other = foreign_policy();

	if (!other || !wrong_now())
		return;
	core->data = saakm_core_of(other, core->id);
	core->policy = other;
}

/* Data: the class frees what it finds there. */
static u64 elsewhere[4];

static void bogus_data(struct process_event *event, struct core_event *core)
{
	if (wrong_now())
		event->data = &elsewhere[2];
	good_tick(event, core);
}

/* Events: what the class asks of its own notes about a thread. */
static int forged_cpu(struct process_event *event)
{
	if (!wrong_now())
		return saakm_idle_prepare(event);
	event->prev_cpu = -1;
	return 9999;
}

/* It gives up at once, so that the class has to make do with what is noted there. */
static void forged_task(struct process_event *event, struct core_event *core)
{
	struct task_struct *other = NULL;

	good_tick(event, core);
	scoped_guard(rcu)
		other = foreign_waiting(-1);
	if (!other || !wrong_now())
		return;
	event->task = other;
	saakm_eject(&wrong_policy, SAAKM_EXIT_POLICY_ERROR, NULL, "its events are forged");
}

const struct wrong_fault field_faults[] = {
	{ "count_zero", { .tick = count_zero } },
	{ "count_huge", { .tick = count_huge } },
	{ "core_id", { .tick = core_id } },
	{ "core_data", { .tick = core_data, .newly_idle = saakm_pull_idle,
			 .balancing_select = saakm_pull_busier }, .core_size = 64,
	  .class_queue = true },
	{ "core_rq_count", { .tick = core_rq_count, .newly_idle = saakm_pull_idle,
			     .balancing_select = saakm_pull_busier }, .key = by_pid,
	  .class_queue = true },
	{ "policy_id", { .tick = policy_id } },
	{ "policy_priority", { .tick = policy_priority } },
	{ "policy_task_size", { .tick = policy_task_size } },
	{ "policy_routines", { .tick = policy_routines } },
	{ "policy_queue", { .tick = policy_queue, .wakeup_preempt = saakm_preempt_by_order },
	  .key = by_pid, .class_queue = true },
	{ "policy_threads", { .tick = policy_threads } },
	{ "bogus_data", { .tick = bogus_data } },
	{ "bogus_data_8", { .tick = bogus_data }, .task_size = 8 },
	{ "forged_cpu", { .prepare = forged_cpu } },
	{ "forged_task", { .tick = forged_task } },
	{}
};
