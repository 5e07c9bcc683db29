// SPDX-License-Identifier: GPL-2.0
/* Threads come to runqueues and leave them; locks of one and of two runqueues. */
#include "model.h"

DEFINE_PER_CPU_SHARED_ALIGNED(struct rq, runqueues);

/* kernel/sched/core.c, __task_rq_lock(): with p->pi_lock held. */
struct rq *__task_rq_lock(struct task_struct *p, struct rq_flags *rf)
{
	struct rq *rq;

	lockdep_assert_held(&p->pi_lock);
	for (;;) {
		rq = task_rq(p);
		raw_spin_rq_lock(rq);
		if (likely(rq == task_rq(p) && !task_on_rq_migrating(p))) {
			rq_pin_lock(rq, rf);
			return rq;
		}
		raw_spin_rq_unlock(rq);
		while (unlikely(task_on_rq_migrating(p)))
			model_relax();
	}
}

/* kernel/sched/core.c, task_rq_lock() */
struct rq *task_rq_lock(struct task_struct *p, struct rq_flags *rf)
{
	struct rq *rq;

	for (;;) {
		raw_spin_lock_irqsave(&p->pi_lock, rf->flags);
		rq = task_rq(p);
		raw_spin_rq_lock(rq);
		if (likely(rq == task_rq(p) && !task_on_rq_migrating(p))) {
			rq_pin_lock(rq, rf);
			return rq;
		}
		raw_spin_rq_unlock(rq);
		raw_spin_unlock_irqrestore(&p->pi_lock, rf->flags);
		while (unlikely(task_on_rq_migrating(p)))
			model_relax();
	}
}

/* kernel/sched/sched.h, double_rq_clock_clear_update() */
void double_rq_clock_clear_update(struct rq *rq1, struct rq *rq2)
{
	rq1->clock_update_flags &= RQCF_REQ_SKIP | RQCF_ACT_SKIP;
	rq2->clock_update_flags &= RQCF_REQ_SKIP | RQCF_ACT_SKIP;
}

/* kernel/sched/core.c, double_rq_lock(): in the order of the CPUs. */
void double_rq_lock(struct rq *rq1, struct rq *rq2)
{
	lockdep_assert_irqs_disabled();
	if (rq2->cpu < rq1->cpu)
		swap(rq1, rq2);
	raw_spin_rq_lock(rq1);
	if (rq1 != rq2)
		raw_spin_rq_lock_nested(rq2, SINGLE_DEPTH_NESTING);
	double_rq_clock_clear_update(rq1, rq2);
}

void double_rq_unlock(struct rq *rq1, struct rq *rq2)
{
	if (rq1 != rq2)
		raw_spin_rq_unlock(rq2);
	raw_spin_rq_unlock(rq1);
}

/* kernel/sched/sched.h, _double_lock_balance() */
int double_lock_balance(struct rq *this_rq, struct rq *busiest)
{
	raw_spin_rq_unlock(this_rq);
	double_rq_lock(this_rq, busiest);
	return 1;
}

void double_unlock_balance(struct rq *this_rq, struct rq *busiest)
{
	if (this_rq != busiest)
		raw_spin_rq_unlock(busiest);
}

/* kernel/sched/core.c, enqueue_task() */
void enqueue_task(struct rq *rq, struct task_struct *p, int flags)
{
	if (!(flags & ENQUEUE_NOCLOCK))
		update_rq_clock(rq);
	p->sched_class->enqueue_task(rq, p, flags);
}

/* kernel/sched/core.c, dequeue_task() */
bool dequeue_task(struct rq *rq, struct task_struct *p, int flags)
{
	if (!(flags & DEQUEUE_NOCLOCK))
		update_rq_clock(rq);
	return p->sched_class->dequeue_task(rq, p, flags);
}

/* kernel/sched/core.c, activate_task() */
void activate_task(struct rq *rq, struct task_struct *p, int flags)
{
	if (task_on_rq_migrating(p))
		flags |= ENQUEUE_MIGRATED;
	enqueue_task(rq, p, flags);
	WRITE_ONCE(p->on_rq, TASK_ON_RQ_QUEUED);
}

/* kernel/sched/core.c, deactivate_task(): it will be activated elsewhere. */
void deactivate_task(struct rq *rq, struct task_struct *p, int flags)
{
	WARN_ON_ONCE(flags & DEQUEUE_SLEEP);
	WRITE_ONCE(p->on_rq, TASK_ON_RQ_MIGRATING);
	dequeue_task(rq, p, flags);
}

/* kernel/sched/core.c, block_task(): the class may delay it. */
void block_task(struct rq *rq, struct task_struct *p, int flags)
{
	if (dequeue_task(rq, p, DEQUEUE_SLEEP | flags))
		__block_task(rq, p);
}

/* kernel/sched/sched.h, __set_task_cpu() */
void __set_task_cpu(struct task_struct *p, unsigned int cpu)
{
	WRITE_ONCE(p->cpu, cpu);
	p->wake_cpu = cpu;
}

/* kernel/sched/core.c, set_task_cpu(). What a move costs, the new CPU pays once the thread runs there. */
void set_task_cpu(struct task_struct *p, unsigned int new_cpu)
{
	unsigned int state = READ_ONCE(p->__state);

	WARN_ON_ONCE(state != TASK_RUNNING && state != TASK_WAKING && !p->on_rq);
	WARN_ON_ONCE(is_migration_disabled(p));
	WARN_ON_ONCE(!cpu_online(new_cpu));
	if (task_cpu(p) != new_cpu) {
		if (unlikely(model_tracing))
			model_trace_migrate(p, new_cpu);
		if (p->sched_class->migrate_task_rq)
			p->sched_class->migrate_task_rq(p, new_cpu);
		p->se.nr_migrations++;
		model_stats.migrations[model_distance(task_cpu(p), new_cpu)]++;
	}
	__set_task_cpu(p, new_cpu);
}

/* kernel/sched/core.c, wakeup_preempt() */
void wakeup_preempt(struct rq *rq, struct task_struct *p, int flags)
{
	struct task_struct *donor = rq->donor;

	if (p->sched_class == donor->sched_class)
		donor->sched_class->wakeup_preempt(rq, p, flags);
	else if (sched_class_above(p->sched_class, donor->sched_class))
		resched_curr(rq);
	/* The election that follows updates the clock. */
	if (task_on_rq_queued(donor) && test_tsk_need_resched(rq->curr))
		rq_clock_skip_update(rq);
}

/* kernel/sched/core.c, resched_curr(). An idle CPU does not poll: it gets an interrupt. */
void resched_curr(struct rq *rq)
{
	struct task_struct *curr = rq->curr;

	lockdep_assert_rq_held(rq);
	if (test_tsk_need_resched(curr))
		return;
	set_tsk_need_resched(curr);
	if (rq->cpu != sim_context.cpu)
		smp_send_reschedule(rq->cpu);
}

/* kernel/sched/core.c, resched_cpu() */
void resched_cpu(int cpu)
{
	struct rq *rq = cpu_rq(cpu);
	struct rq_flags rf;

	rq_lock_irqsave(rq, &rf);
	if (cpu_online(cpu) || cpu == smp_processor_id())
		resched_curr(rq);
	rq_unlock_irqrestore(rq, &rf);
}

/* Another CPU is about to switch away from @p. smp_cond_load_acquire(&p->on_cpu, !VAL) */
void model_wait_off_cpu(struct task_struct *p)
{
	while (unlikely(smp_load_acquire(&p->on_cpu)))
		model_relax();
}

/* kernel/sched/core.c, check_class_changing(): for sched_ext alone. */
void check_class_changing(struct rq *rq, struct task_struct *p,
			  const struct sched_class *prev_class)
{
	if (prev_class != p->sched_class && p->sched_class->switching_to)
		p->sched_class->switching_to(rq, p);
}

/* kernel/sched/core.c, check_class_changed() */
void check_class_changed(struct rq *rq, struct task_struct *p,
			 const struct sched_class *prev_class, int oldprio)
{
	if (prev_class != p->sched_class) {
		if (prev_class->switched_from)
			prev_class->switched_from(rq, p);
		p->sched_class->switched_to(rq, p);
	} else if (oldprio != p->prio) {
		p->sched_class->prio_changed(rq, p, oldprio);
	}
}

/* kernel/sched/core.c, sched_deq_and_put_task() */
void sched_deq_and_put_task(struct task_struct *p, int queue_flags,
			    struct sched_enq_and_set_ctx *ctx)
{
	struct rq *rq = task_rq(p);

	lockdep_assert_rq_held(rq);
	*ctx = (struct sched_enq_and_set_ctx) {
		.p		= p,
		.queue_flags	= queue_flags,
		.queued		= task_on_rq_queued(p),
		.running	= task_current(rq, p),
	};
	update_rq_clock(rq);
	if (ctx->queued)
		dequeue_task(rq, p, queue_flags | DEQUEUE_NOCLOCK);
	if (ctx->running)
		put_prev_task(rq, p);
}

/* kernel/sched/core.c, sched_enq_and_set_task() */
void sched_enq_and_set_task(struct sched_enq_and_set_ctx *ctx)
{
	struct rq *rq = task_rq(ctx->p);

	lockdep_assert_rq_held(rq);
	if (ctx->queued)
		enqueue_task(rq, ctx->p, ctx->queue_flags | ENQUEUE_NOCLOCK);
	if (ctx->running)
		set_next_task(rq, ctx->p);
}
