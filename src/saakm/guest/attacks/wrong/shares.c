// SPDX-License-Identifier: GPL-2.0
/* Queues that cores share: taken from where it must not be, or not at all. */
#include "wrong.h"

int share_all(struct saakm_policy *policy)
{
	return saakm_share_queue(policy, cpu_possible_mask);
}

static int share_first(struct saakm_policy *policy)
{
	return saakm_share_queue(policy, cpumask_of(0));
}

/* take_in_schedule, take_in_newly_idle: only refill is called where locks may be dropped. */
static struct task_struct *take_in_schedule(struct core_event *core)
{
	if (wrong_now())
		saakm_take(core, core->shared);
	return saakm_curr(core) ?: saakm_rq_first(&core->rq);
}

static void take_in_newly_idle(struct core_event *core)
{
	if (wrong_now())
		saakm_take(core, core->shared);
}

/* take_wrongly: from no queue, from queues of one core, for another core, from another policy. */

static struct saakm_policy sharer = { .name = "sharer", .owner = THIS_MODULE, .init = share_all };

static int load_sharer(void)
{
	int ret = saakm_add_policy(&sharer);

	if (ret)
		return ret;
	ret = saakm_add_policy(&wrong_policy);
	if (ret)
		saakm_remove_policy(&sharer);
	return ret;
}

static void remove_sharer(void)
{
	saakm_remove_policy(&sharer);
}

static void take_wrongly(struct core_event *core)
{
	struct core_event *other = saakm_core_of(core->policy, other_cpu(core->id));

	if (wrong_now()) {
		saakm_take(core, saakm_core_of(&sharer, core->id)->shared);
		saakm_take(core, foreign_rq(other->id));
		saakm_take(core, NULL);
		saakm_take(core, &other->rq);
		saakm_take(other, core->shared);
	}
	saakm_take(core, core->shared);
}

/* take_nothing: threads wait, and no core gets them. */
static void take_nothing(struct core_event *core)
{
	if (!wrong_now())
		saakm_take(core, core->shared);
}

/* steal_shared: where a queue of one core is meant, with that core's lock. */
static void steal_shared(struct core_event *core)
{
	struct core_event *other = saakm_core_of(core->policy, other_cpu(core->id));

	if (!wrong_now())
		return;
	saakm_steal(core->shared, core->id, &core->rq, UINT_MAX, NULL, NULL);
	saakm_steal(&other->rq, core->id, core->shared, UINT_MAX, NULL, NULL);
}

/* place_unshared, switch_unshared: into a queue that other cores share. */

static void place_unshared(struct process_event *event, struct core_event *core)
{
	if (!core->shared && wrong_now())
		change_state(event->task, SAAKM_READY, core->id,
			     saakm_core_of(core->policy, 0)->shared);
}

static void switch_unshared(struct process_event *event, struct core_event *core)
{
	if (!core->shared && wrong_now())
		saakm_switch_queue(event->task, saakm_core_of(core->policy, 0)->shared);
}

/* share_late: when threads are there, and with a lock held. */
static void share_late(struct process_event *event, struct core_event *core)
{
	if (wrong_now())
		share_all(core->policy);
}

/* forget_shared: the class goes by its own note of what a core shares. */
static void forget_shared(struct process_event *event, struct core_event *core)
{
	if (wrong_now())
		core->shared = NULL;
}

const struct wrong_fault share_faults[] = {
	{ "take_in_schedule", { .schedule = take_in_schedule }, .shares = true },
	{ "take_in_newly_idle", { .newly_idle = take_in_newly_idle }, .shares = true },
	{ "take_wrongly", { .refill = take_wrongly }, .shares = true, .load = load_sharer,
	  .unload = remove_sharer },
	{ "take_nothing", { .refill = take_nothing }, .shares = true },
	{ "steal_shared", { .newly_idle = steal_shared, .balancing_select = steal_shared },
	  .shares = true },
	{ "place_unshared", { .init = share_first, .place = place_unshared }, .shares = true },
	{ "switch_unshared", { .init = share_first, .new_end = switch_unshared,
			       .unblock_end = switch_unshared }, .shares = true },
	{ "share_late", { .tick = share_late }, .class_queue = true },
	{ "forget_shared", { .tick = forget_shared }, .shares = true },
	{}
};
