// SPDX-License-Identifier: GPL-2.0
/*
 * SCHED_FIFO and SCHED_RR. kernel/sched/rt.c: a queue for each priority, and at a wakeup a CPU
 * where the thread runs at once, if there is one. Not modelled: pushing and pulling threads that
 * wait behind others of the class, groups of real-time threads.
 */
#include "model.h"

#define RR_TIMESLICE	(100 * HZ / 1000)

void init_rt_rq(struct rt_rq *rt)
{
	int i;

	for (i = 0; i < MAX_RT_PRIO; i++)
		INIT_LIST_HEAD(&rt->queue[i]);
}

static void insert_rt(struct rt_rq *rt, struct task_struct *p, bool head)
{
	struct list_head *queue = &rt->queue[p->prio];

	if (head)
		list_add(&p->rt.run_list, queue);
	else
		list_add_tail(&p->rt.run_list, queue);
	__set_bit(p->prio, rt->bitmap);
	p->rt.queue = queue;
}

/* Its priority may have changed since it was inserted. */
static void remove_rt(struct rt_rq *rt, struct task_struct *p)
{
	list_del_init(&p->rt.run_list);
	if (list_empty(p->rt.queue))
		__clear_bit(p->rt.queue - rt->queue, rt->bitmap);
}

static void enqueue_task_rt(struct rq *rq, struct task_struct *p, int flags)
{
	insert_rt(&rq->rt, p, flags & ENQUEUE_HEAD);
	p->rt.on_rq = true;
	rq->rt.rt_nr_running++;
	add_nr_running(rq, 1);
}

static void update_curr_rt(struct rq *rq)
{
	if (rq->donor->sched_class == &rt_sched_class)
		update_curr_common(rq);
}

static bool dequeue_task_rt(struct rq *rq, struct task_struct *p, int flags)
{
	update_curr_rt(rq);
	remove_rt(&rq->rt, p);
	p->rt.on_rq = false;
	rq->rt.rt_nr_running--;
	sub_nr_running(rq, 1);
	return true;
}

static void requeue_rt(struct rq *rq, struct task_struct *p)
{
	list_move_tail(&p->rt.run_list, p->rt.queue);
}

static void yield_task_rt(struct rq *rq)
{
	requeue_rt(rq, rq->donor);
}

static void wakeup_preempt_rt(struct rq *rq, struct task_struct *p, int flags)
{
	if (p->prio < rq->donor->prio)
		resched_curr(rq);
}

static int balance_rt(struct rq *rq, struct task_struct *prev, struct rq_flags *rf)
{
	return (rq->stop && task_on_rq_queued(rq->stop)) || rq->dl.dl_nr_running ||
	       rq->rt.rt_nr_running;
}

static struct task_struct *pick_task_rt(struct rq *rq)
{
	if (!rq->rt.rt_nr_running)
		return NULL;
	return list_first_entry(&rq->rt.queue[find_first_bit(rq->rt.bitmap, MAX_RT_PRIO)],
				struct task_struct, rt.run_list);
}

static void put_prev_task_rt(struct rq *rq, struct task_struct *p, struct task_struct *next)
{
	update_curr_rt(rq);
}

static void set_next_task_rt(struct rq *rq, struct task_struct *p, bool first)
{
	p->se.exec_start = rq_clock_task(rq);
}

/* Would @p run at once on @cpu? kernel/sched/cpupri.c keeps that in vectors. */
static bool runs_at_once(const struct task_struct *p, int cpu)
{
	return cpu_active(cpu) && p->prio < READ_ONCE(cpu_rq(cpu)->curr)->prio;
}

/* select_task_rq_rt(), find_lowest_rq() */
static int select_task_rq_rt(struct task_struct *p, int cpu, int flags)
{
	int other;

	if (!(flags & (WF_TTWU | WF_FORK)) || runs_at_once(p, cpu))
		return cpu;
	for_each_cpu_and(other, p->cpus_ptr, &model_idle_mask) {
		if (cpu_active(other))
			return other;
	}
	for_each_cpu_wrap(other, p->cpus_ptr, cpu) {
		if (runs_at_once(p, other))
			return other;
	}
	return cpu;
}

/* task_tick_rt(): a turn of SCHED_RR. */
static void task_tick_rt(struct rq *rq, struct task_struct *p, int queued)
{
	update_curr_rt(rq);
	if (p->policy != SCHED_RR || --p->rt.time_slice)
		return;
	p->rt.time_slice = RR_TIMESLICE;
	if (list_is_singular(p->rt.queue))
		return;
	requeue_rt(rq, p);
	resched_curr(rq);
}

static void switched_to_rt(struct rq *rq, struct task_struct *p)
{
	if (!p->rt.time_slice)
		p->rt.time_slice = RR_TIMESLICE;
	if (task_on_rq_queued(p) && !task_current(rq, p) && p->prio < rq->donor->prio &&
	    cpu_online(cpu_of(rq)))
		resched_curr(rq);
}

static void prio_changed_rt(struct rq *rq, struct task_struct *p, int oldprio)
{
	if (!task_on_rq_queued(p))
		return;
	if (task_current_donor(rq, p) ? oldprio < p->prio : p->prio < rq->donor->prio)
		resched_curr(rq);
}

DEFINE_SCHED_CLASS(rt) = {
	.enqueue_task		= enqueue_task_rt,
	.dequeue_task		= dequeue_task_rt,
	.yield_task		= yield_task_rt,
	.wakeup_preempt		= wakeup_preempt_rt,
	.balance		= balance_rt,
	.pick_task		= pick_task_rt,
	.put_prev_task		= put_prev_task_rt,
	.set_next_task		= set_next_task_rt,
	.select_task_rq		= select_task_rq_rt,
	.set_cpus_allowed	= set_cpus_allowed_common,
	.task_tick		= task_tick_rt,
	.switched_to		= switched_to_rt,
	.prio_changed		= prio_changed_rt,
	.update_curr		= update_curr_rt,
};
