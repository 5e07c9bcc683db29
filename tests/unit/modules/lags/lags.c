// SPDX-License-Identifier: GPL-2.0
/*
 * lags: policies/eevdf, which ejects itself as soon as one of its invariants does not hold: at
 * each election, whenever CPU time is charged, and when a thread leaves. All threads of the core
 * are counted anew for that. The invariants are those that faults of the kernel's EEVDF broke.
 * Threads that are named "short" have a slice of 0.1 ms, as if by sched_setattr().
 */
#include <linux/saakm.h>

#undef SAAKM_POLICY
#define SAAKM_POLICY(_name, ...)					\
	static struct saakm_policy _name = {				\
		.name = "lags", .owner = THIS_MODULE, ##__VA_ARGS__	\
	}
#include "../../../../policies/eevdf/eevdf.c"

#define FAILS(task, fmt, ...)							\
	saakm_eject(&eevdf, SAAKM_EXIT_POLICY_ERROR, task, "lags: " fmt, ##__VA_ARGS__)

static unsigned int elections, choices, delays;
module_param(elections, uint, 0444);
module_param(choices, uint, 0444);
module_param(delays, uint, 0444);

static bool flips;
module_param(flips, bool, 0444);
MODULE_PARM_DESC(flips, "whenever time is charged what can be set changes");

/* As if somebody wrote to the module's parameters under way. */
static void lags_flip(void)
{
	static bool * const features[] = {
		&place_lag, &place_deadline_initial, &place_rel_deadline, &run_to_parity,
		&preempt_short, &pick_buddy, &delay_dequeue, &delay_zero, &wakeup_preemption,
		&force_preempt,
	};
	static u32 drawn;
	unsigned int which;

	drawn = drawn * 1103515245 + 12345;
	which = (drawn >> 16) % (ARRAY_SIZE(features) + 2);
	if (which < ARRAY_SIZE(features))
		*features[which] = !*features[which];
	else if (which == ARRAY_SIZE(features))
		next_buddy = (drawn >> 8) % ARRAY_SIZE(buddy_names);
	else
		base_slice_ns = SLICE_MIN_NS + drawn % (SLICE_MAX_NS - SLICE_MIN_NS);
}

/* Sums, and the earliest deadline among the eligible, with no help of tree or sums. */
struct lags_count {
	s64			sum_vt, load;
	struct task_struct	*earliest;
};

static void lags_look_at(struct lags_count *count, const struct eevdf_core *c,
			 struct task_struct *task)
{
	const struct eevdf_task *t = eevdf_task(task);

	count->sum_vt += (s64)(t->vruntime - c->zero_vt) * t->weight;
	count->load += t->weight;
	if (t->weight != (eevdf_idle(task) ? IDLE_WEIGHT : saakm_task_weight(task)))
		FAILS(task, "weight %u", t->weight);
	if (t->slice_ns < SLICE_MIN_NS || t->slice_ns > SLICE_MAX_NS)
		FAILS(task, "a slice of %u ns", t->slice_ns);
	if (t->relative)
		FAILS(task, "it is queued, and its deadline is relative");
	/* Who is alone, or runs, may be beyond it until it is charged. */
	if (saakm_task_state(task) == SAAKM_READY && !saakm_before(t->vruntime, t->deadline))
		FAILS(task, "a deadline that is over");
}

/* Lag is kept: the sum of all lags, by weight, is 0, or what rounding leaves. */
static void lags_check_sums(struct core_event *core, struct task_struct *running)
{
	const struct eevdf_core *c = core->data;
	struct lags_count count = {};
	struct task_struct *task;
	s64 lags;

	saakm_for_each_task(task, &core->rq)
		lags_look_at(&count, c, task);
	if (running)
		lags_look_at(&count, c, running);
	if (count.sum_vt != c->sum_vt || count.load != c->load)
		FAILS(running, "sum %lld and load %lld are said to be %lld and %lld",
		      count.sum_vt, count.load, c->sum_vt, c->load);
	lags = (s64)(eevdf_average(c) - c->zero_vt) * c->load - c->sum_vt;
	if (lags > 0 || lags <= -max(c->load, 1LL))
		FAILS(running, "lags add up to %lld", lags);
	if (c->next && saakm_task_delayed(c->next))
		FAILS(c->next, "the buddy sleeps");
}

static void lags_check_choice(struct core_event *core, struct task_struct *next)
{
	const struct eevdf_core *c = core->data;
	struct task_struct *task, *earliest = NULL;

	if (!next || core->nr_runnable < 2)
		return;
	choices++;
	if (!eevdf_eligible(c, eevdf_task(next)))
		FAILS(next, "it is picked, and not eligible");
	if (next == core->curr || next == c->next)
		return;
	saakm_for_each_task(task, &core->rq) {
		if (!earliest && eevdf_eligible(c, eevdf_task(task)))
			earliest = task;
	}
	if (next != earliest)
		FAILS(next, "it is picked, and another has an earlier deadline");
	if (eevdf_idle(next) && core->curr && !eevdf_idle(core->curr) &&
	    saakm_before(eevdf_deadline(core->curr), eevdf_deadline(next)) &&
	    eevdf_eligible(c, eevdf_task(core->curr)))
		FAILS(next, "it goes before one whose deadline is earlier");
}

static struct task_struct *lags_schedule(struct core_event *core)
{
	struct task_struct *next;

	elections++;
	lags_check_sums(core, core->curr);
	next = eevdf_schedule(core);
	lags_check_choice(core, next);
	return next;
}

static void lags_used(struct process_event *event, struct core_event *core, u64 used_ns)
{
	if (flips)
		lags_flip();
	eevdf_used(event, core, used_ns);
	lags_check_sums(core, event->task);
}

/* Lag has a limit, and a debt is not slept away. */
static void lags_block(struct process_event *event, struct core_event *core)
{
	struct eevdf_task *t = event->data;
	s64 limit_vt;

	delays += saakm_task_delayed(event->task);
	eevdf_block(event, core);
	limit_vt = eevdf_vt(t, max_t(u64, 2 * (u64)t->slice_ns, TICK_NSEC));
	if (t->lag_vt > limit_vt || t->lag_vt < -limit_vt)
		FAILS(event->task, "a lag of %lld, the limit is %lld", t->lag_vt, limit_vt);
	if (t->lag_vt > 0 && delay_zero && saakm_task_delayed(event->task) &&
	    !(event->flags & SAAKM_EV_OUSTED))
		FAILS(event->task, "it slept in the queue, and has gained %lld", t->lag_vt);
}

/* Who has had more than its share stays; and nobody else, who may have to come back at once. */
static bool lags_block_delay(struct process_event *event, struct core_event *core)
{
	bool stays = eevdf_block_delay(event, core), ahead;

	ahead = saakm_before(eevdf_average(core->data), eevdf_vruntime(event->task));
	if (stays != (delay_dequeue && ahead))
		FAILS(event->task, "it sleeps, is %sahead, and %s", ahead ? "" : "not ",
		      stays ? "stays" : "has not stayed");
	return stays;
}

/* No workload says sched_runtime: __setscheduler_params() stores it so. */
static void lags_new_place(struct process_event *event, struct core_event *core)
{
	if (!strcmp(event->task->comm, "short")) {
		event->task->se.custom_slice = 1;
		event->task->se.slice = SLICE_MIN_NS;
	}
	eevdf_new_place(event, core);
}

/* Is it eligible, and has nobody else who is an earlier deadline? */
static bool lags_is_first(struct core_event *core, struct task_struct *running,
			  struct task_struct *woken)
{
	const struct eevdf_core *c = core->data;
	struct task_struct *task;

	if (!eevdf_eligible(c, eevdf_task(woken)))
		return false;
	saakm_for_each_task(task, &core->rq) {
		if (eevdf_eligible(c, eevdf_task(task)) &&
		    saakm_before(eevdf_deadline(task), eevdf_deadline(woken)))
			return false;
	}
	return !eevdf_eligible(c, eevdf_task(running)) ||
	       saakm_before(eevdf_deadline(woken), eevdf_deadline(running));
}

/* A shorter slice waits for nobody's turn. */
static bool lags_wakeup_preempt(struct task_struct *running, struct task_struct *woken)
{
	bool asked = test_tsk_need_resched(running);
	bool preempts = eevdf_wakeup_preempt(running, woken);

	if (!preempts && !asked && eevdf_task(woken)->slice_ns < eevdf_task(running)->slice_ns &&
	    eevdf_task(woken)->custom_ns &&
	    lags_is_first(saakm_core_of(&eevdf, task_cpu(woken)), running, woken))
		FAILS(woken, "its slice is shorter, it goes first, and waits");
	return preempts;
}

static int __init lags_init(void)
{
	eevdf.routines.schedule = lags_schedule;
	eevdf.routines.used = lags_used;
	eevdf.routines.block = lags_block;
	eevdf.routines.block_delay = lags_block_delay;
	eevdf.routines.new_place = lags_new_place;
	eevdf.routines.wakeup_preempt = lags_wakeup_preempt;
	return saakm_add_policy(&eevdf);
}
module_init(lags_init);

static void __exit lags_exit(void)
{
	saakm_remove_policy(&eevdf);
}
module_exit(lags_exit);

MODULE_DESCRIPTION("SaaKM policy eevdf, checked");
MODULE_LICENSE("GPL");
