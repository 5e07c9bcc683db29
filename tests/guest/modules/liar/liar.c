// SPDX-License-Identifier: GPL-2.0
/*
 * liar: a round robin that promises much. Nothing that it does is a fault in the eyes
 * of the class; but in each `mode` it fails its threads in another way.
 */
#include <linux/saakm.h>
#include <linux/slab.h>

static char *mode = "";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "unfair, starves, hoards, sleepy, leaks, remembers");

struct liar_task {
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

static int liar_prepare(struct process_event *event)
{
	return is("hoards") ? cpumask_first(event->task->cpus_ptr) : saakm_idle_prepare(event);
}

/* Of a whole number of ticks. */
static unsigned int slice_ms(const struct task_struct *task)
{
	if (is("starves"))
		return 5000;
	if (is("unfair") && task->pid % 3 == 0)
		return 40;
	return is("hoards") ? 20 : 4;
}

static void liar_unblock_place(struct process_event *event, struct core_event *core)
{
	struct liar_task *t = event->data;

	t->lost = is("sleepy") && ++wakeups % 100 == 0;
}

static void liar_new_place(struct process_event *event, struct core_event *core)
{
	struct liar_task *last = READ_ONCE(gone);

	saakm_set_slice(event->task, (u64)slice_ms(event->task) * NSEC_PER_MSEC);
	if (is("leaks") && !kmalloc(100, GFP_ATOMIC))
		pr_info("liar: no memory left\n");
	if (is("remembers") && last)
		last->last_seen++;
}

static void liar_terminate(struct process_event *event, struct core_event *core)
{
	cmpxchg(&gone, NULL, event->data);
}

static struct task_struct *liar_schedule(struct core_event *core)
{
	struct task_struct *first = saakm_rq_first(&core->rq);
	struct liar_task *t = first ? saakm_task_data(first) : NULL;

	return saakm_curr(core) ?: t && t->lost ? NULL : first;
}

static void liar_newly_idle(struct core_event *core)
{
	if (!is("hoards"))
		saakm_pull_idle(core);
}

SAAKM_POLICY(liar,
	     .task_size		= sizeof(struct liar_task),
	     .prepare		= liar_prepare,
	     .new_place		= liar_new_place,
	     .unblock_place	= liar_unblock_place,
	     .requeue		= liar_unblock_place,
	     .terminate		= liar_terminate,
	     .schedule		= liar_schedule,
	     .newly_idle	= liar_newly_idle);
MODULE_INFO(saakm_promises, "work-conservation, no-starvation, fairness");
