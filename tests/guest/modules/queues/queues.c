// SPDX-License-Identifier: GPL-2.0
/*
 * queues: one runqueue per CPU, of the type that `type` names, sorted by
 * `key`. It walks the queue at every election and tick and checks it against
 * what the API promises: sorted, equal keys in order of arrival, and as many
 * threads as nr_tasks says.
 */
#include <linux/saakm.h>

static char *type = "fifo";
module_param(type, charp, 0444);
MODULE_PARM_DESC(type, "fifo, list or rbtree");

static char *key = "param";
module_param(key, charp, 0444);
MODULE_PARM_DESC(key, "param or nice");

static atomic_t nr_walks = ATOMIC_INIT(0);
static atomic_t nr_unsorted = ATOMIC_INIT(0);
static atomic_t nr_unordered = ATOMIC_INIT(0);
static atomic_t nr_miscounted = ATOMIC_INIT(0);
static int longest;
module_param_named(walks, nr_walks.counter, int, 0444);
module_param_named(unsorted, nr_unsorted.counter, int, 0444);
module_param_named(unordered, nr_unordered.counter, int, 0444);
module_param_named(miscounted, nr_miscounted.counter, int, 0444);
module_param(longest, int, 0444);

static bool give_up;
static int asked_after;
module_param(give_up, bool, 0644);
MODULE_PARM_DESC(give_up, "a thread whose parameters change while it waits ejects the policy");
module_param(asked_after, int, 0444);
MODULE_PARM_DESC(asked_after, "how often it was asked for a key after that");

static bool gave_up;

struct queues_task {
	u64	arrival;	/* 0: it changed its key while it waited */
};

struct queues_cpu {
	struct saakm_rq	rq;
	u64		arrivals;
};

static DEFINE_PER_CPU(struct queues_cpu, queues_cpus);
static bool by_nice, is_fifo;

static u64 queues_key(const struct task_struct *task)
{
	asked_after += READ_ONCE(gave_up);
	return by_nice ? task->static_prio : saakm_task_param(task);
}

static void check(struct core_event *core)
{
	struct saakm_rq *rq = &per_cpu(queues_cpus, core->id).rq;
	struct task_struct *task, *last = NULL;
	unsigned int count = 0;
	u64 last_key = 0;

	saakm_for_each_task(task, rq) {
		u64 key = is_fifo ? 0 : queues_key(task);

		count++;
		if (last && saakm_before(key, last_key))
			atomic_inc(&nr_unsorted);
		if (last && key == last_key) {
			u64 a = ((struct queues_task *)saakm_task_data(last))->arrival;
			u64 b = ((struct queues_task *)saakm_task_data(task))->arrival;

			if (a && b && a > b)
				atomic_inc(&nr_unordered);
		}
		last = task;
		last_key = key;
	}
	if (count != rq->nr_tasks)
		atomic_inc(&nr_miscounted);
	if (count > READ_ONCE(longest))
		WRITE_ONCE(longest, count);
	atomic_inc(&nr_walks);
}

static void queues_place(struct process_event *event, struct core_event *core)
{
	struct queues_cpu *qcpu = &per_cpu(queues_cpus, core->id);
	struct queues_task *data = event->data;

	data->arrival = ++qcpu->arrivals;
	change_state(event->task, SAAKM_READY, core->id, &qcpu->rq);
	check(core);
}

static void queues_attr_changed(struct process_event *event, struct core_event *core)
{
	struct queues_task *data = event->data;

	data->arrival = 0;
	check(core);
}

/* The thread is not back in its queue yet, where it may belong elsewhere now. */
static void queues_setparam_attr(struct process_event *event, const struct sched_attr *attr)
{
	if (!give_up || gave_up || saakm_task_state(event->task) != SAAKM_READY)
		return;
	saakm_eject(event->task->saakm.policy, SAAKM_EXIT_POLICY_ERROR, event->task, "gives up");
	WRITE_ONCE(gave_up, true);
}

static void queues_tick(struct process_event *event, struct core_event *core)
{
	check(core);
}

/* Nobody passes a thread of nice -20, in a FIFO neither: a test can keep all others waiting. */
static struct task_struct *queues_schedule(struct core_event *core)
{
	struct saakm_rq *rq = &per_cpu(queues_cpus, core->id).rq;
	struct task_struct *task;

	check(core);
	if (saakm_curr(core))
		return saakm_curr(core);
	saakm_for_each_task(task, rq)
		if (task_nice(task) == MIN_NICE)
			return task;
	return saakm_rq_first(rq);
}

static int queues_init(struct saakm_policy *policy)
{
	enum saakm_rq_type kind;

	by_nice = !strcmp(key, "nice");
	is_fifo = !strcmp(type, "fifo");
	kind = is_fifo ? SAAKM_RQ_FIFO : !strcmp(type, "list") ? SAAKM_RQ_LIST : SAAKM_RQ_RBTREE;
	return saakm_runqueues_init(&queues_cpus.rq, kind, is_fifo ? NULL : queues_key);
}

static struct saakm_policy queues = {
	.name		= "queues",
	.owner		= THIS_MODULE,
	.queue		= SAAKM_RQ_NONE,
	.task_size	= sizeof(struct queues_task),
	.init		= queues_init,
	.prepare	= saakm_prev_cpu,
	.place		= queues_place,
	.attr_changed	= queues_attr_changed,
	.tick		= queues_tick,
	.schedule	= queues_schedule,
	.setparam_attr	= queues_setparam_attr,
};

/* What saakm_runqueue_init() must refuse: a bit for each that it did not. */
static unsigned int __init wrong_inits(void)
{
	struct saakm_rq rq;

	return (saakm_runqueue_init(&rq, 0, SAAKM_RQ_FIFO, queues_key) != -EINVAL) |
	       (saakm_runqueue_init(&rq, 0, SAAKM_RQ_LIST, NULL) != -EINVAL) << 1 |
	       (saakm_runqueue_init(&rq, 0, SAAKM_RQ_RBTREE, NULL) != -EINVAL) << 2 |
	       (saakm_runqueue_init(&rq, 9999, SAAKM_RQ_FIFO, NULL) != -EINVAL) << 3 |
	       (saakm_runqueue_init(&rq, -1, SAAKM_RQ_FIFO, NULL) != -EINVAL) << 4 |
	       (saakm_runqueue_init(&rq, 0, SAAKM_RQ_NONE, NULL) != -EINVAL) << 5 |
	       (saakm_runqueue_init(&rq, 0, 7, queues_key) != -EINVAL) << 6;
}

static int __init queues_module_init(void)
{
	unsigned int missed = wrong_inits();

	if (missed) {
		pr_err("queues: saakm_runqueue_init() accepted nonsense: %#x\n", missed);
		return -EBADE;
	}
	return saakm_add_policy(&queues);
}

static void __exit queues_module_exit(void)
{
	saakm_remove_policy(&queues);
}

module_init(queues_module_init);
module_exit(queues_module_exit);
MODULE_DESCRIPTION("SaaKM test: checks its runqueues");
MODULE_LICENSE("GPL");
