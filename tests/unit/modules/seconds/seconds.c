// SPDX-License-Identifier: GPL-2.0
/*
 * seconds: all cores share two queues. Threads with an odd number go into the second one; a core
 * takes from that whose first is due first. It counts what saakm_first_key() says, and misuses
 * saakm_share_queue() or saakm_take_before() if it is told to.
 */
#include <linux/saakm.h>

static char *how = "";
module_param(how, charp, 0444);
MODULE_PARM_DESC(how, "third: of these queues; unrefilled: the second without a refill; "
		 "unsorted: both, taken from by key");

static struct saakm_policy seconds;
static atomic_t nr_first = ATOMIC_INIT(0), nr_second = ATOMIC_INIT(0), nr_wrong = ATOMIC_INIT(0);

struct seconds_task {
	u64	due_ns;
};

static u64 seconds_key(const struct task_struct *task)
{
	return ((struct seconds_task *)saakm_task_data(task))->due_ns;
}

static void seconds_place(struct process_event *event, struct core_event *core)
{
	struct seconds_task *t = event->data;

	t->due_ns = ktime_get_mono_fast_ns();
	change_state(event->task, SAAKM_READY, core->id,
		     event->task->pid & 1 ? core->second : core->shared);
}

/* Nobody but this core takes anything while a test compares. */
static void seconds_check(struct core_event *core)
{
	u64 key;

	if (saakm_first_key(&core->rq, &key))
		atomic_inc(&nr_wrong);	/* no cores share that */
	if (!core->second->nr_tasks && saakm_first_key(core->second, &key))
		atomic_inc(&nr_wrong);
}

/* Threads in such queues have no keys. */
static void seconds_take_unsorted(struct core_event *core)
{
	u64 key;

	if (saakm_first_key(core->shared, &key) || saakm_first_key(core->second, &key))
		atomic_inc(&nr_wrong);
	if (core->shared->nr_tasks || core->second->nr_tasks)
		atomic_add(!!saakm_take_before(core, core->shared, S64_MAX), &nr_wrong);
}

static void seconds_refill(struct core_event *core)
{
	u64 first, second;
	bool has_first = saakm_first_key(core->shared, &first);
	bool has_second = saakm_first_key(core->second, &second);

	if (saakm_curr(core))
		return;
	if (!seconds.key) {
		seconds_take_unsorted(core);
		return;
	}
	seconds_check(core);
	if (has_second && (!has_first || saakm_before(second, first))) {
		atomic_add(!!saakm_take(core, core->second), &nr_second);
		return;
	}
	if (has_first)
		atomic_add(!!saakm_take(core, core->shared), &nr_first);
}

static int seconds_init(struct saakm_policy *policy)
{
	int i, ret = 0, queues = strcmp(how, "third") ? 2 : 3;

	for (i = 0; i < queues && !ret; i++)
		ret = saakm_share_queue(policy, cpu_possible_mask);
	return ret;
}

static void seconds_dump(struct saakm_policy *policy, struct seq_buf *text)
{
	seq_buf_printf(text, "took %d %d, wrong %d\n", atomic_read(&nr_first),
		       atomic_read(&nr_second), atomic_read(&nr_wrong));
}

static struct saakm_policy seconds = {
	.name = "seconds", .owner = THIS_MODULE,
	.queue = SAAKM_RQ_RBTREE, .key = seconds_key, .slice_us = 4000,
	.task_size = sizeof(struct seconds_task),
	.place = seconds_place, .refill = seconds_refill,
	.init = seconds_init, .dump = seconds_dump,
};

static int __init seconds_module_init(void)
{
	if (!strcmp(how, "unrefilled"))
		seconds.refill = NULL;
	if (!strcmp(how, "unsorted")) {
		seconds.queue = SAAKM_RQ_FIFO;
		seconds.key = NULL;
	}
	return saakm_add_policy(&seconds);
}

static void __exit seconds_module_exit(void)
{
	saakm_remove_policy(&seconds);
}

module_init(seconds_module_init);
module_exit(seconds_module_exit);
MODULE_DESCRIPTION("Two queues that all cores share");
MODULE_LICENSE("GPL");
