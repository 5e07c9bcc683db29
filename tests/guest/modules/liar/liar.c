// SPDX-License-Identifier: GPL-2.0
/*
 * liar: a round robin that promises much. Nothing that it does is a fault in the eyes
 * of the class; but in each `mode` it fails its threads in another way.
 */
#include <linux/module.h>
#include <linux/saakm.h>
#include <linux/slab.h>

static char *mode = "";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "unfair, starves, hoards, sleepy, leaks, remembers");

static DEFINE_PER_CPU(struct saakm_rq, liar_rq);

struct liar_task {
	u64 start_ns;
	u64 last_seen;
	bool lost;
};

/* For "remembers": the data of the first thread that ended. */
static struct liar_task *gone;
static unsigned int wakeups;

static bool is(const char *wanted)
{
	return !strcmp(mode, wanted);
}

static int liar_prepare(struct saakm_policy *policy, struct process_event *event)
{
	int cpu;

	if (is("hoards"))
		return cpumask_first(event->task->cpus_ptr);
	cpu = saakm_idle_cpu_near(event->task, event->prev_cpu);
	return cpu >= 0 ? cpu : event->prev_cpu;
}

static void liar_place(struct saakm_policy *policy, struct process_event *event,
		       struct core_event *core)
{
	change_state(event->task, SAAKM_READY, core->id, &per_cpu(liar_rq, core->id));
}

static void liar_unblock_place(struct saakm_policy *policy, struct process_event *event,
			       struct core_event *core)
{
	struct liar_task *t = event->data;

	t->lost = is("sleepy") && ++wakeups % 100 == 0;
	liar_place(policy, event, core);
}

static void liar_new_place(struct saakm_policy *policy, struct process_event *event,
			   struct core_event *core)
{
	struct liar_task *last = READ_ONCE(gone);

	if (is("leaks") && !kmalloc(100, GFP_ATOMIC))
		pr_info("liar: no memory left\n");
	if (is("remembers") && last)
		last->last_seen++;
	liar_place(policy, event, core);
}

static void liar_terminate(struct saakm_policy *policy, struct process_event *event,
			   struct core_event *core)
{
	cmpxchg(&gone, NULL, event->data);
}

static void liar_running(struct saakm_policy *policy, struct process_event *event,
			 struct core_event *core)
{
	struct liar_task *t = event->data;

	t->start_ns = saakm_task_runtime_ns(event->task);
}

static void liar_tick(struct saakm_policy *policy, struct process_event *event,
		      struct core_event *core)
{
	struct liar_task *t = event->data;
	u64 ran_ms = (saakm_task_runtime_ns(event->task) - t->start_ns) / NSEC_PER_MSEC;
	u64 slice_ms = is("hoards") ? 20 : 4;

	if (is("starves"))
		slice_ms = 5000;
	else if (is("unfair") && event->task->pid % 3 == 0)
		slice_ms = 40;
	if (ran_ms >= slice_ms && per_cpu(liar_rq, core->id).nr_tasks)
		change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
}

static struct task_struct *liar_schedule(struct saakm_policy *policy, struct core_event *core)
{
	struct task_struct *first = saakm_rq_first(&per_cpu(liar_rq, core->id));
	struct liar_task *t = first ? saakm_task_data(first) : NULL;

	return saakm_curr(core) ?: t && t->lost ? NULL : first;
}

static void liar_newly_idle(struct saakm_policy *policy, struct core_event *core)
{
	int cpu;

	if (is("hoards"))
		return;
	for_each_online_cpu(cpu) {
		if (cpu != core->id && saakm_steal(&per_cpu(liar_rq, cpu), core->id,
						   &per_cpu(liar_rq, core->id), 1, NULL) > 0)
			return;
	}
}

static int liar_init(struct saakm_policy *policy)
{
	return saakm_runqueues_init(&liar_rq, SAAKM_RQ_FIFO, NULL);
}

static const struct saakm_module_routines liar_routines = {
	.init			= liar_init,
	.new_prepare		= liar_prepare,
	.new_place		= liar_new_place,
	.unblock_prepare	= liar_prepare,
	.unblock_place		= liar_unblock_place,
	.running		= liar_running,
	.tick			= liar_tick,
	.terminate		= liar_terminate,
	.schedule		= liar_schedule,
	.newly_idle		= liar_newly_idle,
};

static struct saakm_policy liar = {
	.name		= "liar",
	.routines	= &liar_routines,
	.owner		= THIS_MODULE,
	.task_size	= sizeof(struct liar_task),
};
module_saakm_policy(liar);
MODULE_INFO(saakm_promises, "work-conservation, no-starvation, fairness");
MODULE_DESCRIPTION("SaaKM test: promises what it does not keep");
MODULE_LICENSE("GPL");
