// SPDX-License-Identifier: GPL-2.0
/* The machine begins: kernel/sched/core.c, sched_init(), sched_init_smp(); init/main.c. */
#include <linux/cpu.h>
#include "model.h"

unsigned int nr_cpu_ids;
struct cpumask __cpu_possible_mask, __cpu_present_mask, __cpu_online_mask, __cpu_active_mask;

static void check_classes(void)
{
	BUG_ON(&stop_sched_class != __sched_class_highest);
	BUG_ON(!sched_class_above(&stop_sched_class, &dl_sched_class));
	BUG_ON(!sched_class_above(&dl_sched_class, &rt_sched_class));
	BUG_ON(!sched_class_above(&rt_sched_class, &fair_sched_class));
	BUG_ON(!sched_class_above(&fair_sched_class, &saakm_sched_class));
	BUG_ON(!sched_class_above(&saakm_sched_class, &idle_sched_class));
	BUG_ON(&idle_sched_class + 1 != __sched_class_lowest);
}

static void init_masks(void)
{
	int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		cpumask_set_cpu(cpu, &__cpu_possible_mask);
		cpumask_set_cpu(cpu, &__cpu_present_mask);
		cpumask_set_cpu(cpu, &__cpu_online_mask);
		cpumask_set_cpu(cpu, &__cpu_active_mask);
	}
}

/* sched_init(), of one CPU, which idles at first. */
static void init_rq(int cpu)
{
	struct rq *rq = cpu_rq(cpu);

	raw_spin_lock_init(&rq->__lock);
	rq->cpu = cpu;
	rq->idle = model_new_idle(cpu);
	rq->curr = rq->idle;
	per_cpu(current_task, cpu) = rq->idle;
	cpumask_set_cpu(cpu, &model_idle_mask);
	init_cfs_rq(&rq->cfs);
	init_rt_rq(&rq->rt);
	init_dl_rq(&rq->dl);
	model_init_burst(rq);
	model_init_tick(rq);
	model_init_ipi(rq);
	fair_server_init(rq);
	saakm_init_rq(rq);
}

/* This strand becomes the first thread, running on CPU 0. */
static void become_init(void)
{
	struct task_struct *p = model_new_task("init");
	struct rq *rq = cpu_rq(0);
	struct rq_flags rf;

	p->in_kernel = true;
	p->__state = TASK_RUNNING;
	rq_lock_irqsave(rq, &rf);
	update_rq_clock(rq);
	rq->idle->sched_class->put_prev_task(rq, rq->idle, p);
	rq->idle->on_cpu = 0;
	rq->curr = p;
	per_cpu(current_task, 0) = p;
	p->on_cpu = 1;
	cpumask_clear_cpu(0, &model_idle_mask);
	activate_task(rq, p, ENQUEUE_NOCLOCK);
	set_next_task(rq, p);
	tick_nohz_idle_exit_cpu(rq);
	rq_unlock_irqrestore(rq, &rf);
}

void model_boot(void)
{
	int cpu;

	nr_cpu_ids = sim_options.cpus;
	sim_enter_cpu(0);
	check_classes();
	init_masks();
	for_each_possible_cpu(cpu)
		cpu_rq(cpu)->cpu = cpu;
	model_init_domains();
	for_each_possible_cpu(cpu)
		init_rq(cpu);
	become_init();
	for_each_possible_cpu(cpu)
		model_make_stopper(cpu);
	model_build_domains();
}

void model_boot_done(void)
{
	model_block(TASK_IDLE);
	model_task_exit();
}
