// SPDX-License-Identifier: GPL-2.0
/*
 * The fair class, as far as ours meets it: SCHED_NORMAL, BATCH and IDLE threads in the order of
 * their weighted CPU time, with wakeup preemption and a tick that takes turns; a deadline server;
 * a thread is pulled where a CPU would idle. It is not EEVDF: no deadlines, no lag, no delayed
 * dequeue, no groups (their weights are only shown), no averages of load, no periodic balancing.
 * Whoever wants to know how fair fares has to use a kernel.
 */
#include "model.h"

#define BASE_SLICE_NS	(3 * NSEC_PER_MSEC)

/* CPUs with threads of the class that wait. */
static struct cpumask overloaded;

#define node_of(_rb)	rb_entry(_rb, struct task_struct, se.run_node)

void init_cfs_rq(struct cfs_rq *cfs)
{
	cfs->timeline = RB_ROOT_CACHED;
}

static bool vruntime_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

static bool entity_before(struct rb_node *a, const struct rb_node *b)
{
	return vruntime_before(node_of(a)->se.vruntime, node_of(b)->se.vruntime);
}

static struct task_struct *first_entity(struct cfs_rq *cfs)
{
	struct rb_node *rb = rb_first_cached(&cfs->timeline);

	return rb ? node_of(rb) : NULL;
}

static void note_overload(struct rq *rq)
{
	if (rq->cfs.h_nr_queued > 1)
		cpumask_set_cpu(rq->cpu, &overloaded);
	else
		cpumask_clear_cpu(rq->cpu, &overloaded);
}

/* kernel/sched/fair.c, calc_delta_fair() */
static u64 weighted(const struct task_struct *p, u64 delta_ns)
{
	if (p->se.load.weight == NICE_0_LOAD)
		return delta_ns;
	return div64_u64(delta_ns * 1024, scale_load_down(p->se.load.weight));
}

static void update_min_vruntime(struct rq *rq)
{
	struct task_struct *curr = rq->donor, *first = first_entity(&rq->cfs);
	u64 vruntime = rq->cfs.min_vruntime;

	if (curr->se.on_rq)
		vruntime = curr->se.vruntime;
	if (first && (!curr->se.on_rq || vruntime_before(first->se.vruntime, vruntime)))
		vruntime = first->se.vruntime;
	if (vruntime_before(rq->cfs.min_vruntime, vruntime))
		rq->cfs.min_vruntime = vruntime;
}

/* kernel/sched/fair.c, update_curr() */
static void update_curr_fair(struct rq *rq)
{
	struct task_struct *curr = rq->donor;
	s64 delta_ns;

	if (curr->sched_class != &fair_sched_class)
		return;
	delta_ns = update_curr_common(rq);
	if (delta_ns <= 0)
		return;
	curr->se.vruntime += weighted(curr, delta_ns);
	if (dl_server_active(&rq->fair_server))
		dl_server_update(&rq->fair_server, delta_ns);
	update_min_vruntime(rq);
}

/* Who has slept, or comes from elsewhere, has a slice of advance at the most. */
static void place_entity(struct cfs_rq *cfs, struct task_struct *p)
{
	u64 least = cfs->min_vruntime - weighted(p, BASE_SLICE_NS);

	if (vruntime_before(p->se.vruntime, least) ||
	    vruntime_before(cfs->min_vruntime + NSEC_PER_SEC, p->se.vruntime))
		p->se.vruntime = least;
}

static void enqueue_task_fair(struct rq *rq, struct task_struct *p, int flags)
{
	struct cfs_rq *cfs = &rq->cfs;

	update_curr_fair(rq);
	if (!(flags & ENQUEUE_RESTORE))
		place_entity(cfs, p);
	p->se.on_rq = true;
	if (p != rq->donor)
		rb_add_cached(&p->se.run_node, &cfs->timeline, entity_before);
	cfs->h_nr_queued++;
	if (cfs->h_nr_queued == 1) {
		if (!rq->nr_running)
			dl_server_update_idle_time(rq, rq->curr);
		dl_server_start(&rq->fair_server);
	}
	add_nr_running(rq, 1);
	note_overload(rq);
}

static bool dequeue_task_fair(struct rq *rq, struct task_struct *p, int flags)
{
	update_curr_fair(rq);
	if (!RB_EMPTY_NODE(&p->se.run_node)) {
		rb_erase_cached(&p->se.run_node, &rq->cfs.timeline);
		RB_CLEAR_NODE(&p->se.run_node);
	}
	p->se.on_rq = false;
	rq->cfs.h_nr_queued--;
	sub_nr_running(rq, 1);
	note_overload(rq);
	return true;
}

/* It goes behind the others. */
static void yield_task_fair(struct rq *rq)
{
	struct task_struct *curr = rq->donor;

	if (rq->cfs.h_nr_queued <= 1)
		return;
	update_rq_clock(rq);
	update_curr_fair(rq);
	rq_clock_skip_update(rq);
	curr->se.vruntime += weighted(curr, BASE_SLICE_NS);
}

/* kernel/sched/fair.c, check_preempt_wakeup_fair() */
static void wakeup_preempt_fair(struct rq *rq, struct task_struct *p, int flags)
{
	struct task_struct *curr = rq->donor;

	if (curr == p || test_tsk_need_resched(rq->curr))
		return;
	if (idle_policy(curr->policy) && !idle_policy(p->policy)) {
		resched_curr(rq);
		return;
	}
	if (idle_policy(p->policy) || p->policy == SCHED_BATCH)
		return;
	update_curr_fair(rq);
	if (vruntime_before(p->se.vruntime, curr->se.vruntime))
		resched_curr(rq);
}

/* The current thread is in no tree. */
struct task_struct *pick_task_fair(struct rq *rq)
{
	struct task_struct *curr = rq->donor, *first = first_entity(&rq->cfs);

	if (!rq->cfs.h_nr_queued)
		return NULL;
	if (curr->sched_class != &fair_sched_class || !curr->se.on_rq)
		return first;
	update_curr_fair(rq);
	return first && vruntime_before(first->se.vruntime, curr->se.vruntime) ? first : curr;
}

static struct task_struct *fair_server_pick(struct sched_dl_entity *dl_se)
{
	return pick_task_fair(dl_se->rq);
}

/* kernel/sched/fair.c, fair_server_init() */
void fair_server_init(struct rq *rq)
{
	init_dl_entity(&rq->fair_server);
	dl_server_init(&rq->fair_server, rq, fair_server_pick);
}

static void put_prev_task_fair(struct rq *rq, struct task_struct *prev, struct task_struct *next)
{
	if (!prev->se.on_rq)
		return;
	update_curr_fair(rq);
	rb_add_cached(&prev->se.run_node, &rq->cfs.timeline, entity_before);
}

static void set_next_task_fair(struct rq *rq, struct task_struct *p, bool first)
{
	p->se.exec_start = rq_clock_task(rq);
	p->se.prev_sum_exec_runtime = p->se.sum_exec_runtime;
	if (!p->se.on_rq)
		return;
	if (!RB_EMPTY_NODE(&p->se.run_node)) {
		rb_erase_cached(&p->se.run_node, &rq->cfs.timeline);
		RB_CLEAR_NODE(&p->se.run_node);
	}
}

/* The one that has waited longest for the turn, and may run on @cpu. With both locks. */
static struct task_struct *movable(struct rq *src, int cpu)
{
	struct rb_node *rb;

	for (rb = rb_first_cached(&src->cfs.timeline); rb; rb = rb_next(rb)) {
		struct task_struct *p = node_of(rb);

		if (cpumask_test_cpu(cpu, p->cpus_ptr) && !is_migration_disabled(p))
			return p;
	}
	return NULL;
}

/* Without locks: from the nearest CPU where some wait. */
static bool pull_from(struct rq *src, struct rq *dst)
{
	struct task_struct *p;

	double_rq_lock(src, dst);
	update_rq_clock(src);
	update_rq_clock(dst);
	p = movable(src, dst->cpu);
	if (p) {
		deactivate_task(src, p, DEQUEUE_NOCLOCK);
		set_task_cpu(p, dst->cpu);
		activate_task(dst, p, ENQUEUE_NOCLOCK);
		wakeup_preempt(dst, p, 0);
	}
	double_rq_unlock(src, dst);
	return p;
}

/* kernel/sched/fair.c, sched_balance_newidle(), far simpler. The lock is dropped meanwhile. */
static bool balance_newidle(struct rq *rq, struct rq_flags *rf)
{
	int cpu;

	if (cpumask_empty(&overloaded) || !cpu_active(rq->cpu))
		return false;
	rq_unpin_lock(rq, rf);
	raw_spin_rq_unlock(rq);
	for_each_cpu_wrap(cpu, &overloaded, rq->cpu) {
		if (cpu != rq->cpu && pull_from(cpu_rq(cpu), rq))
			break;
	}
	raw_spin_rq_lock(rq);
	rq_repin_lock(rq, rf);
	update_rq_clock(rq);
	return rq->nr_running;
}

static int balance_fair(struct rq *rq, struct task_struct *prev, struct rq_flags *rf)
{
	return rq->cfs.h_nr_queued || balance_newidle(rq, rf);
}

/* kernel/sched/fair.c, pick_next_task_fair(), as it begins: true if the CPU is to elect anew. */
bool fair_newly_idle(struct rq *rq, struct rq_flags *rf)
{
	return !rq->nr_running && balance_newidle(rq, rf);
}

static int idle_among(const struct task_struct *p, const struct cpumask *cpus, int from)
{
	int cpu;

	for_each_cpu_wrap(cpu, &model_idle_mask, from) {
		if (cpumask_test_cpu(cpu, p->cpus_ptr) && cpu_active(cpu) &&
		    (!cpus || cpumask_test_cpu(cpu, cpus)))
			return cpu;
	}
	return -1;
}

/* kernel/sched/fair.c, sched_balance_find_dst_cpu(): for new threads, and at exec. */
static int least_loaded(const struct task_struct *p, int from)
{
	unsigned int least = UINT_MAX;
	int cpu, best = from;

	for_each_cpu_wrap(cpu, p->cpus_ptr, from) {
		if (cpu_active(cpu) && cpu_rq(cpu)->nr_running < least) {
			least = cpu_rq(cpu)->nr_running;
			best = cpu;
		}
	}
	return best;
}

/* kernel/sched/fair.c, select_task_rq_fair(): an idle CPU that shares the cache. */
static int select_task_rq_fair(struct task_struct *p, int prev_cpu, int wake_flags)
{
	int cpu;

	if (wake_flags & (WF_FORK | WF_EXEC)) {
		cpu = idle_among(p, NULL, prev_cpu);
		return cpu >= 0 ? cpu : least_loaded(p, prev_cpu);
	}
	if (idle_cpu(prev_cpu) && cpumask_test_cpu(prev_cpu, p->cpus_ptr))
		return prev_cpu;
	cpu = idle_among(p, model_llc_mask(prev_cpu), prev_cpu);
	return cpu >= 0 ? cpu : prev_cpu;
}

/* The vruntime of another CPU means nothing here. */
static void migrate_task_rq_fair(struct task_struct *p, int new_cpu)
{
	p->se.vruntime += cpu_rq(new_cpu)->cfs.min_vruntime - task_rq(p)->cfs.min_vruntime;
}

static void task_tick_fair(struct rq *rq, struct task_struct *curr, int queued)
{
	struct task_struct *first = first_entity(&rq->cfs);

	update_curr_fair(rq);
	if (!first)
		return;
	if (vruntime_before(first->se.vruntime, curr->se.vruntime) &&
	    curr->se.sum_exec_runtime - curr->se.prev_sum_exec_runtime >= BASE_SLICE_NS)
		resched_curr(rq);
}

static void task_fork_fair(struct task_struct *p)
{
	p->se.vruntime = task_rq(p)->cfs.min_vruntime;
}

static void switched_from_fair(struct rq *rq, struct task_struct *p)
{
}

static void switched_to_fair(struct rq *rq, struct task_struct *p)
{
	if (!task_on_rq_queued(p))
		return;
	if (task_current_donor(rq, p))
		resched_curr(rq);
	else
		wakeup_preempt(rq, p, 0);
}

static void prio_changed_fair(struct rq *rq, struct task_struct *p, int oldprio)
{
	if (!task_on_rq_queued(p) || rq->cfs.h_nr_queued == 1)
		return;
	if (!task_current_donor(rq, p))
		wakeup_preempt(rq, p, 0);
	else if (p->prio > oldprio)
		resched_curr(rq);
}

static void reweight_task_fair(struct rq *rq, struct task_struct *p, const struct load_weight *lw)
{
	p->se.load = *lw;
}

DEFINE_SCHED_CLASS(fair) = {
	.enqueue_task		= enqueue_task_fair,
	.dequeue_task		= dequeue_task_fair,
	.yield_task		= yield_task_fair,
	.wakeup_preempt		= wakeup_preempt_fair,
	.balance		= balance_fair,
	.pick_task		= pick_task_fair,
	.put_prev_task		= put_prev_task_fair,
	.set_next_task		= set_next_task_fair,
	.select_task_rq		= select_task_rq_fair,
	.migrate_task_rq	= migrate_task_rq_fair,
	.set_cpus_allowed	= set_cpus_allowed_common,
	.task_tick		= task_tick_fair,
	.task_fork		= task_fork_fair,
	.reweight_task		= reweight_task_fair,
	.switched_from		= switched_from_fair,
	.switched_to		= switched_to_fair,
	.prio_changed		= prio_changed_fair,
	.update_curr		= update_curr_fair,
};
