// SPDX-License-Identifier: GPL-2.0
/* Who is elected, and who never is. */
#include "wrong.h"

#include <linux/random.h>

/* starve: the prey waits for ever. */
static struct task_struct *starve_schedule(struct core_event *core)
{
	struct task_struct *task = saakm_curr(core);

	if (task)
		return task;
	saakm_for_each_task(task, wrong_rq(core->id)) {
		if (!is_prey(task) || !wrong_now())
			return task;
	}
	return NULL;
}

static struct task_struct *elect_nobody(struct core_event *core)
{
	return wrong_now() ? NULL : good_schedule(core);
}

/* strict: by nice value alone, whatever the thread that waits holds. */
static int nicer(const struct task_struct *a, const struct task_struct *b)
{
	return a->static_prio - b->static_prio;
}

static void strict_tick(struct process_event *event, struct core_event *core)
{
	struct task_struct *first = saakm_rq_first(wrong_rq(core->id));

	if (first && nicer(first, event->task) < 0)
		change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
}

static bool strict_preempt(struct task_struct *running, struct task_struct *woken)
{
	return nicer(woken, running) < 0;
}

static struct task_struct *strict_schedule(struct core_event *core)
{
	wrong_now();
	return good_schedule(core);
}

/* elect_foreign: another policy's thread, or one of its own that sleeps. */
static struct task_struct *elect_foreign(struct core_event *core)
{
	struct task_struct *next = NULL;

	scoped_guard(rcu)
		next = foreign_waiting(-1);
	return next && wrong_now() ? next : good_schedule(core);
}

static struct task_struct *elect_error(struct core_event *core)
{
	return wrong_now() ? ERR_PTR(-EAGAIN) : good_schedule(core);
}

/* Orders that are none. */

static int random_order(const struct task_struct *a, const struct task_struct *b)
{
	return wrong_now() ? (int)(get_random_u32() & 3) - 1 : 0;
}

/* order_changes: by a number that is another one at each tick, while threads wait. */
static int order_salt;

static int salted_order(const struct task_struct *a, const struct task_struct *b)
{
	int salt = READ_ONCE(order_salt);

	return (a->pid ^ salt) - (b->pid ^ salt);
}

static void order_changes(struct process_event *event, struct core_event *core)
{
	if (wrong_now())
		WRITE_ONCE(order_salt, order_salt + 1);
	if (salted_order(event->task, saakm_rq_first(&core->rq) ?: event->task) > 0)
		change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
}

/* order_meddles: gives up, and asks the class to do more, in the midst of a change. */
static int order_meddles(const struct task_struct *a, const struct task_struct *b)
{
	if (wrong_now()) {
		saakm_move_task((struct task_struct *)b, other_cpu(task_cpu(b)),
				wrong_rq(other_cpu(task_cpu(b))));
		saakm_eject(&wrong_policy, SAAKM_EXIT_POLICY_ERROR, a, "gives up in its order");
	}
	return 0;
}

const struct wrong_fault election_faults[] = {
	{ "starve", { .schedule = starve_schedule } },
	{ "elect_nobody", { .schedule = elect_nobody } },
	{ "strict", { .schedule = strict_schedule, .tick = strict_tick,
		    .wakeup_preempt = strict_preempt }, .order = nicer },
	{ "elect_foreign", { .schedule = elect_foreign } },
	{ "elect_error", { .schedule = elect_error } },
	{ "random_order", {}, .order = random_order },
	{ "order_changes", { .tick = order_changes, .wakeup_preempt = saakm_preempt_by_order },
	  .order = salted_order, .class_queue = true },
	{ "order_meddles", {}, .order = order_meddles },
	{}
};
