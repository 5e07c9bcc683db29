// SPDX-License-Identifier: GPL-2.0
/*
 * steal: policies/fifo with work stealing. A newly idle CPU takes the longest
 * waiting thread of the nearest CPU that has one.
 */
#include <linux/module.h>
#include <linux/saakm.h>

static DEFINE_PER_CPU(struct saakm_rq, steal_rq);

static int steal_prepare(struct saakm_policy *policy, struct process_event *event)
{
	return saakm_usable_cpu(event->task, event->task->pid % nr_cpu_ids);
}

static void steal_place(struct saakm_policy *policy, struct process_event *event,
			struct core_event *core)
{
	change_state(event->task, SAAKM_READY, core->id, &per_cpu(steal_rq, core->id));
}

static struct task_struct *steal_schedule(struct saakm_policy *policy,
					  struct core_event *core)
{
	return saakm_curr(core) ?: saakm_rq_first(&per_cpu(steal_rq, core->id));
}

static void steal_newly_idle(struct saakm_policy *policy, struct core_event *core)
{
	struct topology_level *level;
	int other;

	for_each_topology_level(level, core->id) {
		for_each_cpu_wrap(other, &level->cores, core->id + 1) {
			if (other != core->id &&
			    saakm_steal(&per_cpu(steal_rq, other), core->id,
					&per_cpu(steal_rq, core->id), 1, NULL) > 0)
				return;
		}
	}
}

static int steal_init(struct saakm_policy *policy)
{
	return saakm_runqueues_init(&steal_rq, SAAKM_RQ_FIFO, NULL);
}

static const struct saakm_module_routines steal_routines = {
	.init			= steal_init,
	.new_prepare		= steal_prepare,
	.new_place		= steal_place,
	.unblock_prepare	= steal_prepare,
	.unblock_place		= steal_place,
	.schedule		= steal_schedule,
	.newly_idle		= steal_newly_idle,
};

static struct saakm_policy steal = {
	.name = "steal", .routines = &steal_routines, .owner = THIS_MODULE,
};
module_saakm_policy(steal);
MODULE_DESCRIPTION("SaaKM: per-CPU FIFO with work stealing");
MODULE_LICENSE("GPL");
