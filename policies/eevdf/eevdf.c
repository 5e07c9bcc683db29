// SPDX-License-Identifier: GPL-2.0
/*
 * eevdf: the fair class of Linux 6.12 (kernel/sched/fair.c) for one level, without groups.
 * Of the threads that have had no more than their share, the eligible ones, the one whose
 * virtual deadline is the earliest runs, until its deadline if run_to_parity is on. Lag, what
 * a thread is owed, is kept over sleep, migration and changes of weight.
 *
 * Features have the kernel's names, and are changed at run time by the module's parameters.
 * Where rules are the kernel's, its function is named. Groundwork: I. Stoica and H.
 * Abdel-Wahab, Earliest Eligible Virtual Deadline First (1995).
 */
#include <linux/saakm.h>

#include "features.h"

#define NICE_0_WEIGHT	1024
#define IDLE_WEIGHT	3
#define IDLE_INVERSE	1431655765U

/* Virtual times are ns at nice 0, and wrap around. */
struct eevdf_core {
	u64			zero_vt;	/* the others are relative to it */
	s64			sum_vt;		/* vruntime - zero_vt by weight, of all queued */
	s64			load;		/* sum of their weights */
	struct task_struct	*next;		/* the buddy: who is to run next, if eligible */
};

struct eevdf_task {
	u64	vruntime, deadline;
	s64	lag_vt;			/* while it is not queued */
	u32	weight, inverse;
	u32	slice_ns, custom_ns;	/* in effect; wanted by its user, or 0 */
	bool	relative;		/* deadline is, to vruntime, until it is placed again */
	bool	protected;		/* run_to_parity: nothing has ended its turn */
};

static struct eevdf_task *eevdf_task(const struct task_struct *task)
{
	return saakm_task_data(task);
}

static bool eevdf_idle(const struct task_struct *task)
{
	return saakm_task_param(task) == SCHED_IDLE;
}

static u64 eevdf_deadline(const struct task_struct *task)
{
	return eevdf_task(task)->deadline;
}

static u64 eevdf_vruntime(const struct task_struct *task)
{
	return eevdf_task(task)->vruntime;
}

/* calc_delta_fair() */
static u64 eevdf_vt(const struct eevdf_task *t, u64 ns)
{
	return likely(t->weight == NICE_0_WEIGHT) ? ns : mul_u64_u32_shr(ns, t->inverse, 22);
}

/* avg_vruntime(), rounded down: who is not ahead of it is eligible. */
static u64 eevdf_average(const struct eevdf_core *c)
{
	s64 sum_vt = c->sum_vt;

	if (!c->load)
		return c->zero_vt;
	if (sum_vt < 0)
		sum_vt -= c->load - 1;
	return c->zero_vt + div64_s64(sum_vt, c->load);
}

/* Keeps sums small. */
static u64 eevdf_rebase(struct eevdf_core *c)
{
	u64 average_vt = eevdf_average(c);

	c->sum_vt -= (s64)(average_vt - c->zero_vt) * c->load;
	c->zero_vt = average_vt;
	return average_vt;
}

/* entity_eligible(), without a division */
static bool eevdf_eligible(const struct eevdf_core *c, const struct eevdf_task *t)
{
	return c->sum_vt >= (s64)(t->vruntime - c->zero_vt) * c->load;
}

static void eevdf_add(struct eevdf_core *c, const struct eevdf_task *t)
{
	c->sum_vt += (s64)(t->vruntime - c->zero_vt) * t->weight;
	c->load += t->weight;
}

static void eevdf_remove(struct eevdf_core *c, const struct eevdf_task *t)
{
	c->sum_vt -= (s64)(t->vruntime - c->zero_vt) * t->weight;
	c->load -= t->weight;
}

/* entity_lag() */
static s64 eevdf_lag(struct eevdf_core *c, const struct eevdf_task *t)
{
	s64 limit_vt = eevdf_vt(t, max_t(u64, 2 * (u64)t->slice_ns, TICK_NSEC));
	s64 lag_vt = eevdf_rebase(c) - t->vruntime;

	return clamp(lag_vt, -limit_vt, limit_vt);
}

static void eevdf_renew_slice(struct eevdf_task *t)
{
	t->slice_ns = t->custom_ns ?: base_slice();
}

/* Slice and weight may be new: reweight_entity() of a thread that is not queued */
static void eevdf_read_params(const struct task_struct *task, struct eevdf_task *t)
{
	u32 weight = eevdf_idle(task) ? IDLE_WEIGHT : saakm_task_weight(task);

	t->custom_ns = saakm_task_slice_ns(task);
	if (weight == t->weight)
		return;
	if (t->weight)
		t->lag_vt = div_s64(t->lag_vt * t->weight, weight);
	t->weight = weight;
	t->inverse = eevdf_idle(task) ? IDLE_INVERSE : saakm_task_inverse(task);
}

/* place_entity(): its lag shall be what it was when it counts in the average itself. */
static void eevdf_join(struct eevdf_core *c, struct eevdf_task *t, bool initial)
{
	s64 lag_vt = 0;
	u64 slice_vt;

	if (place_lag && c->load)
		lag_vt = div64_s64(t->lag_vt * (c->load + t->weight), c->load);
	t->vruntime = eevdf_rebase(c) - lag_vt;
	eevdf_renew_slice(t);
	slice_vt = eevdf_vt(t, t->slice_ns);
	if (place_rel_deadline && t->relative)
		t->deadline += t->vruntime;
	else
		t->deadline = t->vruntime + (place_deadline_initial && initial ?
					     slice_vt / 2 : slice_vt);
	t->relative = false;	/* whatever place_rel_deadline has become meanwhile */
	t->protected = true;
	eevdf_add(c, t);
}

/* dequeue_entity(). Who does not sleep keeps its deadline. */
static void eevdf_part(struct eevdf_core *c, struct eevdf_task *t, bool sleeps)
{
	t->lag_vt = eevdf_lag(c, t);
	if (place_rel_deadline && !sleeps) {
		t->deadline -= t->vruntime;
		t->relative = true;
	}
	eevdf_remove(c, t);
}

static void eevdf_forget_buddy(struct eevdf_core *c, const struct task_struct *task)
{
	if (unlikely(c->next == task))
		c->next = NULL;
}

/* Events */

static void eevdf_new_place(struct process_event *event, struct core_event *core)
{
	eevdf_read_params(event->task, event->data);
	eevdf_join(core->data, event->data, event->flags & SAAKM_EV_FORK);
}

static void eevdf_unblock_place(struct process_event *event, struct core_event *core)
{
	eevdf_read_params(event->task, event->data);
	eevdf_join(core->data, event->data, false);
}

/* Its turn is over; what follows begins anew. It is the buddy no more. */
static void eevdf_requeue(struct process_event *event, struct core_event *core)
{
	struct eevdf_task *t = event->data;

	t->protected = true;
	eevdf_forget_buddy(core->data, event->task);
}

/* dequeue_entity(): who has had more than its share shall not lose its debt by sleeping. */
static bool eevdf_block_delay(struct process_event *event, struct core_event *core)
{
	eevdf_forget_buddy(core->data, event->task);
	return delay_dequeue && !eevdf_eligible(core->data, event->data);
}

/* requeue_delayed_entity(): nor shall it gain by it. */
static void eevdf_unblock_delayed(struct process_event *event, struct core_event *core)
{
	struct eevdf_core *c = core->data;
	struct eevdf_task *t = event->data;
	bool waits = saakm_task_state(event->task) == SAAKM_READY;

	/* Has it the CPU still? Fair keeps the lag where it marked that its turn is protected. */
	if (waits || delay_zero)
		t->protected = waits;
	if (!delay_zero || eevdf_lag(c, t) <= 0)
		return;
	eevdf_remove(c, t);
	t->lag_vt = 0;
	eevdf_join(c, t, false);
}

static void eevdf_block(struct process_event *event, struct core_event *core)
{
	struct eevdf_task *t = event->data;

	eevdf_forget_buddy(core->data, event->task);
	eevdf_part(core->data, t, !(event->flags & SAAKM_EV_OUSTED));
	/* finish_delayed_dequeue_entity() */
	if (delay_zero && saakm_task_delayed(event->task) && !(event->flags & SAAKM_EV_OUSTED))
		t->lag_vt = min(t->lag_vt, 0);
}

/* It dies, or leaves. Who sleeps is not queued. */
static void eevdf_terminate(struct process_event *event, struct core_event *core)
{
	enum saakm_state state = saakm_task_state(event->task);

	eevdf_forget_buddy(core->data, event->task);
	if (state == SAAKM_BLOCKED)
		return;
	eevdf_rebase(core->data);	/* an empty queue keeps the time that it had */
	eevdf_remove(core->data, event->data);
}

static void eevdf_moved(struct process_event *event, struct core_event *from,
			struct core_event *core)
{
	eevdf_forget_buddy(from->data, event->task);
	eevdf_part(from->data, event->data, false);
	eevdf_join(core->data, event->data, false);
}

/* As if it were taken out and put back, which is what the fair class does. */
static void eevdf_attr_changed(struct process_event *event, struct core_event *core)
{
	struct eevdf_task *t = event->data;

	eevdf_forget_buddy(core->data, event->task);
	eevdf_part(core->data, t, false);
	eevdf_read_params(event->task, t);
	eevdf_join(core->data, t, false);
}

/* did_preempt_short() */
static bool eevdf_preempted_short(const struct eevdf_core *c, const struct eevdf_task *t)
{
	return preempt_short && !t->protected && !eevdf_eligible(c, t);
}

/* update_deadline(): a request that has been served is followed by the next. */
static bool eevdf_advance(struct eevdf_core *c, struct eevdf_task *t, u64 used_vt)
{
	t->vruntime += used_vt;
	c->sum_vt += used_vt * t->weight;
	if (saakm_before(t->vruntime, t->deadline))
		return false;
	eevdf_renew_slice(t);
	t->deadline = t->vruntime + eevdf_vt(t, t->slice_ns);
	t->protected = false;
	eevdf_rebase(c);
	return true;
}

/* update_curr() */
static void eevdf_used(struct process_event *event, struct core_event *core, u64 used_ns)
{
	struct eevdf_core *c = core->data;
	struct eevdf_task *t = event->data;
	bool served = eevdf_advance(c, t, eevdf_vt(t, used_ns));

	if (core->nr_runnable > 1 && (served || eevdf_preempted_short(c, t))) {
		saakm_preempt(core);
		eevdf_forget_buddy(c, event->task);
	}
}

/* All that happens at a tick is that time is used: also of a thread that is alone. */
static void eevdf_tick(struct process_event *event, struct core_event *core)
{
}

/* yield_task_fair(): it forfeits what is left of its request. */
static void eevdf_yield(struct process_event *event, struct core_event *core)
{
	struct eevdf_core *c = core->data;
	struct eevdf_task *t = event->data;

	eevdf_forget_buddy(c, event->task);
	if (eevdf_eligible(c, t))
		eevdf_advance(c, t, t->deadline - t->vruntime);
}

/* pick_eevdf(). @protect: whose turn it is goes on while RUN_TO_PARITY says so. */
static struct task_struct *eevdf_pick(struct core_event *core, struct task_struct *curr,
				      bool protect)
{
	struct eevdf_core *c = core->data;
	struct task_struct *best;

	if (core->nr_runnable == 1)
		return curr ?: saakm_rq_first(&core->rq);
	if (curr && !eevdf_eligible(c, eevdf_task(curr)))
		curr = NULL;
	if (run_to_parity && protect && curr && eevdf_task(curr)->protected)
		return curr;
	best = saakm_rq_first_within(&core->rq, eevdf_average(c));
	if (!best || (curr && saakm_before(eevdf_deadline(curr), eevdf_deadline(best))))
		best = curr;
	return best;
}

/* pick_next_entity() */
static struct task_struct *eevdf_pick_next(struct core_event *core, struct task_struct *curr)
{
	struct eevdf_core *c = core->data;
	struct task_struct *next = c->next;

	/* It is forgotten at its next event, if it runs already. */
	if (unlikely(next) && pick_buddy && next != curr && eevdf_eligible(c, eevdf_task(next)))
		return next;
	return eevdf_pick(core, curr, true);
}

static struct task_struct *eevdf_schedule(struct core_event *core)
{
	return eevdf_pick_next(core, core->curr);
}

/* set_next_buddy() */
static void eevdf_set_buddy(struct eevdf_core *c, struct task_struct *task)
{
	if (!eevdf_idle(task) && !saakm_task_delayed(task))
		c->next = task;
}

/* do_preempt_short() */
static bool eevdf_goes_before_long(struct eevdf_core *c, const struct eevdf_task *w,
				   const struct eevdf_task *r)
{
	return preempt_short && w->slice_ns < r->slice_ns && eevdf_eligible(c, w) &&
	       (saakm_before(w->deadline, r->deadline) || !eevdf_eligible(c, r));
}

/* check_preempt_wakeup_fair() of 6.12, from where running and woken are of one kind */
static bool eevdf_preempt_old(struct core_event *core, struct task_struct *running,
			      struct task_struct *woken)
{
	struct eevdf_task *r = eevdf_task(running);

	/* Whether or not it is picked: the turn is protected no more. */
	if (eevdf_goes_before_long(core->data, eevdf_task(woken), r))
		r->protected = false;
	return eevdf_pick(core, running, true) == woken;
}

/*
 * The same of 6.19. A sync wakeup makes its buddy wait until the waker sleeps: the kernel's
 * threshold of time, from exec_start, which is now, is never reached. There is one protection
 * of turns here, until the deadline: update_protect_slice() has no counterpart.
 */
static bool eevdf_preempt_new(struct core_event *core, struct task_struct *running,
			      struct task_struct *woken)
{
	struct eevdf_task *r = eevdf_task(running), *w = eevdf_task(woken);
	unsigned int flags = saakm_task_flags(woken);
	struct eevdf_core *c = core->data;

	if (preempt_short && w->slice_ns < r->slice_ns) {
		/* 78cde54ea5f0: a buddy does not keep it waiting. */
		if (eevdf_pick(core, running, false) != woken && !eevdf_eligible(c, w))
			return false;
		r->protected = false;
		if (!c->next || eevdf_task(c->next)->slice_ns >= w->slice_ns)
			eevdf_set_buddy(c, woken);
		return true;
	}
	if (flags & SAAKM_EV_FORK || saakm_task_delayed(woken))
		return false;
	if (force_preempt && saakm_waker() == SAAKM_WAKER_TASK && !eevdf_eligible(c, r))
		return true;
	if (!c->next || !saakm_before(eevdf_deadline(c->next), w->deadline)) {
		eevdf_set_buddy(c, woken);
		if (flags & SAAKM_EV_SYNC)
			return false;
	}
	if (eevdf_pick_next(core, running) != woken)
		return false;
	r->protected = false;
	return true;
}

static struct saakm_policy eevdf;

static bool eevdf_wakeup_preempt(struct task_struct *running, struct task_struct *woken)
{
	struct core_event *core = saakm_core_of(&eevdf, task_cpu(woken));

	if (next_buddy == OLD_BUDDY && !(saakm_task_flags(woken) & SAAKM_EV_FORK))
		eevdf_set_buddy(core->data, woken);
	if (test_tsk_need_resched(running) || !wakeup_preemption)
		return false;
	if (eevdf_idle(running) && !eevdf_idle(woken)) {
		eevdf_task(running)->protected = false;
		return true;
	}
	if (eevdf_idle(running) != eevdf_idle(woken) || saakm_task_param(woken) != SCHED_NORMAL)
		return false;
	saakm_charge_now(running);
	return next_buddy == NEW_BUDDY ? eevdf_preempt_new(core, running, woken) :
		eevdf_preempt_old(core, running, woken);
}

/* Parameters of threads */

/* What the fair class does by the thread's policy. */
static int eevdf_checkparam(struct saakm_policy *policy, const struct sched_attr *attr)
{
	switch (attr->sched_saakm_param) {
	case SCHED_NORMAL:
	case SCHED_BATCH:
	case SCHED_IDLE:
		return 0;
	}
	return -EINVAL;
}

static void eevdf_getparam(struct process_event *event, struct sched_attr *attr)
{
	struct eevdf_task *t = event->data;

	attr->sched_runtime = t->slice_ns;
}

/* The policy */

static int eevdf_init(struct saakm_policy *policy)
{
	scale_slice();
	return 0;
}

static void eevdf_topology_changed(struct saakm_policy *policy)
{
	scale_slice();
}

static void eevdf_dump(struct saakm_policy *policy, struct seq_buf *text)
{
	int cpu;

	seq_buf_printf(text, "base slice %u ns\n", base_slice());
	for_each_online_cpu(cpu) {
		struct core_event *core = saakm_core_of(policy, cpu);
		struct eevdf_core *c = core->data;

		seq_buf_printf(text, "cpu %d: %u runnable, load %lld, virtual time %llu\n", cpu,
			       READ_ONCE(core->nr_runnable), READ_ONCE(c->load),
			       READ_ONCE(c->zero_vt));
	}
}

SAAKM_POLICY(eevdf,
	     .queue = SAAKM_RQ_RBTREE, .key = eevdf_deadline, .bound = eevdf_vruntime,
	     .charge_late = true, .balance_interval_ms = 16,
	     .task_size = sizeof(struct eevdf_task), .core_size = sizeof(struct eevdf_core),
	     .init = eevdf_init, .topology_changed = eevdf_topology_changed,
	     .new_place = eevdf_new_place, .unblock_place = eevdf_unblock_place,
	     .block_delay = eevdf_block_delay, .unblock_delayed = eevdf_unblock_delayed,
	     .requeue = eevdf_requeue, .block = eevdf_block, .terminate = eevdf_terminate,
	     .moved = eevdf_moved, .attr_changed = eevdf_attr_changed,
	     .used = eevdf_used, .tick = eevdf_tick, .yield = eevdf_yield,
	     .schedule = eevdf_schedule, .wakeup_preempt = eevdf_wakeup_preempt,
	     .newly_idle = saakm_pull_idle, .balancing_select = saakm_pull_busier,
	     .checkparam_attr = eevdf_checkparam, .getparam_attr = eevdf_getparam,
	     .dump = eevdf_dump);
MODULE_INFO(saakm_promises, "work-conservation, no-starvation, fairness, weights");
