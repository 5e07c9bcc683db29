// SPDX-License-Identifier: GPL-2.0
/* Writes to what the class has handed out to be read. */
#include "wrong.h"

#define FIELD_TICK(_name, _write)						\
static void _name(struct saakm_policy *policy, struct process_event *event,	\
		  struct core_event *core)					\
{										\
	good_tick(policy, event, core);						\
	if (wrong_now()) {							\
		_write;								\
	}									\
}

FIELD_TICK(count_zero, core->nr_runnable = 0)
FIELD_TICK(count_huge, core->nr_runnable = UINT_MAX / 2)
FIELD_TICK(core_id, core->id = other_cpu(core->id))
FIELD_TICK(policy_priority, policy->priority = INT_MIN)
FIELD_TICK(policy_task_size, policy->task_size = 1 << 20)
FIELD_TICK(policy_routines, policy->routines = NULL)
FIELD_TICK(policy_threads, policy->nr_threads = 0)
/* The class looks for it by its id when it is removed. */
FIELD_TICK(policy_id, policy->id = foreign_policy() ? foreign_policy()->id : 1)

/* Data: the class frees what it finds there. */
static u64 elsewhere[4];

static void bogus_data(struct saakm_policy *policy, struct process_event *event,
		       struct core_event *core)
{
	if (wrong_now())
		event->data = &elsewhere[2];
	good_tick(policy, event, core);
}

/* Events: what the class asks of its own notes about a thread. */
static int forged_cpu(struct saakm_policy *policy, struct process_event *event)
{
	if (!wrong_now())
		return good_prepare(policy, event);
	event->prev_cpu = -1;
	return 9999;
}

/* It gives up at once, so that the class has to make do with what is noted there. */
static void forged_task(struct saakm_policy *policy, struct process_event *event,
			struct core_event *core)
{
	struct task_struct *other = NULL;

	good_tick(policy, event, core);
	scoped_guard(rcu)
		other = foreign_waiting(-1);
	if (!other || !wrong_now())
		return;
	event->task = other;
	saakm_eject(policy, SAAKM_EXIT_POLICY_ERROR, NULL, "its events are forged");
}

const struct wrong_fault field_faults[] = {
	{ "count_zero", { .tick = count_zero } },
	{ "count_huge", { .tick = count_huge } },
	{ "core_id", { .tick = core_id } },
	{ "policy_id", { .tick = policy_id } },
	{ "policy_priority", { .tick = policy_priority } },
	{ "policy_task_size", { .tick = policy_task_size } },
	{ "policy_routines", { .tick = policy_routines } },
	{ "policy_threads", { .tick = policy_threads } },
	{ "bogus_data", { .tick = bogus_data } },
	{ "bogus_data_8", { .tick = bogus_data }, .task_size = 8 },
	{ "forged_cpu", { .new_prepare = forged_cpu, .unblock_prepare = forged_cpu } },
	{ "forged_task", { .tick = forged_task } },
	{}
};
