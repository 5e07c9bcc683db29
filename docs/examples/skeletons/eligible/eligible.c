// SPDX-License-Identifier: GPL-2.0
/*
 * eligible: EEVDF. Of the threads that have had no more than their share, the one whose
 * virtual deadline is the earliest. Beside it NEXT_BUDDY: who was woken goes before others.
 * Each core is fair by itself, and a thread takes its lag along.
 */
#include <linux/math64.h>
#include <linux/saakm.h>

#define SLICE_US	3000			/* of a thread without a parameter */
#define SYNC_NS		(500 * NSEC_PER_USEC)	/* who is about to sleep runs for so long */
#define LAG_VT		(6 * NSEC_PER_MSEC)
#define ELIGIBLE(_task)	((struct eligible_task *)saakm_task_data(_task))

struct eligible_core {
	u64			share_vt, began_ns, load;	/* the turn began; sum of weights */
	struct task_struct	*buddy;				/* READY here, or NULL */
	unsigned int		buddies, late;
};

struct eligible_task {
	u64			runtime_vt, deadline_vt;
	s64			lag_vt, weight;
	struct core_event	*core;		/* where it counts; NULL: it is not runnable */
};

static u64 eligible_deadline(const struct task_struct *task)
{
	return ELIGIBLE(task)->deadline_vt;
}

static u64 eligible_runtime(const struct task_struct *task)
{
	return ELIGIBLE(task)->runtime_vt;
}

static u64 eligible_slice_ns(const struct task_struct *task)
{
	return (saakm_task_param(task) ?: SLICE_US) * (u64)NSEC_PER_USEC;
}

/* Who comes with a lag, or leaves with one, changes what is left for the others. */
static void eligible_count(struct eligible_core *c, struct eligible_task *t, s64 weight)
{
	c->load += weight;
	if (c->load)
		c->share_vt -= div64_s64(t->lag_vt * weight, c->load);
}

static void eligible_place(struct process_event *event, struct core_event *core)
{
	u64 ns = eligible_slice_ns(event->task) >> !!(event->flags & SAAKM_EV_FORK);
	struct eligible_task *t = event->data;
	struct eligible_core *c = core->data;

	t->core = core;
	t->weight = saakm_task_weight(event->task);
	eligible_count(c, t, t->weight);
	t->runtime_vt = c->share_vt - t->lag_vt;
	t->deadline_vt = t->runtime_vt + saakm_weighted_ns(event->task, ns);
	saakm_set_slice(event->task, eligible_slice_ns(event->task));
}

static void eligible_leave(struct process_event *event, struct core_event *core)
{
	struct eligible_task *t = event->data;
	struct eligible_core *c = core->data;

	if (!t->core)
		return;		/* it has died in its sleep, or was sent away */
	if (c->buddy == event->task)
		c->buddy = NULL;
	t->lag_vt = clamp((s64)(c->share_vt - t->runtime_vt), -(s64)LAG_VT, (s64)LAG_VT);
	eligible_count(c, t, -t->weight);
	t->core = NULL;
}

static void eligible_moved(struct process_event *event, struct core_event *from,
			struct core_event *core)
{
	eligible_leave(event, from);
	eligible_place(event, core);
}

/* A request that has been served is followed by the next one. */
static void eligible_used(struct process_event *event, struct core_event *core, u64 used_ns)
{
	struct eligible_task *t = event->data;
	struct eligible_core *c = core->data;

	c->share_vt += used_ns * 1024 / c->load;
	t->runtime_vt += saakm_weighted_ns(event->task, used_ns);
	if (!saakm_before(t->runtime_vt, t->deadline_vt))
		t->deadline_vt = t->runtime_vt +
			saakm_weighted_ns(event->task, eligible_slice_ns(event->task));
}

static void eligible_yield(struct process_event *event, struct core_event *core)
{
	struct eligible_task *t = event->data;

	t->deadline_vt += saakm_weighted_ns(event->task, eligible_slice_ns(event->task));
}

static void eligible_running(struct process_event *event, struct core_event *core)
{
	struct eligible_core *c = core->data;

	c->began_ns = saakm_clock_ns(core);
	c->late += saakm_before(c->share_vt, eligible_runtime(event->task));
	if (c->buddy != event->task)
		return;
	c->buddies++;
	c->buddy = NULL;
}

/* Of two buddies the one with the earlier deadline stays. Who is forked shares no data. */
static bool eligible_wakeup_preempt(struct task_struct *running, struct task_struct *woken)
{
	struct core_event *core = ELIGIBLE(woken)->core;
	struct eligible_core *c = core->data;

	if (saakm_task_flags(woken) & SAAKM_EV_FORK)
		return false;
	if (!c->buddy || saakm_before(eligible_deadline(woken), eligible_deadline(c->buddy)))
		c->buddy = woken;
	if (saakm_task_flags(woken) & SAAKM_EV_SYNC &&
	    saakm_clock_ns(core) - c->began_ns < SYNC_NS)
		return false;
	return saakm_before(eligible_deadline(woken), eligible_deadline(running));
}

/* Of the running thread the turn goes on; after that it must be eligible as well. */
static struct task_struct *eligible_schedule(struct core_event *core)
{
	struct eligible_core *c = core->data;
	struct task_struct *curr = core->curr, *next = c->buddy;

	if (!next || saakm_before(c->share_vt, eligible_runtime(next)))
		next = saakm_rq_first_within(&core->rq, c->share_vt);
	if (curr && !saakm_curr(core) && saakm_before(c->share_vt, eligible_runtime(curr)))
		curr = NULL;
	if (curr && (!next || !saakm_before(eligible_deadline(next), eligible_deadline(curr))))
		return curr;
	return next ?: saakm_rq_first(&core->rq);	/* rounding may leave nobody */
}

static void eligible_dump(struct saakm_policy *policy, struct seq_buf *text)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct eligible_core *c = saakm_core_of(policy, cpu)->data;

		seq_buf_printf(text, "cpu %d: load %llu, %u buddies, %u late\n", cpu,
			       READ_ONCE(c->load), READ_ONCE(c->buddies), READ_ONCE(c->late));
	}
}

SAAKM_POLICY(eligible,
	     .queue = SAAKM_RQ_RBTREE, .key = eligible_deadline, .bound = eligible_runtime,
	     .task_size = sizeof(struct eligible_task), .core_size = sizeof(struct eligible_core),
	     .place = eligible_place, .moved = eligible_moved,
	     .block = eligible_leave, .terminate = eligible_leave,
	     .used = eligible_used, .yield = eligible_yield, .running = eligible_running,
	     .wakeup_preempt = eligible_wakeup_preempt, .schedule = eligible_schedule,
	     .newly_idle = saakm_pull_idle, .dump = eligible_dump);
