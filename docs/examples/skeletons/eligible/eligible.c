// SPDX-License-Identifier: GPL-2.0
/*
 * eligible: EEVDF. Of the threads that have had no more than their share, the one whose
 * virtual deadline is the earliest. Each core is fair by itself, and a thread takes its
 * lag along.
 */
#include <linux/saakm.h>

#define SLICE_US	3000U	/* of a thread without a parameter */

struct eligible_core {
	s64	average_vt, rest, load;	/* of the runtimes, by weight; sum of weights */
};

struct eligible_task {
	s64	runtime_vt, deadline_vt, lag_vt, slice_ns, weight;	/* weight 0: not runnable */
};

static u64 eligible_runtime(const struct task_struct *task)
{
	return ((struct eligible_task *)saakm_task_data(task))->runtime_vt;
}

static u64 eligible_deadline(const struct task_struct *task)
{
	return ((struct eligible_task *)saakm_task_data(task))->deadline_vt;
}

/* The average follows. What is left of a division is kept, as it would add up in the end. */
static void eligible_set(struct eligible_core *c, struct eligible_task *t,
			 s64 runtime_vt, s64 weight)
{
	c->rest += (runtime_vt - c->average_vt) * weight -
		   (t->runtime_vt - c->average_vt) * t->weight;
	c->load += weight - t->weight;
	c->average_vt += c->rest / (c->load ?: 1);
	c->rest %= c->load ?: 1;
	t->runtime_vt = runtime_vt;
	t->weight = weight;
}

static void eligible_place(struct process_event *event, struct core_event *core)
{
	struct eligible_task *t = event->data;
	struct eligible_core *c = core->data;

	eligible_set(c, t, c->average_vt - t->lag_vt, saakm_task_weight(event->task));
	t->slice_ns = min(saakm_task_param(event->task) ?: SLICE_US, 100000U) * NSEC_PER_USEC;
	t->deadline_vt = t->runtime_vt + t->slice_ns * 1024 / t->weight;
	saakm_set_slice(event->task, t->slice_ns);
}

/* Who dies in its sleep, or after it was sent away, has left already: it weighs nothing. */
static void eligible_leave(struct process_event *event, struct core_event *core)
{
	struct eligible_task *t = event->data;
	struct eligible_core *c = core->data;

	t->lag_vt = c->average_vt - t->runtime_vt;
	eligible_set(c, t, t->runtime_vt, 0);
}

static void eligible_moved(struct process_event *event, struct core_event *from,
			   struct core_event *core)
{
	eligible_leave(event, from);
	eligible_place(event, core);
}

/* A request that has been served is followed by the next one; a new nice value counts now. */
static void eligible_used(struct process_event *event, struct core_event *core, u64 used_ns)
{
	s64 weight = saakm_task_weight(event->task);
	struct eligible_task *t = event->data;

	eligible_set(core->data, t, t->runtime_vt + used_ns * 1024 / weight, weight);
	if (!saakm_before(t->runtime_vt, t->deadline_vt))
		t->deadline_vt = t->runtime_vt + t->slice_ns * 1024 / weight;
}

/* Who was forked shares no data with its parent, and who wakes somebody to sleep does so soon. */
static bool eligible_wakeup_preempt(struct task_struct *running, struct task_struct *woken)
{
	if (saakm_task_flags(woken) & (SAAKM_EV_FORK | SAAKM_EV_SYNC))
		return false;
	return saakm_before(eligible_deadline(woken), eligible_deadline(running));
}

static struct task_struct *eligible_schedule(struct core_event *core)
{
	s64 average_vt = ((struct eligible_core *)core->data)->average_vt;
	struct task_struct *next = saakm_rq_first_within(&core->rq, average_vt);
	struct task_struct *curr = saakm_curr(core);

	if (curr && (!next || (!saakm_before(average_vt, eligible_runtime(curr)) &&
			       !saakm_before(eligible_deadline(next), eligible_deadline(curr)))))
		return curr;
	/* If nobody who waits is eligible, who runs is; without one, nobody shall wait in vain. */
	return next ?: core->curr ?: saakm_rq_first(&core->rq);
}

SAAKM_POLICY(eligible,
	     .queue = SAAKM_RQ_RBTREE, .key = eligible_deadline, .bound = eligible_runtime,
	     .task_size = sizeof(struct eligible_task), .core_size = sizeof(struct eligible_core),
	     .place = eligible_place, .moved = eligible_moved,
	     .block = eligible_leave, .terminate = eligible_leave, .used = eligible_used,
	     .wakeup_preempt = eligible_wakeup_preempt, .schedule = eligible_schedule,
	     .newly_idle = saakm_pull_idle);
