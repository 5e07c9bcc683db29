// SPDX-License-Identifier: GPL-2.0
/* Queues that change under their threads, and threads that are put into a wrong one or none. */
#include "wrong.h"

/* Of two arrivals one: what is queued afterwards makes the queue look right. */
static bool every_second(void)
{
	static atomic_t arrivals = ATOMIC_INIT(0);

	return atomic_inc_return(&arrivals) & 1;
}

/* reset_queue: set up again with threads in it. */
static void reset_queue(struct process_event *event, struct core_event *core)
{
	good_place(event, core);
	if (every_second() && wrong_now())
		saakm_runqueue_init(wrong_rq(core->id), core->id, SAAKM_RQ_FIFO, NULL);
}

/* retype_queue: a list becomes a tree, with the threads of the list in it. */
static u64 any_key(const struct task_struct *task)
{
	return 0;
}

static void retype_queue(struct process_event *event, struct core_event *core)
{
	good_place(event, core);
	if (every_second() && wrong_now())
		saakm_runqueue_init(wrong_rq(core->id), core->id, SAAKM_RQ_RBTREE, any_key);
}

/* queue_cpu: a queue that says that it is another CPU's, with the threads that are in it. */
static void queue_cpu(struct process_event *event, struct core_event *core)
{
	struct saakm_rq *rq = wrong_rq(core->id);

	if (rq->nr_tasks && wrong_now())
		rq->cpu = other_cpu(core->id);
	good_tick(event, core);
}

static void steal_from_it(struct core_event *core)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (cpu != core->id && wrong_now())
			saakm_steal(wrong_rq(cpu), core->id, wrong_rq(core->id), UINT_MAX,
				    NULL, NULL);
	}
}

/* core_rq_reset, and core_rq_type, which is fatal: the class's own queue, there to be read. */
static void reset_core_rq(struct process_event *event, struct core_event *core)
{
	if (every_second() && wrong_now())
		memset(&core->rq, 0, sizeof(core->rq));
}

static void retype_core_rq(struct process_event *event, struct core_event *core)
{
	if (every_second() && wrong_now())
		core->rq.type = SAAKM_RQ_RBTREE;
}

/* queue_none_no_change: neither the policy nor the class has a queue for the thread. */
static void place_nowhere(struct process_event *event, struct core_event *core)
{
	if (!wrong_now())
		good_place(event, core);
}

/* queue_none_core_rq: the class does not keep one for it, but core->rq is there. */
static void place_in_core_rq(struct process_event *event, struct core_event *core)
{
	if (!wrong_now() || change_state(event->task, SAAKM_READY, core->id, &core->rq))
		good_place(event, core);
}

/* Switches that are none: of threads and queues of another policy, CPU or state. */

static void switch_foreign(struct process_event *event, struct core_event *core)
{
	struct task_struct *other;

	scoped_guard(rcu)
		other = foreign_waiting(-1);
	if (other && wrong_now())
		saakm_switch_queue(other, wrong_rq(core->id));
	good_tick(event, core);
}

static void switch_running(struct process_event *event, struct core_event *core)
{
	if (wrong_now())
		saakm_switch_queue(event->task, wrong_rq(core->id));
	good_tick(event, core);
}

/* null_thread: as what the first of an empty queue is. */
static void null_thread(struct process_event *event, struct core_event *core)
{
	if (wrong_now()) {
		saakm_switch_queue(NULL, wrong_rq(core->id));
		saakm_to_head(NULL);
		saakm_set_slice(NULL, 0);
		change_state(NULL, SAAKM_READY, core->id, wrong_rq(core->id));
	}
	good_tick(event, core);
}

static void switch_cpu(struct process_event *event, struct core_event *core)
{
	good_place(event, core);
	if (wrong_now())
		saakm_switch_queue(event->task, wrong_rq(other_cpu(core->id)));
}

static void switch_to_foreign(struct process_event *event, struct core_event *core)
{
	struct saakm_rq *foreign = foreign_rq(core->id);

	good_place(event, core);
	if (foreign && wrong_now())
		saakm_switch_queue(event->task, foreign);
}

/* To the head of a queue, where there is none: sorted, or without the thread in it. */

static void to_head(struct process_event *event, struct core_event *core)
{
	if (wrong_now())
		saakm_to_head(event->task);
}

static void to_head_foreign(struct process_event *event, struct core_event *core)
{
	struct task_struct *other;

	scoped_guard(rcu)
		other = foreign_waiting(-1);
	if (other && wrong_now())
		saakm_to_head(other);
	good_tick(event, core);
}

const struct wrong_fault queue_faults[] = {
	{ "reset_queue", { .place = reset_queue } },
	{ "retype_queue", { .place = retype_queue } },
	{ "queue_cpu", { .tick = queue_cpu, .balancing_select = steal_from_it } },
	{ "core_rq_reset", { .new_end = reset_core_rq, .unblock_end = reset_core_rq },
	  .class_queue = true },
	{ "core_rq_type", { .new_end = retype_core_rq, .unblock_end = retype_core_rq },
	  .class_queue = true },
	{ "queue_none_no_change", { .place = place_nowhere } },
	{ "queue_none_core_rq", { .place = place_in_core_rq } },
	{ "switch_foreign", { .tick = switch_foreign } },
	{ "switch_to_foreign", { .place = switch_to_foreign } },
	{ "switch_running", { .tick = switch_running } },
	{ "null_thread", { .tick = null_thread } },
	{ "switch_cpu", { .place = switch_cpu } },
	{ "to_head_sorted", { .new_end = to_head, .unblock_end = to_head }, .key = any_key,
	  .class_queue = true },
	{ "to_head_running", { .tick = to_head }, .class_queue = true },
	{ "to_head_foreign", { .tick = to_head_foreign } },
	{}
};
