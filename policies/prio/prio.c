// SPDX-License-Identifier: GPL-2.0
/*
 * prio: strict priority by nice value, preemptive; first come, first served
 * among equals. A thread of low priority runs only when no other wants the CPU:
 * not for mixed loads, but nothing shows an ordered queue better.
 */
#include <linux/module.h>
#include <linux/saakm.h>

static DEFINE_PER_CPU(struct saakm_rq, prio_rq);

static int prio_order(const struct task_struct *a, const struct task_struct *b)
{
	return a->static_prio - b->static_prio;
}

static int prio_prepare(struct saakm_policy *policy, struct process_event *event)
{
	int cpu = saakm_idle_cpu_near(event->task, event->prev_cpu);

	return cpu >= 0 ? cpu : event->prev_cpu;
}

static void prio_place(struct saakm_policy *policy, struct process_event *event,
		       struct core_event *core)
{
	change_state(event->task, SAAKM_READY, core->id, &per_cpu(prio_rq, core->id));
}

static bool prio_wakeup_preempt(struct saakm_policy *policy,
				struct task_struct *running,
				struct task_struct *woken)
{
	return prio_order(woken, running) < 0;
}

static void prio_attr_changed(struct saakm_policy *policy,
			      struct process_event *event,
			      struct core_event *core)
{
	saakm_preempt(core);
}

static struct task_struct *prio_schedule(struct saakm_policy *policy,
					 struct core_event *core)
{
	struct task_struct *first = saakm_rq_first(&per_cpu(prio_rq, core->id));
	struct task_struct *curr = core->curr;
	int order;

	if (!curr || !first)
		return first;
	order = prio_order(first, curr);
	/* Among equals only one that yields makes way. */
	return order < 0 || (!order && !saakm_curr(core)) ? first : curr;
}

static int prio_init(struct saakm_policy *policy)
{
	return saakm_runqueues_init(&prio_rq, SAAKM_RQ_LIST, prio_order);
}

static const struct saakm_module_routines prio_routines = {
	.init			= prio_init,
	.new_prepare		= prio_prepare,
	.new_place		= prio_place,
	.unblock_prepare	= prio_prepare,
	.unblock_place		= prio_place,
	.wakeup_preempt		= prio_wakeup_preempt,
	.attr_changed		= prio_attr_changed,
	.schedule		= prio_schedule,
};

static struct saakm_policy prio = {
	.name = "prio", .routines = &prio_routines, .owner = THIS_MODULE,
};
module_saakm_policy(prio);
MODULE_DESCRIPTION("SaaKM: strict priority by nice value");
MODULE_LICENSE("GPL");
