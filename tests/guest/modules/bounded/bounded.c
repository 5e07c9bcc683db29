// SPDX-License-Identifier: GPL-2.0
/*
 * bounded: a tree with bounds, of random keys and bounds that wrap around. At each election it
 * asks saakm_rq_first_within() for some limits, and compares with a walk through the queue.
 */
#include <linux/prandom.h>
#include <linux/saakm.h>

#define RANGE	64		/* few, so that there are equal ones */
#define LIMITS	4

static bool unbound;
module_param(unbound, bool, 0444);
MODULE_PARM_DESC(unbound, "the same without .bound: there is no answer");
static bool renews = true;
module_param(renews, bool, 0444);
MODULE_PARM_DESC(renews, "at ticks, those that wait are sorted in anew by saakm_switch_queue()");

#define COUNT(what)							\
static atomic_t nr_##what = ATOMIC_INIT(0);				\
module_param_named(what, nr_##what.counter, int, 0444)
COUNT(asked);
COUNT(wrong);		/* another thread than the walk finds */
COUNT(found);
COUNT(none);		/* nobody within, though some wait */
COUNT(not_first);	/* not the first of the queue */
COUNT(unsorted);	/* a key that is before that of the thread in front */
COUNT(renewed);
static int longest;
module_param(longest, int, 0444);

struct bounded_task {
	u64	key, bound;
};

static DEFINE_PER_CPU(struct rnd_state, bounded_random);

static u32 random_on(struct core_event *core, u32 range)
{
	return prandom_u32_state(per_cpu_ptr(&bounded_random, core->id)) % range;
}

/* Nice values make for changes while threads wait. */
static u64 bounded_key(const struct task_struct *task)
{
	const struct bounded_task *t = saakm_task_data(task);

	return t->key + task_nice(task);
}

static u64 bounded_bound(const struct task_struct *task)
{
	const struct bounded_task *t = saakm_task_data(task);

	return t->bound - task_nice(task) / 2;
}

/* From one half of the range on, both have wrapped around. */
static void draw(struct bounded_task *t, struct core_event *core)
{
	t->key = random_on(core, RANGE) - (u64)RANGE / 2;
	t->bound = random_on(core, RANGE) - (u64)RANGE / 2;
}

static void bounded_place(struct process_event *event, struct core_event *core)
{
	draw(event->data, core);
}

static struct task_struct *walk(struct core_event *core, u64 limit)
{
	struct task_struct *task, *last = NULL, *within = NULL;
	int n = 0;

	saakm_for_each_task(task, &core->rq) {
		n++;
		if (!within && !saakm_before(limit, bounded_bound(task)))
			within = task;
		if (last && saakm_before(bounded_key(task), bounded_key(last)))
			atomic_inc(&nr_unsorted);
		last = task;
	}
	if (n > READ_ONCE(longest))
		WRITE_ONCE(longest, n);
	return within;
}

static struct task_struct *ask(struct core_event *core)
{
	u64 limit = random_on(core, RANGE + 8) - (u64)RANGE / 2 - 4;
	struct task_struct *told = saakm_rq_first_within(&core->rq, limit);
	struct task_struct *within = unbound ? NULL : walk(core, limit);

	atomic_inc(&nr_asked);
	if (told != within)
		atomic_inc(&nr_wrong);
	else if (told)
		atomic_inc(&nr_found);
	else if (core->rq.nr_tasks)
		atomic_inc(&nr_none);
	if (told && told != saakm_rq_first(&core->rq))
		atomic_inc(&nr_not_first);
	return told;
}

/* Whoever it is: threads leave the tree at any place of it. */
static struct task_struct *bounded_schedule(struct core_event *core)
{
	struct task_struct *next = NULL;
	int i;

	for (i = 0; i < LIMITS; i++)
		next = ask(core);
	return next ?: saakm_curr(core) ?: saakm_rq_first(&core->rq);
}

static void bounded_tick(struct process_event *event, struct core_event *core)
{
	int nth = random_on(core, core->rq.nr_tasks + 1);
	struct task_struct *task;

	change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
	if (!renews || unbound)
		return;
	saakm_for_each_task(task, &core->rq)
		if (!nth--)
			break;
	if (!task)
		return;
	draw(saakm_task_data(task), core);
	saakm_switch_queue(task, &core->rq);
	atomic_inc(&nr_renewed);
}

static int bounded_init(struct saakm_policy *policy)
{
	int cpu;

	for_each_possible_cpu(cpu)
		prandom_seed_state(per_cpu_ptr(&bounded_random, cpu), cpu + 1);
	return 0;
}

static struct saakm_policy bounded = {
	.name		= "bounded",
	.owner		= THIS_MODULE,
	.queue		= SAAKM_RQ_RBTREE,
	.key		= bounded_key,
	.bound		= bounded_bound,
	.task_size	= sizeof(struct bounded_task),
	.init		= bounded_init,
	.prepare	= saakm_prev_cpu,
	.place		= bounded_place,
	.requeue	= bounded_place,
	.tick		= bounded_tick,
	.schedule	= bounded_schedule,
};

static int __init bounded_module_init(void)
{
	if (unbound)
		bounded.bound = NULL;
	return saakm_add_policy(&bounded);
}

static void __exit bounded_module_exit(void)
{
	saakm_remove_policy(&bounded);
}

module_init(bounded_module_init);
module_exit(bounded_module_exit);
MODULE_DESCRIPTION("SaaKM test: the first within a limit");
MODULE_LICENSE("GPL");
