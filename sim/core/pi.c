// SPDX-License-Identifier: GPL-2.0
/*
 * Priority inheritance: who holds what a more urgent thread waits for runs with its priority. Which
 * lock it is, and chains of them, are the caller's. Boosts to SCHED_DEADLINE are not modelled.
 */
#include "model.h"

/* kernel/sched/core.c, __rt_effective_prio() */
static int rt_effective_prio(const struct task_struct *pi_task, int prio)
{
	return pi_task ? min(pi_task->prio, prio) : prio;
}

/* Out of its class, and into the other one. */
static void change_prio(struct rq *rq, struct task_struct *p, int prio)
{
	int queue_flags = DEQUEUE_SAVE | DEQUEUE_MOVE | DEQUEUE_NOCLOCK;
	const struct sched_class *prev_class = p->sched_class;
	int oldprio = p->prio;
	bool queued, running;

	if (prev_class != __setscheduler_class(p->policy, prio) && p->se.sched_delayed)
		dequeue_task(rq, p, DEQUEUE_SLEEP | DEQUEUE_DELAYED | DEQUEUE_NOCLOCK);
	queued = task_on_rq_queued(p);
	running = task_current(rq, p);
	if (queued)
		dequeue_task(rq, p, queue_flags);
	if (running)
		put_prev_task(rq, p);
	if (rt_prio(prio) && oldprio < prio)
		queue_flags |= ENQUEUE_HEAD;
	p->sched_class = __setscheduler_class(p->policy, prio);
	p->prio = prio;
	check_class_changing(rq, p, prev_class);
	if (queued)
		enqueue_task(rq, p, queue_flags);
	if (running)
		set_next_task(rq, p);
	check_class_changed(rq, p, prev_class, oldprio);
}

/* kernel/sched/core.c, rt_mutex_setprio(): with p->pi_lock held. */
void rt_mutex_setprio(struct task_struct *p, struct task_struct *pi_task)
{
	int prio = rt_effective_prio(pi_task, p->normal_prio);
	struct rq_flags rf;
	struct rq *rq;

	if (p->pi_top_task == pi_task && prio == p->prio)
		return;
	rq = __task_rq_lock(p, &rf);
	update_rq_clock(rq);
	p->pi_top_task = pi_task;
	if (prio != p->prio && !WARN_ON_ONCE(p == rq->idle)) {
		if (unlikely(model_tracing))
			model_trace_pi_setprio(p, pi_task);
		change_prio(rq, p, prio);
	}
	/* Nobody has queued balance callbacks: real-time threads are not pushed here. */
	WARN_ON_ONCE(splice_balance_callbacks(rq));
	__task_rq_unlock(rq, &rf);
}

void model_boost(struct task_struct *owner, struct task_struct *waiter)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&owner->pi_lock, flags);
	rt_mutex_setprio(owner, waiter);
	raw_spin_unlock_irqrestore(&owner->pi_lock, flags);
}
