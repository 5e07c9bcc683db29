// SPDX-License-Identifier: GPL-2.0
/*
 * Deadline servers: by them fair's threads and ours get a share of a CPU that higher classes
 * keep busy. kernel/sched/deadline.c: a constant bandwidth server which waits for the moment of
 * zero laxity (deferred) before it runs.
 *
 * The class consists of the servers: SCHED_DEADLINE threads are not modelled, and so neither are
 * boosts to that class, reclaiming (GRUB: running_bw and the inactive timer), and pushing.
 */
#include "model.h"

#define DL_SCALE	10

struct root_domain def_root_domain;

/* A timer that would have to wait less than this is not put off. */
static const u64 dl_server_min_res = NSEC_PER_MSEC;

static bool dl_time_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

void init_dl_rq(struct dl_rq *dl)
{
	dl->root = RB_ROOT_CACHED;
}

/* Bandwidth */

/* kernel/sched/core.c, to_ratio() */
static u64 to_ratio(u64 period, u64 runtime)
{
	return period ? div64_u64(runtime << BW_SHIFT, period) : 0;
}

/* dl_bw_cpus(): those of the root domain that are active. */
static int dl_bw_cpus(struct rq *rq)
{
	return cpumask_weight_and(&rq->rd->span, cpu_active_mask);
}

/* __dl_overflow(); all CPUs are equal: the capacity is their number. */
static bool dl_overflow(const struct dl_bw *dl_b, int cpus, u64 old_bw, u64 new_bw)
{
	return dl_b->bw * cpus < dl_b->total_bw - old_bw + new_bw;
}

/* dl_server_apply_params() */
int dl_server_apply_params(struct sched_dl_entity *dl_se, u64 runtime, u64 period, bool init)
{
	u64 old_bw = init ? 0 : to_ratio(dl_se->dl_period, dl_se->dl_runtime);
	u64 new_bw = to_ratio(period, runtime);
	struct rq *rq = dl_se->rq;
	struct dl_bw *dl_b = &rq->rd->dl_bw;

	guard(raw_spinlock)(&dl_b->lock);
	if (dl_overflow(dl_b, dl_bw_cpus(rq), old_bw, new_bw))
		return -EBUSY;
	dl_b->total_bw += new_bw - (init ? 0 : dl_se->dl_bw);
	rq->dl.this_bw += new_bw - old_bw;
	dl_se->dl_runtime = runtime;
	dl_se->dl_deadline = period;
	dl_se->dl_period = period;
	dl_se->runtime = 0;
	dl_se->deadline = 0;
	dl_se->dl_bw = new_bw;
	dl_se->dl_density = new_bw;
	return 0;
}

/* __dl_server_attach_root(): the CPU has come to another root domain. */
void __dl_server_attach_root(struct sched_dl_entity *dl_se, struct rq *rq)
{
	struct dl_bw *dl_b = &rq->rd->dl_bw;

	guard(raw_spinlock)(&dl_b->lock);
	if (dl_bw_cpus(rq))
		dl_b->total_bw += dl_se->dl_bw;
}

/* Budgets and deadlines */

/* replenish_dl_new_period() */
static void replenish_new_period(struct sched_dl_entity *dl_se)
{
	dl_se->deadline = rq_clock(dl_se->rq) + dl_se->dl_deadline;
	dl_se->runtime = dl_se->dl_runtime;
	if (dl_se->dl_defer && !dl_se->dl_defer_running) {
		dl_se->dl_throttled = 1;
		dl_se->dl_defer_armed = 1;
	}
}

/* dl_entity_overflow(): would what is left until the deadline be more than its share? */
static bool dl_entity_overflow(const struct sched_dl_entity *dl_se, u64 t)
{
	u64 left = (dl_se->dl_deadline >> DL_SCALE) * (dl_se->runtime >> DL_SCALE);
	u64 right = ((dl_se->deadline - t) >> DL_SCALE) * (dl_se->dl_runtime >> DL_SCALE);

	return dl_time_before(right, left);
}

/* start_dl_timer(): false, if it would be in the past. */
static bool start_timer(struct sched_dl_entity *dl_se)
{
	struct rq *rq = dl_se->rq;
	u64 act = dl_se->dl_defer_armed ? dl_se->deadline - dl_se->runtime :
		dl_se->deadline - dl_se->dl_deadline + dl_se->dl_period;
	s64 delta = sim_now - rq_clock(rq);

	act += delta;
	if (dl_time_before(act, sim_now))
		return false;
	if (!hrtimer_is_queued(&dl_se->dl_timer))
		hrtimer_start(&dl_se->dl_timer, ns_to_ktime(act), HRTIMER_MODE_ABS_HARD);
	return true;
}

/* update_dl_entity(), of an implicit deadline: it begins to be active. */
static void update_entity(struct sched_dl_entity *dl_se)
{
	u64 now = rq_clock(dl_se->rq);

	/* 0: it has none yet, and a clock that is 0 as well is no kernel's. */
	if (!dl_se->deadline || dl_time_before(dl_se->deadline, now) ||
	    dl_entity_overflow(dl_se, now)) {
		if (dl_se->dl_defer && dl_se->dl_defer_running &&
		    !dl_time_before(dl_se->deadline, now)) {
			/* update_dl_revised_wakeup() */
			dl_se->runtime = (dl_se->dl_density * (dl_se->deadline - now)) >> BW_SHIFT;
			return;
		}
		dl_se->dl_defer_running = 0;
		replenish_new_period(dl_se);
	} else if (dl_se->dl_defer && !dl_se->dl_defer_running) {
		dl_se->dl_defer_armed = 1;
		dl_se->dl_throttled = 1;
	}
}

/* It is not yet in need: it waits for zero laxity. */
static void defer_anew(struct sched_dl_entity *dl_se)
{
	dl_se->dl_defer_armed = 1;
	dl_se->dl_throttled = 1;
	if (start_timer(dl_se))
		return;
	hrtimer_try_to_cancel(&dl_se->dl_timer);
	dl_se->dl_defer_armed = 0;
	dl_se->dl_throttled = 0;
}

/* replenish_dl_entity() */
static void replenish_entity(struct sched_dl_entity *dl_se)
{
	struct rq *rq = dl_se->rq;

	WARN_ON_ONCE(!dl_se->dl_runtime);
	if (!dl_se->dl_deadline ||
	    (dl_se->dl_defer_armed && dl_entity_overflow(dl_se, rq_clock(rq)))) {
		dl_se->deadline = rq_clock(rq) + dl_se->dl_deadline;
		dl_se->runtime = dl_se->dl_runtime;
	}
	if (dl_se->dl_yielded && dl_se->runtime > 0)
		dl_se->runtime = 0;
	while (dl_se->runtime <= 0) {
		dl_se->deadline += dl_se->dl_period;
		dl_se->runtime += dl_se->dl_runtime;
	}
	if (dl_time_before(dl_se->deadline, rq_clock(rq)))
		replenish_new_period(dl_se);
	dl_se->dl_yielded = 0;
	dl_se->dl_throttled = 0;
	if (dl_se->dl_defer_armed) {
		dl_se->dl_defer_armed = 0;
		return;
	}
	if (dl_se->dl_defer && !dl_se->dl_defer_running &&
	    dl_time_before(rq_clock(rq), dl_se->deadline - dl_se->runtime))
		defer_anew(dl_se);
}

/* The queue of those that run, by deadline */

#define node_of(_rb)	rb_entry(_rb, struct sched_dl_entity, rb_node)

static bool deadline_before(struct rb_node *a, const struct rb_node *b)
{
	return dl_time_before(node_of(a)->deadline, node_of(b)->deadline);
}

/* enqueue_dl_entity() */
static void enqueue_entity(struct sched_dl_entity *dl_se, int flags)
{
	struct rq *rq = dl_se->rq;

	WARN_ON_ONCE(!RB_EMPTY_NODE(&dl_se->rb_node));
	if (!dl_se->dl_defer && dl_se->dl_throttled && !(flags & ENQUEUE_REPLENISH))
		return;
	if (flags & ENQUEUE_WAKEUP)
		update_entity(dl_se);
	else if (flags & ENQUEUE_REPLENISH)
		replenish_entity(dl_se);
	if (dl_se->dl_throttled && start_timer(dl_se))
		return;
	if (dl_se->dl_throttled) {
		hrtimer_try_to_cancel(&dl_se->dl_timer);
		dl_se->dl_defer_armed = 0;
		dl_se->dl_throttled = 0;
	}
	rb_add_cached(&dl_se->rb_node, &rq->dl.root, deadline_before);
	rq->dl.dl_nr_running++;
	add_nr_running(rq, 1);
}

/* dequeue_dl_entity() */
static void dequeue_entity(struct sched_dl_entity *dl_se)
{
	struct rq *rq = dl_se->rq;

	if (RB_EMPTY_NODE(&dl_se->rb_node))
		return;
	rb_erase_cached(&dl_se->rb_node, &rq->dl.root);
	RB_CLEAR_NODE(&dl_se->rb_node);
	rq->dl.dl_nr_running--;
	sub_nr_running(rq, 1);
}

static struct sched_dl_entity *first_entity(struct rq *rq)
{
	struct rb_node *rb = rb_first_cached(&rq->dl.root);

	return rb ? node_of(rb) : NULL;
}

/* update_curr_dl_se(): it has not been needed, and begins a new period. */
static void not_needed(struct sched_dl_entity *dl_se)
{
	dl_se->dl_defer_running = 0;
	hrtimer_try_to_cancel(&dl_se->dl_timer);
	replenish_new_period(dl_se);
	WARN_ON_ONCE(!start_timer(dl_se));
}

/* update_curr_dl_se(): what its threads have used is its, whether it runs or not. */
static void charge(struct sched_dl_entity *dl_se, s64 delta_ns)
{
	struct rq *rq = dl_se->rq;

	if (delta_ns <= 0 && !dl_se->dl_yielded)
		return;
	if (delta_ns > 0) {
		if (dl_se->dl_throttled && !dl_se->dl_defer)
			return;
		dl_se->runtime -= delta_ns;
		if (dl_se->dl_defer && dl_se->dl_throttled && dl_se->runtime <= 0) {
			not_needed(dl_se);
			return;
		}
	}
	if (dl_se->runtime > 0 && !dl_se->dl_yielded)
		return;
	dl_se->dl_throttled = 1;
	dequeue_entity(dl_se);
	if (!start_timer(dl_se))
		enqueue_entity(dl_se, ENQUEUE_REPLENISH);
	if (first_entity(rq) != dl_se)
		resched_curr(rq);
}

void dl_server_update(struct sched_dl_entity *dl_se, s64 delta_exec)
{
	if (dl_se->dl_runtime)
		charge(dl_se, delta_exec);
}

/* dl_server_update_idle_time() */
void dl_server_update_idle_time(struct rq *rq, struct task_struct *p)
{
	struct sched_dl_entity *dl_se = &rq->fair_server;
	s64 delta_ns;

	if (!dl_se->dl_defer || dl_se->runtime < 0)
		return;
	delta_ns = rq_clock_task(rq) - p->se.exec_start;
	if (delta_ns < 0)
		return;
	dl_se->runtime -= delta_ns;
	if (dl_se->runtime < 0) {
		dl_se->dl_defer_running = 0;
		dl_se->runtime = 0;
	}
	p->se.exec_start = rq_clock_task(rq);
}

/* dl_server_timer(), with the fix of linux/patches/0001-dl-server-timer.patch */
static enum hrtimer_restart server_timer(struct hrtimer *timer)
{
	struct sched_dl_entity *dl_se = container_of(timer, struct sched_dl_entity, dl_timer);
	struct rq *rq = dl_se->rq;
	u64 zero_laxity;

	guard(rq_lock)(rq);
	if (!dl_se->dl_throttled || !dl_se->dl_runtime || hrtimer_is_queued(timer))
		return HRTIMER_NORESTART;
	update_rq_clock(rq);
	if (dl_se->dl_defer_armed) {
		zero_laxity = dl_se->deadline - dl_se->runtime;
		if (dl_time_before(rq_clock(rq), zero_laxity - dl_server_min_res)) {
			hrtimer_forward_now(timer, ns_to_ktime(zero_laxity - rq_clock(rq)));
			return HRTIMER_RESTART;
		}
		dl_se->dl_defer_running = 1;
	}
	enqueue_entity(dl_se, ENQUEUE_REPLENISH);
	resched_curr(rq);
	return HRTIMER_NORESTART;
}

/* init_dl_entity() */
void init_dl_entity(struct sched_dl_entity *dl_se)
{
	*dl_se = (struct sched_dl_entity) {};
	RB_CLEAR_NODE(&dl_se->rb_node);
	hrtimer_init(&dl_se->dl_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	dl_se->dl_timer.function = server_timer;
}

void dl_server_init(struct sched_dl_entity *dl_se, struct rq *rq, dl_server_pick_f pick_task)
{
	dl_se->rq = rq;
	dl_se->server_pick_task = pick_task;
}

/* dl_server_start(): the first time it gets its parameters. */
void dl_server_start(struct sched_dl_entity *dl_se)
{
	if (!dl_se->dl_server) {
		dl_server_apply_params(dl_se, 50 * NSEC_PER_MSEC, 1000 * NSEC_PER_MSEC, 1);
		dl_se->dl_server = 1;
		dl_se->dl_defer = 1;
		/* setup_new_dl_entity() */
		if (!dl_se->dl_throttled)
			replenish_new_period(dl_se);
	}
	if (!dl_se->dl_runtime || dl_se->dl_server_active)
		return;
	if (WARN_ON_ONCE(!cpu_online(cpu_of(dl_se->rq))))
		return;
	dl_se->dl_server_active = 1;
	enqueue_entity(dl_se, ENQUEUE_WAKEUP);
	resched_curr(dl_se->rq);
}

void dl_server_stop(struct sched_dl_entity *dl_se)
{
	if (!dl_se->dl_runtime)
		return;
	dequeue_entity(dl_se);
	hrtimer_try_to_cancel(&dl_se->dl_timer);
	dl_se->dl_defer_armed = 0;
	dl_se->dl_throttled = 0;
	dl_se->dl_server_active = 0;
}

/* The class: no thread belongs to it, so it elects, and nothing else. */

static int balance_dl(struct rq *rq, struct task_struct *prev, struct rq_flags *rf)
{
	return (rq->stop && task_on_rq_queued(rq->stop)) || rq->dl.dl_nr_running;
}

/* __pick_task_dl() */
static struct task_struct *pick_task_dl(struct rq *rq)
{
	struct sched_dl_entity *dl_se;
	struct task_struct *p;

	while (rq->dl.dl_nr_running) {
		dl_se = first_entity(rq);
		p = dl_se->server_pick_task(dl_se);
		if (p) {
			rq->dl_server = dl_se;
			return p;
		}
		dl_server_stop(dl_se);
	}
	return NULL;
}

DEFINE_SCHED_CLASS(dl) = {
	.balance		= balance_dl,
	.pick_task		= pick_task_dl,
};
