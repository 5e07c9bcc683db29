// SPDX-License-Identifier: GPL-2.0
/*
 * Waking threads. Not modelled: the wake list (ttwu_queue_wakelist()), by which a CPU lets
 * another one activate a thread of another class than ours.
 */
#include "model.h"

/* kernel/sched/core.c, is_cpu_allowed() */
bool is_cpu_allowed(struct task_struct *p, int cpu)
{
	if (!cpumask_test_cpu(cpu, p->cpus_ptr))
		return false;
	if (is_migration_disabled(p))
		return cpu_online(cpu);
	if (!(p->flags & PF_KTHREAD))
		return cpu_active(cpu);
	/* Threads of the CPU itself stay while it is online at all. */
	return cpu_online(cpu) && (p->per_cpu || !cpumask_test_cpu(cpu, &model_dying_mask));
}

static int first_allowed(struct task_struct *p)
{
	int cpu;

	for_each_cpu(cpu, p->cpus_ptr) {
		if (is_cpu_allowed(p, cpu))
			return cpu;
	}
	return -1;
}

/* All of its CPUs are gone: it may use any. There are no cpusets that would have others. */
static int break_affinity(struct task_struct *p, int from)
{
	struct affinity_context ctx = { .new_mask = cpu_possible_mask };
	int cpu;

	__do_set_cpus_allowed(p, &ctx);
	cpu = first_allowed(p);
	BUG_ON(cpu < 0);
	/* Those of kernel threads, and of whoever exits, are not worth a word. */
	if (!(p->flags & (PF_KTHREAD | PF_EXITING)))
		printk_deferred("process %d (%s) no longer affine to cpu%d\n", p->pid, p->comm,
				from);
	return cpu;
}

/* kernel/sched/core.c, select_fallback_rq(): one of the same node, then any that is allowed. */
int select_fallback_rq(int cpu, struct task_struct *p)
{
	int other;

	for_each_cpu_and(other, p->cpus_ptr, cpumask_of_node(cpu_to_node(cpu))) {
		if (is_cpu_allowed(p, other))
			return other;
	}
	other = first_allowed(p);
	return other >= 0 ? other : break_affinity(p, cpu);
}

/* kernel/sched/core.c, select_task_rq() */
int select_task_rq(struct task_struct *p, int cpu, int *wake_flags)
{
	lockdep_assert_held(&p->pi_lock);
	if (p->nr_cpus_allowed > 1 && !is_migration_disabled(p)) {
		cpu = p->sched_class->select_task_rq(p, cpu, *wake_flags);
		*wake_flags |= WF_RQ_SELECTED;
	} else {
		cpu = cpumask_any(p->cpus_ptr);
	}
	if (unlikely(!is_cpu_allowed(p, cpu)))
		cpu = select_fallback_rq(task_cpu(p), p);
	return cpu;
}

/* kernel/sched/core.c, ttwu_do_wakeup() */
static void ttwu_do_wakeup(struct rq *rq, struct task_struct *p)
{
	WRITE_ONCE(p->__state, TASK_RUNNING);
	if (unlikely(model_tracing))
		model_trace_wakeup(p);
}

/* kernel/sched/core.c, ttwu_do_activate() */
static void ttwu_do_activate(struct rq *rq, struct task_struct *p, int wake_flags,
			     struct rq_flags *rf)
{
	int en_flags = ENQUEUE_WAKEUP | ENQUEUE_NOCLOCK;

	if (wake_flags & WF_RQ_SELECTED)
		en_flags |= ENQUEUE_RQ_SELECTED;
	if (wake_flags & WF_MIGRATED)
		en_flags |= ENQUEUE_MIGRATED;
	activate_task(rq, p, en_flags);
	wakeup_preempt(rq, p, wake_flags);
	ttwu_do_wakeup(rq, p);
	if (p->model)
		model_load_woken(rq, p);
	if (p->sched_class->task_woken) {
		rq_unpin_lock(rq, rf);
		p->sched_class->task_woken(rq, p);
		rq_repin_lock(rq, rf);
	}
	rq->idle_stamp = 0;
}

/* kernel/sched/core.c, ttwu_runnable(): it had not yet left the runqueue. */
static bool ttwu_runnable(struct task_struct *p, int wake_flags)
{
	struct rq_flags rf;
	bool ret = false;
	struct rq *rq;

	rq = __task_rq_lock(p, &rf);
	if (task_on_rq_queued(p)) {
		update_rq_clock(rq);
		if (p->se.sched_delayed)
			enqueue_task(rq, p, ENQUEUE_NOCLOCK | ENQUEUE_DELAYED);
		if (!task_on_cpu(rq, p))
			wakeup_preempt(rq, p, wake_flags);
		ttwu_do_wakeup(rq, p);
		ret = true;
	}
	__task_rq_unlock(rq, &rf);
	return ret;
}

/* kernel/sched/core.c, ttwu_queue() */
static void ttwu_queue(struct task_struct *p, int cpu, int wake_flags)
{
	struct rq *rq = cpu_rq(cpu);
	struct rq_flags rf;

	rq_lock(rq, &rf);
	update_rq_clock(rq);
	ttwu_do_activate(rq, p, wake_flags, &rf);
	rq_unlock(rq, &rf);
}

/* The thread sleeps: where shall it run? With p->pi_lock. */
static void wake_sleeper(struct task_struct *p, int wake_flags)
{
	int cpu;

	WRITE_ONCE(p->__state, TASK_WAKING);
	model_wait_off_cpu(p);
	cpu = select_task_rq(p, p->wake_cpu, &wake_flags);
	if (task_cpu(p) != cpu) {
		wake_flags |= WF_MIGRATED;
		set_task_cpu(p, cpu);
	}
	ttwu_queue(p, cpu, wake_flags);
}

/* kernel/sched/core.c, try_to_wake_up(). The mark WF_TTWU is given there, not by callers. */
int try_to_wake_up(struct task_struct *p, unsigned int state, int wake_flags)
{
	unsigned long flags;
	int success = 0;

	wake_flags |= WF_TTWU;
	preempt_disable();
	if (p == current) {
		/* It is between set_current_state() and schedule(). */
		if (READ_ONCE(p->__state) & state) {
			if (unlikely(model_tracing))
				model_trace_waking(p);
			ttwu_do_wakeup(task_rq(p), p);
			success = 1;
		}
		goto out;
	}
	raw_spin_lock_irqsave(&p->pi_lock, flags);
	if (READ_ONCE(p->__state) & state) {
		success = 1;
		model_stats.wakeups++;
		model_charge(MODEL_COST_WAKEUP);
		if (unlikely(model_tracing))
			model_trace_waking(p);
		if (!READ_ONCE(p->on_rq) || !ttwu_runnable(p, wake_flags))
			wake_sleeper(p, wake_flags);
	}
	raw_spin_unlock_irqrestore(&p->pi_lock, flags);
out:
	preempt_enable();
	return success;
}

int wake_up_process(struct task_struct *p)
{
	return try_to_wake_up(p, TASK_NORMAL, 0);
}

int wake_up_state(struct task_struct *p, unsigned int state)
{
	return try_to_wake_up(p, state, 0);
}

/* kernel/sched/core.c, default_wake_function() */
int default_wake_function(struct wait_queue_entry *wait, unsigned int mode, int wake_flags,
			  void *key)
{
	return try_to_wake_up(wait->private, mode, wake_flags);
}
