// SPDX-License-Identifier: GPL-2.0
/* The lowest class: each CPU's idle thread. kernel/sched/idle.c */
#include "model.h"

static int select_task_rq_idle(struct task_struct *p, int cpu, int flags)
{
	return task_cpu(p);
}

static int balance_idle(struct rq *rq, struct task_struct *prev, struct rq_flags *rf)
{
	WARN_ON_ONCE(1);
	return 0;
}

static void wakeup_preempt_idle(struct rq *rq, struct task_struct *p, int flags)
{
	resched_curr(rq);
}

static void put_prev_task_idle(struct rq *rq, struct task_struct *prev, struct task_struct *next)
{
	if (saakm_enabled())
		saakm_exit_idle(rq, prev);
	dl_server_update_idle_time(rq, prev);
}

static void set_next_task_idle(struct rq *rq, struct task_struct *next, bool first)
{
	if (saakm_enabled())
		saakm_enter_idle(rq);
	next->se.exec_start = rq_clock_task(rq);
}

static struct task_struct *pick_task_idle(struct rq *rq)
{
	return rq->idle;
}

/* Nobody takes the idle thread out. */
static bool dequeue_task_idle(struct rq *rq, struct task_struct *p, int flags)
{
	raw_spin_rq_unlock_irq(rq);
	pr_err("bad: scheduling from the idle thread!\n");
	dump_stack();
	raw_spin_rq_lock_irq(rq);
	return true;
}

static void task_tick_idle(struct rq *rq, struct task_struct *curr, int queued)
{
}

static void switched_to_idle(struct rq *rq, struct task_struct *p)
{
	BUG();
}

static void prio_changed_idle(struct rq *rq, struct task_struct *p, int oldprio)
{
	BUG();
}

static void update_curr_idle(struct rq *rq)
{
}

DEFINE_SCHED_CLASS(idle) = {
	.dequeue_task		= dequeue_task_idle,
	.wakeup_preempt		= wakeup_preempt_idle,
	.balance		= balance_idle,
	.pick_task		= pick_task_idle,
	.put_prev_task		= put_prev_task_idle,
	.set_next_task		= set_next_task_idle,
	.select_task_rq		= select_task_rq_idle,
	.set_cpus_allowed	= set_cpus_allowed_common,
	.task_tick		= task_tick_idle,
	.switched_to		= switched_to_idle,
	.prio_changed		= prio_changed_idle,
	.update_curr		= update_curr_idle,
};
