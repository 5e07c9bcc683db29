// SPDX-License-Identifier: GPL-2.0
/*
 * Each CPU's stopper, the thread that goes before all others: it takes threads off a CPU where they
 * run, and CPUs down. kernel/stop_machine.c. Not modelled: stop_machine() and stop_two_cpus().
 */
#include <linux/completion.h>
#include "model.h"

struct model_stopper {
	struct task_struct	*thread;
	raw_spinlock_t		lock;
	struct list_head	works;
};

static bool take_work(struct model_stopper *stopper, struct cpu_stop_work **work)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&stopper->lock, flags);
	*work = list_first_entry_or_null(&stopper->works, struct cpu_stop_work, list);
	if (*work)
		list_del_init(&(*work)->list);
	raw_spin_unlock_irqrestore(&stopper->lock, flags);
	return *work;
}

/* cpu_stopper_thread(), and smpboot_thread_fn() around it. The works may not sleep. */
static void stopper_step(struct task_struct *p)
{
	struct model_stopper *stopper = model_rq()->stopper;
	struct cpu_stop_work *work;

	while (take_work(stopper, &work)) {
		struct completion *done = work->done;
		int ret;

		preempt_disable();
		ret = work->fn(work->arg);
		preempt_enable();
		/* Without somebody who waits the work may be gone. */
		if (done) {
			work->ret = ret;
			complete(done);
		}
	}
	set_current_state(TASK_INTERRUPTIBLE);
	if (!list_empty(&stopper->works)) {
		set_current_state(TASK_RUNNING);
		return;
	}
	model_block(0);
}

/* sched_set_stop_task() */
void model_make_stopper(int cpu)
{
	struct model_stopper *stopper = sim_alloc(sizeof(*stopper));
	struct task_struct *p = model_new_task("migration/");

	snprintf(p->comm, sizeof(p->comm), "migration/%d", cpu);
	p->step = stopper_step;
	p->in_kernel = true;
	p->per_cpu = true;
	p->flags |= PF_KTHREAD | PF_NO_SETAFFINITY;
	p->sched_class = &stop_sched_class;
	p->policy = SCHED_FIFO;
	p->rt_priority = MAX_RT_PRIO - 1;
	p->prio = p->normal_prio = 0;
	cpumask_copy(&p->cpus_mask, cpumask_of(cpu));
	p->cpus_ptr = model_cpus(p);
	p->nr_cpus_allowed = 1;
	__set_task_cpu(p, cpu);
	p->__state = TASK_INTERRUPTIBLE;
	raw_spin_lock_init(&stopper->lock);
	INIT_LIST_HEAD(&stopper->works);
	stopper->thread = p;
	cpu_rq(cpu)->stopper = stopper;
	cpu_rq(cpu)->stop = p;
}

/* cpu_stop_queue_work() */
void stop_one_cpu_nowait(unsigned int cpu, int (*fn)(void *arg), void *arg,
			 struct cpu_stop_work *work)
{
	struct model_stopper *stopper = cpu_rq(cpu)->stopper;
	unsigned long flags;

	work->fn = fn;
	work->arg = arg;
	work->done = NULL;
	raw_spin_lock_irqsave(&stopper->lock, flags);
	list_add_tail(&work->list, &stopper->works);
	raw_spin_unlock_irqrestore(&stopper->lock, flags);
	wake_up_process(stopper->thread);
}

/* stop_one_cpu(): the caller sleeps until it has been done. */
int stop_one_cpu(unsigned int cpu, int (*fn)(void *arg), void *arg)
{
	struct model_stopper *stopper = cpu_rq(cpu)->stopper;
	DECLARE_COMPLETION_ONSTACK(done);
	struct cpu_stop_work work = { .fn = fn, .arg = arg, .done = &done };
	unsigned long flags;

	raw_spin_lock_irqsave(&stopper->lock, flags);
	list_add_tail(&work.list, &stopper->works);
	raw_spin_unlock_irqrestore(&stopper->lock, flags);
	wake_up_process(stopper->thread);
	cond_resched();
	wait_for_completion(&done);
	return work.ret;
}
