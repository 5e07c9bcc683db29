// SPDX-License-Identifier: GPL-2.0
/*
 * fifo: one queue per CPU, first come, first served. A thread stays on the CPU
 * that its PID names and runs until it blocks or yields. No balancing: the
 * evaluation policy of the SaaKM paper.
 */
#include <linux/module.h>
#include <linux/saakm.h>

static DEFINE_PER_CPU(struct saakm_rq, fifo_rq);

static int fifo_prepare(struct saakm_policy *policy, struct process_event *event)
{
	return saakm_usable_cpu(event->task, event->task->pid % nr_cpu_ids);
}

static void fifo_place(struct saakm_policy *policy, struct process_event *event,
		       struct core_event *core)
{
	change_state(event->task, SAAKM_READY, core->id, &per_cpu(fifo_rq, core->id));
}

static struct task_struct *fifo_schedule(struct saakm_policy *policy,
					 struct core_event *core)
{
	return saakm_curr(core) ?: saakm_rq_first(&per_cpu(fifo_rq, core->id));
}

static int fifo_init(struct saakm_policy *policy)
{
	return saakm_runqueues_init(&fifo_rq, SAAKM_RQ_FIFO, NULL);
}

static const struct saakm_module_routines fifo_routines = {
	.init			= fifo_init,
	.new_prepare		= fifo_prepare,
	.new_place		= fifo_place,
	.unblock_prepare	= fifo_prepare,
	.unblock_place		= fifo_place,
	.schedule		= fifo_schedule,
};

static struct saakm_policy fifo = {
	.name = "fifo", .routines = &fifo_routines, .owner = THIS_MODULE,
};
module_saakm_policy(fifo);
MODULE_DESCRIPTION("SaaKM: per-CPU FIFO");
MODULE_LICENSE("GPL");
