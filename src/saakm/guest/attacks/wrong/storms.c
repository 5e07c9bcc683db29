// SPDX-License-Identifier: GPL-2.0
/* Too much of what is allowed, and queues that change under their threads. */
#include "wrong.h"

#include <linux/slab.h>

/* kick_storm: an election on every CPU, whatever happens on any. */
static void kick_all(void)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (wrong_now())
			saakm_kick(cpu);
	}
}

static void kick_place(struct saakm_policy *policy, struct process_event *event,
		       struct core_event *core)
{
	good_place(policy, event, core);
	kick_all();
}

static void kick_event(struct saakm_policy *policy, struct process_event *event,
		       struct core_event *core)
{
	kick_all();
}

static void kick_core(struct saakm_policy *policy, struct core_event *core)
{
	kick_all();
}

static struct task_struct *kick_schedule(struct saakm_policy *policy, struct core_event *core)
{
	kick_all();
	return good_schedule(policy, core);
}

/* preempt_storm: whoever gets the CPU shall give it back. */
static void preempt_running(struct saakm_policy *policy, struct process_event *event,
			    struct core_event *core)
{
	if (wrong_now())
		saakm_preempt(core);
}

/* Of two arrivals one: what is queued afterwards makes the queue look right. */
static bool every_second(void)
{
	static atomic_t arrivals = ATOMIC_INIT(0);

	return atomic_inc_return(&arrivals) & 1;
}

/* reset_queue: set up again with threads in it. */
static void reset_queue(struct saakm_policy *policy, struct process_event *event,
			struct core_event *core)
{
	good_place(policy, event, core);
	if (every_second() && wrong_now())
		saakm_runqueue_init(wrong_rq(core->id), core->id, SAAKM_RQ_FIFO, NULL);
}

/* retype_queue: a list becomes a tree, with the threads of the list in it. */
static int any_order(const struct task_struct *a, const struct task_struct *b)
{
	return 0;
}

static void retype_queue(struct saakm_policy *policy, struct process_event *event,
			 struct core_event *core)
{
	good_place(policy, event, core);
	if (every_second() && wrong_now())
		saakm_runqueue_init(wrong_rq(core->id), core->id, SAAKM_RQ_RBTREE, any_order);
}

/* queue_cpu: a queue that says that it is another CPU's, with the threads that are in it. */
static void queue_cpu(struct saakm_policy *policy, struct process_event *event,
		      struct core_event *core)
{
	struct saakm_rq *rq = wrong_rq(core->id);

	if (rq->nr_tasks && wrong_now())
		rq->cpu = other_cpu(core->id);
	good_tick(policy, event, core);
}

static void steal_from_it(struct saakm_policy *policy, struct core_event *core)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (cpu != core->id && wrong_now())
			saakm_steal(wrong_rq(cpu), core->id, wrong_rq(core->id), UINT_MAX, NULL);
	}
}

const struct wrong_fault storm_faults[] = {
	{ "kick_storm", { .new_place = kick_place, .unblock_place = kick_place,
			  .block = kick_event, .running = kick_event, .terminate = kick_event,
			  .attr_changed = kick_event, .schedule = kick_schedule,
			  .newly_idle = kick_core, .enter_idle = kick_core, .exit_idle = kick_core,
			  .balancing_select = kick_core } },
	{ "preempt_storm", { .running = preempt_running } },
	{ "reset_queue", { .new_place = reset_queue, .unblock_place = reset_queue } },
	{ "retype_queue", { .new_place = retype_queue, .unblock_place = retype_queue } },
	{ "queue_cpu", { .tick = queue_cpu, .balancing_select = steal_from_it } },
	{}
};
