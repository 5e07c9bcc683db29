// SPDX-License-Identifier: GPL-2.0
/*
 * levels: two queues for each core. core->rq is the upper one, a FIFO; the lower one, in
 * core->data, is sorted by a key, which is the thread's parameter at first. Who waits
 * changes levels by saakm_switch_queue(): when its parameter says so, and with `stir` at
 * every tick, where somebody gets another key, too. What is then not as it should be ejects
 * the policy.
 */
#include <linux/saakm.h>

#define UPPER	99	/* from this parameter on */

static bool stir;
module_param(stir, bool, 0444);
static atomic_t nr_switched = ATOMIC_INIT(0);
module_param_named(switched, nr_switched.counter, int, 0444);

struct levels_task {
	u64 key;
};

static u64 levels_key(const struct task_struct *task)
{
	return ((struct levels_task *)saakm_task_data(task))->key;
}

static struct saakm_rq *lower(struct core_event *core)
{
	return core->data;
}

static struct saakm_rq *level_of(struct core_event *core, const struct task_struct *task)
{
	return saakm_task_param(task) >= UPPER ? &core->rq : lower(core);
}

/* The last; NULL if they are not as many as it says, or not sorted. */
static struct task_struct *walk(struct saakm_rq *rq, bool sorted)
{
	struct task_struct *task, *last = NULL;
	unsigned int count = 0;

	saakm_for_each_task(task, rq) {
		if (sorted && last && saakm_before(levels_key(task), levels_key(last)))
			return NULL;
		last = task;
		count++;
	}
	return count == rq->nr_tasks ? last : NULL;
}

static bool move(struct core_event *core, struct task_struct *task, struct saakm_rq *to)
{
	unsigned int waiting = core->rq.nr_tasks + lower(core)->nr_tasks;
	bool promoted = to == &core->rq && task->saakm.rq != to;
	u64 since_ns = task->saakm.since_ns;
	int ret = saakm_switch_queue(task, to);
	struct task_struct *last = walk(to, to == lower(core));

	atomic_inc(&nr_switched);
	if (!ret && last && (!promoted || last == task) && task->saakm.rq == to &&
	    saakm_task_state(task) == SAAKM_READY && task->saakm.since_ns == since_ns &&
	    core->rq.nr_tasks + lower(core)->nr_tasks == waiting)
		return true;
	saakm_eject(core->policy, SAAKM_EXIT_POLICY_ERROR, task,
		    "saakm_switch_queue() to the %s queue returned %d, which now has %u threads",
		    to == lower(core) ? "lower" : "upper", ret, to->nr_tasks);
	return false;
}

static void levels_place(struct process_event *event, struct core_event *core)
{
	struct levels_task *t = event->data;

	t->key = saakm_task_param(event->task);
	change_state(event->task, SAAKM_READY, core->id, level_of(core, event->task));
}

/* Its key is ours: the class has not sorted it in anew. */
static void levels_attr_changed(struct process_event *event, struct core_event *core)
{
	struct levels_task *t = event->data;

	if (saakm_task_state(event->task) != SAAKM_READY)
		return;
	t->key = saakm_task_param(event->task);
	move(core, event->task, level_of(core, event->task));
}

/* The last of the lower queue becomes its first. */
static void overtake(struct core_event *core)
{
	struct task_struct *first = saakm_rq_first(lower(core));
	struct task_struct *last = walk(lower(core), true);

	if (!last || last == first)
		return;
	((struct levels_task *)saakm_task_data(last))->key = levels_key(first) - 1;
	if (move(core, last, lower(core)) && saakm_rq_first(lower(core)) != last)
		saakm_eject(core->policy, SAAKM_EXIT_POLICY_ERROR, last, "it is not the first");
}

static void levels_tick(struct process_event *event, struct core_event *core)
{
	struct task_struct *task;

	if (!stir)
		return;
	overtake(core);
	if (saakm_rq_first(lower(core))) {
		move(core, saakm_rq_first(lower(core)), &core->rq);
		return;
	}
	while ((task = saakm_rq_first(&core->rq))) {
		if (!move(core, task, lower(core)))
			return;
	}
}

/* Nobody passes a thread of nice -20: programs/queue_order.c. */
static struct task_struct *levels_schedule(struct core_event *core)
{
	struct saakm_rq *queues[] = { &core->rq, lower(core) };
	struct task_struct *task;
	int i;

	if (saakm_curr(core))
		return saakm_curr(core);
	for (i = 0; i < ARRAY_SIZE(queues); i++) {
		saakm_for_each_task(task, queues[i])
			if (task_nice(task) == MIN_NICE)
				return task;
	}
	return saakm_rq_first(queues[0]) ?: saakm_rq_first(queues[1]);
}

static int levels_init(struct saakm_policy *policy)
{
	int cpu, ret = 0;

	for_each_possible_cpu(cpu)
		ret = ret ?: saakm_runqueue_init(lower(saakm_core_of(policy, cpu)), cpu,
						 SAAKM_RQ_RBTREE, levels_key);
	return ret;
}

SAAKM_POLICY(levels,
	     .task_size		= sizeof(struct levels_task),
	     .core_size		= sizeof(struct saakm_rq),
	     .init		= levels_init,
	     .prepare		= saakm_prev_cpu,
	     .place		= levels_place,
	     .requeue		= levels_place,
	     .attr_changed	= levels_attr_changed,
	     .tick		= levels_tick,
	     .schedule		= levels_schedule);
