// SPDX-License-Identifier: GPL-2.0
/* weigher: a FIFO that remembers the last weight of a cgroup that it was told. */
#include <linux/module.h>
#include <linux/saakm.h>

static unsigned int last_weight;
module_param_named(weight, last_weight, uint, 0444);
static ulong last_cgroup;
module_param_named(cgroup, last_cgroup, ulong, 0444);

static DEFINE_PER_CPU(struct saakm_rq, weigher_rq);

static void weigher_place(struct saakm_policy *policy, struct process_event *event,
			  struct core_event *core)
{
	change_state(event->task, SAAKM_READY, core->id, &per_cpu(weigher_rq, core->id));
}

static struct task_struct *weigher_schedule(struct saakm_policy *policy, struct core_event *core)
{
	return saakm_curr(core) ?: saakm_rq_first(&per_cpu(weigher_rq, core->id));
}

static void weigher_cgroup_weight(struct saakm_policy *policy, u64 cgroup, unsigned int weight)
{
	last_cgroup = cgroup;
	last_weight = weight;
}

static int weigher_init(struct saakm_policy *policy)
{
	return saakm_runqueues_init(&weigher_rq, SAAKM_RQ_FIFO, NULL);
}

static const struct saakm_module_routines weigher_routines = {
	.init		= weigher_init,
	.new_place	= weigher_place,
	.unblock_place	= weigher_place,
	.schedule	= weigher_schedule,
	.cgroup_weight	= weigher_cgroup_weight,
};

static struct saakm_policy weigher = {
	.name		= "weigher",
	.routines	= &weigher_routines,
	.owner		= THIS_MODULE,
};
module_saakm_policy(weigher);
MODULE_DESCRIPTION("SaaKM test: weights of cgroups");
MODULE_LICENSE("GPL");
