// SPDX-License-Identifier: GPL-2.0
/*
 * sharer: queues that cores share, and what becomes of the threads in them. It looks at the
 * class, too: whether `moved` is called for each change of core, and what `refill` is told.
 */
#include <linux/saakm.h>

#define NR_CPUS_SEEN	16
#define NR_ORDER	128

static char *name = "sharer";
module_param(name, charp, 0444);
static char *replaces;
module_param(replaces, charp, 0444);

static char *masks = "all";
module_param(masks, charp, 0444);
MODULE_PARM_DESC(masks, "CPUs of a queue each, apart by '/', as 0-1/2-3; none: core->rq for all");
static char *type = "fifo";
module_param(type, charp, 0444);
MODULE_PARM_DESC(type, "fifo, list or rbtree, of which the latter are sorted by the parameter");
static int base;
module_param(base, int, 0444);
MODULE_PARM_DESC(base, "is added to the parameter, and the sum is a key: -5 wraps around");
static char *refill = "class";
module_param(refill, charp, 0444);
MODULE_PARM_DESC(refill, "class, own (a handler that does the same) or borrow (from others, too)");
static char *preempt = "tick";
module_param(preempt, charp, 0444);
MODULE_PARM_DESC(preempt, "by a sorted queue: at the tick, at a wakeup, or never");
static bool to_head;
module_param(to_head, bool, 0444);
MODULE_PARM_DESC(to_head, "threads with the parameter 1 go to the head, but for the first time");
static bool takes_anywhere;
module_param(takes_anywhere, bool, 0444);
MODULE_PARM_DESC(takes_anywhere, "saakm_take() in `running`, which is a fault");

/* In which order threads were elected that had slept, each once. */
static int order[NR_ORDER], nr_order;
module_param_array(order, int, &nr_order, 0444);
static atomic_t nr_elected = ATOMIC_INIT(0);
/* By CPU: calls of refill, and of running. */
static int refills[NR_CPUS_SEEN], runs[NR_CPUS_SEEN];
module_param_array(refills, int, NULL, 0444);
module_param_array(runs, int, NULL, 0444);

#define COUNT(what)							\
static atomic_t nr_##what = ATOMIC_INIT(0);				\
module_param_named(what, nr_##what.counter, int, 0444)
COUNT(moves);		/* calls of moved */
COUNT(wrong_moves);	/* from a core where the thread was not, or to the same one */
COUNT(untold_moves);	/* it runs, or is requeued, where nobody said that it is */
COUNT(misplaced);	/* waits in another queue than the header says */
COUNT(strays);		/* ran on a core outside of the queue that it was placed in */
COUNT(takes);
COUNT(wrong_takes);	/* what saakm_take() returned is not READY in core->rq */
COUNT(reset_waits);	/* its wait began anew when it was taken */
COUNT(needless_refills);	/* core->rq has threads */
COUNT(wrong_currs);	/* core->curr is not what runs there */
COUNT(currs);		/* calls with and */
COUNT(no_currs);	/* without a thread that could go on */
static int longest_wait_ms;	/* of those that were taken */
module_param(longest_wait_ms, int, 0444);

struct sharer_task {
	u64		since_ns;	/* when it began to wait, 0: not known */
	struct saakm_rq	*placed;	/* core->shared of where it was placed */
	int		cpu;
	bool		known, woke, has_run;
};

static struct saakm_policy sharer;

static u64 sharer_key(const struct task_struct *task)
{
	return (s64)base + saakm_task_param(task);
}

static struct saakm_rq *queue_of(struct core_event *core)
{
	return core->shared ?: &core->rq;
}

/* Threads */

static void sharer_place(struct process_event *event, struct core_event *core)
{
	struct sharer_task *t = event->data;
	bool owed = to_head && t->known && saakm_task_param(event->task) == 1;

	t->cpu = core->id;
	t->known = true;
	t->placed = core->shared;
	if (!owed)
		return;
	change_state(event->task, SAAKM_READY, core->id, queue_of(core));
	saakm_to_head(event->task);
}

static void sharer_new_end(struct process_event *event, struct core_event *core)
{
	if (event->task->saakm.rq != queue_of(core))
		atomic_inc(&nr_misplaced);
}

static void sharer_unblock_end(struct process_event *event, struct core_event *core)
{
	struct sharer_task *t = event->data;

	t->since_ns = event->flags & SAAKM_EV_OUSTED ? 0 : event->task->saakm.since_ns;
	t->woke |= !(event->flags & SAAKM_EV_OUSTED);
	if (event->task->saakm.rq != queue_of(core))
		atomic_inc(&nr_misplaced);
}

static void sharer_requeue(struct process_event *event, struct core_event *core)
{
	struct sharer_task *t = event->data;

	if (t->known && t->cpu != core->id)
		atomic_inc(&nr_untold_moves);
	t->placed = core->shared;
	t->since_ns = 0;
}

static void sharer_moved(struct process_event *event, struct core_event *from,
			 struct core_event *core)
{
	struct sharer_task *t = event->data;

	atomic_inc(&nr_moves);
	if (from->id == core->id || (t->known && t->cpu != from->id) ||
	    task_cpu(event->task) != core->id)
		atomic_inc(&nr_wrong_moves);
	t->cpu = core->id;
}

static void note_first_run(struct task_struct *task, struct sharer_task *t)
{
	int n;

	if (!t->woke || t->has_run)
		return;
	t->has_run = true;
	n = atomic_inc_return(&nr_elected) - 1;
	if (n < NR_ORDER) {
		order[n] = task->pid;
		nr_order = n + 1;
	}
}

static void sharer_running(struct process_event *event, struct core_event *core)
{
	struct sharer_task *t = event->data;

	if (t->known && t->cpu != core->id)
		atomic_inc(&nr_untold_moves);
	if (t->known && t->placed != core->shared)
		atomic_inc(&nr_strays);
	note_first_run(event->task, t);
	if (core->id < NR_CPUS_SEEN)
		runs[core->id]++;
	if (takes_anywhere)
		saakm_take(core, core->shared);
}

static void sharer_attr_changed(struct process_event *event, struct core_event *core)
{
	/* It waits where it did, or runs. */
	if (saakm_task_state(event->task) == SAAKM_READY && !event->task->saakm.rq)
		atomic_inc(&nr_misplaced);
}

static void sharer_tick(struct process_event *event, struct core_event *core)
{
}

/* Refilling */

/* What core->curr shall be. */
static struct task_struct *could_go_on(struct core_event *core)
{
	struct task_struct *task = saakm_running_on(core->policy, core->id);
	enum saakm_state state;

	if (!task)
		return NULL;
	state = saakm_task_state(task);
	return state == SAAKM_RUNNING || state == SAAKM_READY_TICK ? task : NULL;
}

static void check_refill(struct core_event *core)
{
	if (core->id < NR_CPUS_SEEN)
		refills[core->id]++;
	if (core->rq.nr_tasks || saakm_rq_first(&core->rq))
		atomic_inc(&nr_needless_refills);
	if (core->curr != could_go_on(core))
		atomic_inc(&nr_wrong_currs);
	atomic_inc(core->curr ? &nr_currs : &nr_no_currs);
}

/* The clocks of two CPUs differ, but by little. */
#define SAME_NS		(50 * NSEC_PER_MSEC)

static bool take(struct core_event *core, struct saakm_rq *from)
{
	struct task_struct *task = saakm_take(core, from);
	struct sharer_task *t;
	int waited_ms;

	if (!task)
		return false;
	t = saakm_task_data(task);
	atomic_inc(&nr_takes);
	if (task->saakm.rq != &core->rq || saakm_task_state(task) != SAAKM_READY ||
	    task_cpu(task) != core->id || !cpumask_test_cpu(core->id, task->cpus_ptr))
		atomic_inc(&nr_wrong_takes);
	if (!t->since_ns)
		return true;
	if ((s64)(task->saakm.since_ns - t->since_ns) > (s64)SAME_NS)
		atomic_inc(&nr_reset_waits);
	waited_ms = div_s64(saakm_clock_ns(core) - t->since_ns, NSEC_PER_MSEC);
	longest_wait_ms = max(longest_wait_ms, waited_ms);
	return true;
}

static void sharer_refill(struct core_event *core)
{
	int cpu;

	check_refill(core);
	if (saakm_curr(core) || (core->shared && take(core, core->shared)) ||
	    strcmp(refill, "borrow"))
		return;
	for_each_online_cpu(cpu) {
		struct saakm_rq *other = saakm_core_of(core->policy, cpu)->shared;

		if (other && other != core->shared && READ_ONCE(other->nr_tasks) &&
		    take(core, other))
			return;
	}
}

/* Setting up */

static struct cpumask last_mask;

/* What saakm_share_queue() must refuse: a bit for each that it did not. */
static unsigned int wrong_shares(struct saakm_policy *policy)
{
	static struct cpumask mask;
	unsigned int missed;

	cpumask_clear(&mask);
	missed = saakm_share_queue(policy, NULL) != -EINVAL;
	missed |= (saakm_share_queue(policy, &mask) != -EINVAL) << 1;
	/* Who refills may have a second one. */
	if (!strcmp(masks, "none") || strcmp(refill, "class"))
		return missed;
	/* Some, or all of them have a queue; and one that has. */
	missed |= (saakm_share_queue(policy, cpu_possible_mask) != -EINVAL) << 2;
	cpumask_set_cpu(cpumask_first(&last_mask), &mask);
	return missed | (saakm_share_queue(policy, &mask) != -EINVAL) << 3;
}

static int share(struct saakm_policy *policy, char *words)
{
	char *word;
	int ret = 0;

	while (!ret && (word = strsep(&words, "/")))
		ret = cpulist_parse(word, &last_mask) ?: saakm_share_queue(policy, &last_mask);
	return ret;
}

static int sharer_init(struct saakm_policy *policy)
{
	char words[64];
	unsigned int missed;
	int ret = 0;

	strscpy(words, masks);
	if (strcmp(masks, "none"))
		ret = share(policy, words);
	if (ret)
		return ret;
	missed = wrong_shares(policy);
	if (missed)
		pr_err("sharer: saakm_share_queue() accepted nonsense: %#x\n", missed);
	return missed ? -EBADE : 0;
}

static struct saakm_policy sharer = {
	.owner		= THIS_MODULE,
	.task_size	= sizeof(struct sharer_task),
	.init		= sharer_init,
	.prepare	= saakm_prev_cpu,
	.place		= sharer_place,
	.new_end	= sharer_new_end,
	.unblock_end	= sharer_unblock_end,
	.requeue	= sharer_requeue,
	.moved		= sharer_moved,
	.running	= sharer_running,
};
module_param_named(slice_us, sharer.slice_us, uint, 0644);
module_param_named(priority, sharer.priority, int, 0444);
module_param_named(yield_to_any, sharer.yield_to_any, bool, 0444);

static int __init sharer_module_init(void)
{
	int ret = saakm_set_options(&sharer, replaces, -1, NULL);

	strscpy(sharer.name, name);
	if (strcmp(type, "fifo")) {
		sharer.queue = strcmp(type, "list") ? SAAKM_RQ_RBTREE : SAAKM_RQ_LIST;
		sharer.key = sharer_key;
	} else {
		sharer.attr_changed = sharer_attr_changed;
	}
	if (strcmp(refill, "class"))
		sharer.refill = sharer_refill;
	if (strcmp(preempt, "tick"))
		sharer.tick = sharer_tick;
	if (!strcmp(preempt, "wakeup"))
		sharer.wakeup_preempt = saakm_preempt_by_order;
	ret = ret ?: saakm_add_policy(&sharer);
	/* Too late: the policy is loaded. */
	if (!ret && saakm_share_queue(&sharer, cpu_possible_mask) != -EINVAL) {
		saakm_remove_policy(&sharer);
		return -EBADE;
	}
	return ret;
}

static void __exit sharer_module_exit(void)
{
	saakm_remove_policy(&sharer);
}

module_init(sharer_module_init);
module_exit(sharer_module_exit);
MODULE_DESCRIPTION("SaaKM test: queues that cores share");
MODULE_LICENSE("GPL");
