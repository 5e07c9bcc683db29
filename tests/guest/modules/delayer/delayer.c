// SPDX-License-Identifier: GPL-2.0
/*
 * delayer: threads that sleep stay queued, and go after all that are awake: in a FIFO with turns
 * of a tick or, `ordered`, in a list or a tree by nice value. It counts what becomes of them:
 * stayed = woke + left + those that are DELAYED now.
 */
#include <linux/saakm.h>

static bool all = true;
module_param(all, bool, 0644);
MODULE_PARM_DESC(all, "N: those alone stay whose parameter is odd");
static bool skips;
module_param(skips, bool, 0644);
MODULE_PARM_DESC(skips, "with a FIFO: nobody rather than one that sleeps is elected");
static char *ordered = "";
module_param(ordered, charp, 0444);
MODULE_PARM_DESC(ordered, "list or tree: the class elects, by nice value");
static char *name = "delayer";
module_param(name, charp, 0444);

#define COUNT(what)							\
static atomic_t nr_##what = ATOMIC_INIT(0);				\
module_param_named(what, nr_##what.counter, int, 0444)
COUNT(asked);
COUNT(stayed);
COUNT(woke);
COUNT(left);
COUNT(ousted);		/* to another core, while they stayed */
COUNT(changed);		/* while they stayed */
COUNT(wrong);		/* an event that should not be */

static void check(bool right)
{
	if (!right)
		atomic_inc(&nr_wrong);
}

static bool delayer_block_delay(struct process_event *event, struct core_event *core)
{
	enum saakm_state state = saakm_task_state(event->task);

	check(state == SAAKM_RUNNING || state == SAAKM_READY_TICK);
	check(!saakm_task_delayed(event->task) && task_cpu(event->task) == core->id);
	atomic_inc(&nr_asked);
	if (!all && !(saakm_task_param(event->task) & 1))
		return false;
	atomic_inc(&nr_stayed);
	return true;
}

/* It is queued and READY, or has never left the CPU. */
static void delayer_unblock_delayed(struct process_event *event, struct core_event *core)
{
	enum saakm_state state = saakm_task_state(event->task);

	check(saakm_task_delayed(event->task) && state != SAAKM_BLOCKED && state != SAAKM_DELAYED);
	check(event->task->saakm.on_rq && !event->flags && core->nr_runnable);
	check((state == SAAKM_READY) == !!event->task->saakm.rq);
	atomic_inc(&nr_woke);
}

static void delayer_block(struct process_event *event, struct core_event *core)
{
	if (event->flags & SAAKM_EV_OUSTED) {
		if (saakm_task_delayed(event->task))
			atomic_inc(&nr_ousted);
		return;
	}
	check(saakm_task_state(event->task) != SAAKM_DELAYED || saakm_task_delayed(event->task));
	if (saakm_task_delayed(event->task))
		atomic_inc(&nr_left);
}

static void delayer_attr_changed(struct process_event *event, struct core_event *core)
{
	bool delayed = saakm_task_delayed(event->task);

	check(!delayed == (saakm_task_state(event->task) != SAAKM_DELAYED));
	if (delayed)
		atomic_inc(&nr_changed);
}

/* Who sleeps has left its policy's queues before it leaves the policy. */
static void delayer_terminate(struct process_event *event, struct core_event *core)
{
	check(!saakm_task_delayed(event->task));
}

/* With a FIFO */

static struct task_struct *first_awake(struct core_event *core)
{
	struct task_struct *task;

	saakm_for_each_task(task, &core->rq)
		if (!saakm_task_delayed(task))
			return task;
	return NULL;
}

static struct task_struct *delayer_schedule(struct core_event *core)
{
	struct task_struct *curr = core->curr, *next;

	if (curr && !saakm_task_delayed(curr) && saakm_task_state(curr) == SAAKM_RUNNING)
		return curr;
	next = first_awake(core);
	if (next)
		return next;
	if (curr && !saakm_task_delayed(curr))
		return curr;
	return READ_ONCE(skips) ? NULL : saakm_rq_first(&core->rq) ?: curr;
}

static void delayer_tick(struct process_event *event, struct core_event *core)
{
	change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
}

/* With an order: who sleeps goes after all others. */

#define BEHIND	40

static u64 delayer_key(const struct task_struct *task)
{
	return task_nice(task) - MIN_NICE + (saakm_task_delayed(task) ? BEHIND : 0);
}

static struct saakm_policy delayer = {
	.owner			= THIS_MODULE,
	.queue			= SAAKM_RQ_FIFO,
	.prepare		= saakm_prev_cpu,
	.block_delay		= delayer_block_delay,
	.unblock_delayed	= delayer_unblock_delayed,
	.block			= delayer_block,
	.attr_changed		= delayer_attr_changed,
	.terminate		= delayer_terminate,
	.schedule		= delayer_schedule,
	.tick			= delayer_tick,
};

static int __init delayer_init(void)
{
	strscpy(delayer.name, name);
	if (*ordered) {
		delayer.queue = !strcmp(ordered, "tree") ? SAAKM_RQ_RBTREE : SAAKM_RQ_LIST;
		delayer.key = delayer_key;
		delayer.wakeup_preempt = saakm_preempt_by_order;
		delayer.schedule = NULL;
	}
	return saakm_add_policy(&delayer);
}

static void __exit delayer_exit(void)
{
	saakm_remove_policy(&delayer);
}

module_init(delayer_init);
module_exit(delayer_exit);
MODULE_DESCRIPTION("SaaKM test: delayed dequeue");
MODULE_LICENSE("GPL");
