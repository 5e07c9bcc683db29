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
static u64 nice_key(const struct task_struct *task)
{
	return task->static_prio;
}

static void strict_tick(struct process_event *event, struct core_event *core)
{
	struct task_struct *first = saakm_rq_first(wrong_rq(core->id));

	if (first && nice_key(first) < nice_key(event->task))
		change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
}

static bool strict_preempt(struct task_struct *running, struct task_struct *woken)
{
	return nice_key(woken) < nice_key(running);
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

/*
 * Keys that order nothing. The class reads each once, when the thread is queued, so they may
 * be anything. Of three that are far apart none may be the least: they wrap around.
 */

static u64 random_key(const struct task_struct *task)
{
	return wrong_now() ? get_random_u64() : 0;
}

static struct task_struct *first_within(struct core_event *core)
{
	return saakm_curr(core) ?: saakm_rq_first_within(&core->rq, get_random_u64()) ?:
	       saakm_rq_first(&core->rq);
}

/* key_changes: a number that is another one at each tick, while threads wait. */
static int key_salt;

static u64 salted_key(const struct task_struct *task)
{
	return task->pid ^ READ_ONCE(key_salt);
}

static void key_changes(struct process_event *event, struct core_event *core)
{
	struct task_struct *first = saakm_rq_first(&core->rq);

	if (wrong_now())
		WRITE_ONCE(key_salt, key_salt + 1);
	if (first && salted_key(first) < salted_key(event->task))
		change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
}

/* key_meddles: gives up, and asks the class to do more, in the midst of a change. */
static u64 key_meddles(const struct task_struct *task)
{
	struct task_struct *p = (struct task_struct *)task;
	int other = other_cpu(task_cpu(p));

	if (wrong_now()) {
		saakm_switch_queue(p, wrong_rq(task_cpu(p)));
		saakm_move_task(p, other, wrong_rq(other));
		saakm_eject(&wrong_policy, SAAKM_EXIT_POLICY_ERROR, p, "gives up in its key");
	}
	return 0;
}

/* key_changes_state: the thread shall be in another queue than where its key is asked for. */
static u64 key_changes_state(const struct task_struct *task)
{
	if (wrong_now())
		change_state((struct task_struct *)task, SAAKM_READY, task_cpu(task),
			     wrong_rq(task_cpu(task)));
	return 0;
}

const struct wrong_fault election_faults[] = {
	{ "starve", { .schedule = starve_schedule } },
	{ "elect_nobody", { .schedule = elect_nobody } },
	{ "strict", { .schedule = strict_schedule, .tick = strict_tick,
		    .wakeup_preempt = strict_preempt }, .key = nice_key },
	{ "elect_foreign", { .schedule = elect_foreign } },
	{ "elect_error", { .schedule = elect_error } },
	{ "random_key", {}, .key = random_key },
	{ "random_bound", { .schedule = first_within }, .key = random_key, .bound = random_key,
	  .class_queue = true },
	{ "key_changes", { .tick = key_changes, .wakeup_preempt = saakm_preempt_by_order },
	  .key = salted_key, .class_queue = true },
	{ "key_meddles", {}, .key = key_meddles },
	{ "key_changes_state", {}, .key = key_changes_state },
	{}
};
