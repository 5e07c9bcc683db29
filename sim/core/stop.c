// SPDX-License-Identifier: GPL-2.0
/* The highest class: each CPU's stopper, and nobody else. kernel/sched/stop_task.c */
#include "model.h"

static int select_task_rq_stop(struct task_struct *p, int cpu, int flags)
{
	return task_cpu(p);
}

static bool stop_runnable(struct rq *rq)
{
	return rq->stop_queued;		/* what it has itself is in no cache */
}

static int balance_stop(struct rq *rq, struct task_struct *prev, struct rq_flags *rf)
{
	return stop_runnable(rq);
}

static void wakeup_preempt_stop(struct rq *rq, struct task_struct *p, int flags)
{
}

static void set_next_task_stop(struct rq *rq, struct task_struct *stop, bool first)
{
	stop->se.exec_start = rq_clock_task(rq);
}

static struct task_struct *pick_task_stop(struct rq *rq)
{
	return stop_runnable(rq) ? rq->stop : NULL;
}

static void enqueue_task_stop(struct rq *rq, struct task_struct *p, int flags)
{
	rq->stop_queued = true;
	add_nr_running(rq, 1);
}

static bool dequeue_task_stop(struct rq *rq, struct task_struct *p, int flags)
{
	rq->stop_queued = false;
	sub_nr_running(rq, 1);
	return true;
}

static void yield_task_stop(struct rq *rq)
{
	BUG();
}

static void put_prev_task_stop(struct rq *rq, struct task_struct *prev, struct task_struct *next)
{
	update_curr_common(rq);
}

static void task_tick_stop(struct rq *rq, struct task_struct *curr, int queued)
{
}

static void switched_to_stop(struct rq *rq, struct task_struct *p)
{
	BUG();
}

static void prio_changed_stop(struct rq *rq, struct task_struct *p, int oldprio)
{
	BUG();
}

static void update_curr_stop(struct rq *rq)
{
}

DEFINE_SCHED_CLASS(stop) = {
	.enqueue_task		= enqueue_task_stop,
	.dequeue_task		= dequeue_task_stop,
	.yield_task		= yield_task_stop,
	.wakeup_preempt		= wakeup_preempt_stop,
	.balance		= balance_stop,
	.pick_task		= pick_task_stop,
	.put_prev_task		= put_prev_task_stop,
	.set_next_task		= set_next_task_stop,
	.select_task_rq		= select_task_rq_stop,
	.set_cpus_allowed	= set_cpus_allowed_common,
	.task_tick		= task_tick_stop,
	.switched_to		= switched_to_stop,
	.prio_changed		= prio_changed_stop,
	.update_curr		= update_curr_stop,
};
