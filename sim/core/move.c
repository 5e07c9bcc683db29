// SPDX-License-Identifier: GPL-2.0
/*
 * Threads move because they must: changes of affinity, migrate_disable(), execve(). Not modelled:
 * swapping two threads (NUMA balancing), pushing a thread away that waits for migrate_enable()
 * (real-time balancing).
 */
#include <linux/completion.h>
#include "model.h"

/* Moving one thread: kernel/sched/core.c */

/* move_queued_task() */
static struct rq *move_queued_task(struct rq *rq, struct rq_flags *rf, struct task_struct *p,
				   int new_cpu)
{
	lockdep_assert_rq_held(rq);
	deactivate_task(rq, p, DEQUEUE_NOCLOCK);
	set_task_cpu(p, new_cpu);
	rq_unlock(rq, rf);
	rq = cpu_rq(new_cpu);
	rq_lock(rq, rf);
	WARN_ON_ONCE(task_cpu(p) != new_cpu);
	activate_task(rq, p, 0);
	wakeup_preempt(rq, p, 0);
	return rq;
}

/* __migrate_task() */
struct rq *__migrate_task(struct rq *rq, struct rq_flags *rf, struct task_struct *p, int dest_cpu)
{
	if (!is_cpu_allowed(p, dest_cpu))
		return rq;
	return move_queued_task(rq, rf, p, dest_cpu);
}

struct migration_arg {
	struct task_struct		*task;
	int				dest_cpu;
	struct set_affinity_pending	*pending;
};

/* A change that waits until the thread is where it may be. */
struct set_affinity_pending {
	refcount_t		refs;
	bool			stop_pending;
	struct completion	done;
	struct cpu_stop_work	stop_work;
	struct migration_arg	arg;
};

static int migration_cpu_stop(void *data);

/* migration_cpu_stop(): it has left the CPU before the stopper came. True: go after it. */
static bool chase(struct rq *rq, struct task_struct *p, struct set_affinity_pending *pending,
		  struct rq_flags *rf, bool *complete)
{
	if (cpumask_test_cpu(task_cpu(p), p->cpus_ptr)) {
		p->migration_pending = NULL;
		*complete = true;
		return false;
	}
	WARN_ON_ONCE(!pending->stop_pending);
	task_rq_unlock(rq, p, rf);
	stop_one_cpu_nowait(task_cpu(p), migration_cpu_stop, &pending->arg, &pending->stop_work);
	return true;
}

/* It is here. */
static struct rq *stop_and_move(struct rq *rq, struct migration_arg *arg, struct rq_flags *rf,
				bool *complete)
{
	struct task_struct *p = arg->task;

	if (is_migration_disabled(p))
		return rq;
	if (arg->pending) {
		p->migration_pending = NULL;
		*complete = true;
		if (cpumask_test_cpu(task_cpu(p), &p->cpus_mask))
			return rq;
	}
	if (task_on_rq_queued(p)) {
		update_rq_clock(rq);
		return __migrate_task(rq, rf, p, arg->dest_cpu);
	}
	p->wake_cpu = arg->dest_cpu;
	return rq;
}

static int migration_cpu_stop(void *data)
{
	struct migration_arg *arg = data;
	struct set_affinity_pending *pending = arg->pending;
	struct task_struct *p = arg->task;
	struct rq *rq = this_rq();
	bool complete = false;
	struct rq_flags rf;

	local_irq_save(rf.flags);
	raw_spin_lock(&p->pi_lock);
	rq_lock(rq, &rf);
	WARN_ON_ONCE(pending && pending != p->migration_pending);
	if (task_rq(p) == rq)
		rq = stop_and_move(rq, arg, &rf, &complete);
	else if (pending && chase(rq, p, pending, &rf, &complete))
		return 0;
	if (pending)
		pending->stop_pending = false;
	task_rq_unlock(rq, p, &rf);
	if (complete)
		complete_all(&pending->done);
	return 0;
}

/* Affinity */

/* set_cpus_allowed_common() */
void set_cpus_allowed_common(struct task_struct *p, struct affinity_context *ctx)
{
	bool pinned = p->cpus_ptr != model_cpus(p);

	if (ctx->flags & (SCA_MIGRATE_ENABLE | SCA_MIGRATE_DISABLE)) {
		p->cpus_ptr = ctx->flags & SCA_MIGRATE_ENABLE ? model_cpus(p) : ctx->new_mask;
		return;
	}
	cpumask_copy(&p->cpus_mask, ctx->new_mask);
	if (!pinned)
		p->cpus_ptr = model_cpus(p);
	p->nr_cpus_allowed = cpumask_weight(ctx->new_mask);
}

/* __do_set_cpus_allowed() */
void __do_set_cpus_allowed(struct task_struct *p, struct affinity_context *ctx)
{
	struct rq *rq = task_rq(p);
	bool queued, running;

	if (ctx->flags & SCA_MIGRATE_DISABLE)
		WARN_ON_ONCE(!p->on_cpu);
	else
		lockdep_assert_held(&p->pi_lock);
	queued = task_on_rq_queued(p);
	running = task_current(rq, p);
	if (queued) {
		lockdep_assert_rq_held(rq);
		dequeue_task(rq, p, DEQUEUE_SAVE | DEQUEUE_NOCLOCK);
	}
	if (running)
		put_prev_task(rq, p);
	p->sched_class->set_cpus_allowed(p, ctx);
	if (queued)
		enqueue_task(rq, p, ENQUEUE_RESTORE | ENQUEUE_NOCLOCK);
	if (running)
		set_next_task(rq, p);
}

/* affine_move_task(): the thread is where it may be: whoever waited for that goes on. */
static int affinity_settled(struct rq *rq, struct task_struct *p, struct rq_flags *rf)
{
	struct set_affinity_pending *pending = p->migration_pending;
	bool complete = pending && !pending->stop_pending;

	if (complete)
		p->migration_pending = NULL;
	task_rq_unlock(rq, p, rf);
	if (complete)
		complete_all(&pending->done);
	return 0;
}

static struct set_affinity_pending *install_pending(struct task_struct *p, int dest_cpu,
						    struct set_affinity_pending *mine)
{
	struct set_affinity_pending *pending = p->migration_pending;

	if (pending) {
		refcount_inc(&pending->refs);
		pending->arg.dest_cpu = dest_cpu;
		return pending;
	}
	refcount_set(&mine->refs, 1);
	init_completion(&mine->done);
	mine->arg = (struct migration_arg) { p, dest_cpu, mine };
	p->migration_pending = mine;
	return mine;
}

/* It runs, or is being woken: the stopper moves it. */
static void move_by_stopper(struct rq *rq, struct task_struct *p, struct rq_flags *rf,
			    struct set_affinity_pending *pending)
{
	bool stop_pending = pending->stop_pending;

	pending->stop_pending = true;
	preempt_disable();
	task_rq_unlock(rq, p, rf);
	if (!stop_pending)
		stop_one_cpu_nowait(cpu_of(rq), migration_cpu_stop, &pending->arg,
				    &pending->stop_work);
	preempt_enable();
}

static void move_at_once(struct rq *rq, struct task_struct *p, struct rq_flags *rf, int dest_cpu,
			 struct set_affinity_pending *pending)
{
	bool complete = false;

	if (!is_migration_disabled(p)) {
		if (task_on_rq_queued(p))
			rq = move_queued_task(rq, rf, p, dest_cpu);
		if (!pending->stop_pending) {
			p->migration_pending = NULL;
			complete = true;
		}
	}
	task_rq_unlock(rq, p, rf);
	if (complete)
		complete_all(&pending->done);
}

/* affine_move_task() */
static int affine_move_task(struct rq *rq, struct task_struct *p, struct rq_flags *rf,
			    int dest_cpu, unsigned int flags)
{
	struct set_affinity_pending my_pending = { }, *pending;

	if (cpumask_test_cpu(task_cpu(p), &p->cpus_mask))
		return affinity_settled(rq, p, rf);
	pending = flags & SCA_MIGRATE_ENABLE ? p->migration_pending :
		install_pending(p, dest_cpu, &my_pending);
	if (WARN_ON_ONCE(!pending)) {
		task_rq_unlock(rq, p, rf);
		return -EINVAL;
	}
	if (task_on_cpu(rq, p) || READ_ONCE(p->__state) == TASK_WAKING) {
		move_by_stopper(rq, p, rf, pending);
		if (flags & SCA_MIGRATE_ENABLE)
			return 0;
	} else {
		move_at_once(rq, p, rf, dest_cpu, pending);
	}
	cond_resched();
	wait_for_completion(&pending->done);
	if (refcount_dec_and_test(&pending->refs))
		wake_up_var(&pending->refs);
	/* Others may still use what is on this stack. */
	wait_var_event(&my_pending.refs, !refcount_read(&my_pending.refs));
	WARN_ON_ONCE(my_pending.stop_pending);
	return 0;
}

/* __set_cpus_allowed_ptr_locked(): why not, or 0. */
static int check_affinity(struct task_struct *p, const struct affinity_context *ctx, bool *same)
{
	*same = false;
	if (ctx->flags & SCA_CHECK && p->flags & PF_NO_SETAFFINITY)
		return -EINVAL;
	if (ctx->flags & SCA_MIGRATE_ENABLE)
		return 0;
	*same = cpumask_equal(&p->cpus_mask, ctx->new_mask);
	if (!*same && WARN_ON_ONCE(p == current && is_migration_disabled(p) &&
				   !cpumask_test_cpu(task_cpu(p), ctx->new_mask)))
		return -EBUSY;
	return 0;
}

/* cpumask_any_and_distribute(): a CPU of both, not always the same one. */
static unsigned int any_distributed(const struct cpumask *valid, const struct cpumask *wanted)
{
	static unsigned int last;
	unsigned int cpu;

	for_each_cpu_wrap(cpu, wanted, last + 1) {
		if (cpumask_test_cpu(cpu, valid)) {
			last = cpu;
			return cpu;
		}
	}
	return nr_cpu_ids;
}

/* __set_cpus_allowed_ptr() */
static int __set_cpus_allowed_ptr(struct task_struct *p, struct affinity_context *ctx)
{
	const struct cpumask *valid = cpu_active_mask;
	unsigned int dest_cpu;
	struct rq_flags rf;
	struct rq *rq;
	bool same;
	int ret;

	rq = task_rq_lock(p, &rf);
	update_rq_clock(rq);
	if (p->flags & PF_KTHREAD || is_migration_disabled(p))
		valid = cpu_online_mask;
	ret = check_affinity(p, ctx, &same);
	if (ret || same)
		goto out;
	dest_cpu = any_distributed(valid, ctx->new_mask);
	if (dest_cpu >= nr_cpu_ids) {
		ret = -EINVAL;
		goto out;
	}
	__do_set_cpus_allowed(p, ctx);
	return affine_move_task(rq, p, &rf, dest_cpu, ctx->flags);
out:
	task_rq_unlock(rq, p, &rf);
	return ret;
}

int set_cpus_allowed_ptr(struct task_struct *p, const struct cpumask *new_mask)
{
	struct affinity_context ctx = { .new_mask = new_mask };

	return __set_cpus_allowed_ptr(p, &ctx);
}

/* kernel/sched/syscalls.c, __sched_setaffinity(). There are no cpusets. */
int model_setaffinity(struct task_struct *p, const struct cpumask *mask)
{
	struct affinity_context ctx = { .new_mask = mask, .flags = SCA_CHECK };

	return __set_cpus_allowed_ptr(p, &ctx);
}

/* A kernel thread that does not run yet: kernel/kthread.c, __kthread_bind_mask(). */
void kthread_bind_mask_now(struct task_struct *p, const struct cpumask *mask)
{
	struct affinity_context ctx = { .new_mask = mask };
	unsigned long flags;

	raw_spin_lock_irqsave(&p->pi_lock, flags);
	WARN_ON_ONCE(p->on_rq);
	set_cpus_allowed_common(p, &ctx);
	p->flags |= PF_NO_SETAFFINITY;
	raw_spin_unlock_irqrestore(&p->pi_lock, flags);
}

/* kernel/sched/core.c, migrate_disable() */
void migrate_disable(void)
{
	struct task_struct *p = current;

	if (p->migration_disabled++)
		return;
	guard(preempt)();
	this_rq()->nr_pinned++;
}

/* kernel/sched/core.c, migrate_enable() */
void migrate_enable(void)
{
	struct task_struct *p = current;
	struct affinity_context ctx = {
		.new_mask	= &p->cpus_mask,	/* which may change until the locks are held */
		.flags		= SCA_MIGRATE_ENABLE,
	};

	if (WARN_ON_ONCE(!p->migration_disabled))
		return;
	if (p->migration_disabled > 1) {
		p->migration_disabled--;
		return;
	}
	guard(preempt)();
	if (p->cpus_ptr != model_cpus(p))
		__set_cpus_allowed_ptr(p, &ctx);
	p->migration_disabled = 0;
	this_rq()->nr_pinned--;
}

/* kernel/sched/core.c, migrate_disable_switch(): others see where it may run only now. */
void migrate_disable_switch(struct rq *rq, struct task_struct *p)
{
	struct affinity_context ctx = {
		.new_mask	= cpumask_of(rq->cpu),
		.flags		= SCA_MIGRATE_DISABLE,
	};

	if (likely(!p->migration_disabled) || p->cpus_ptr != model_cpus(p))
		return;
	__do_set_cpus_allowed(p, &ctx);
}

/* kernel/sched/core.c, sched_exec(): a good moment to move, its memory is gone anyway. */
void sched_exec(void)
{
	struct task_struct *p = current;
	struct migration_arg arg = { .task = p };
	unsigned long flags;
	bool stay;

	raw_spin_lock_irqsave(&p->pi_lock, flags);
	arg.dest_cpu = p->sched_class->select_task_rq(p, task_cpu(p), WF_EXEC);
	stay = arg.dest_cpu == smp_processor_id() || !cpu_active(arg.dest_cpu);
	raw_spin_unlock_irqrestore(&p->pi_lock, flags);
	if (!stay)
		stop_one_cpu(task_cpu(p), migration_cpu_stop, &arg);
}
