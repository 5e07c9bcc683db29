// SPDX-License-Identifier: GPL-2.0
/*
 * bystanders: as many policies as `count` says, to which nobody gives a thread.
 * Loaded before the policy that is measured, all of them are asked before it.
 */
#include <linux/module.h>
#include <linux/saakm.h>

#define MOST 16

static unsigned int count = 1;
module_param(count, uint, 0444);

static DEFINE_PER_CPU(struct saakm_rq, bystanders_rq);
static struct saakm_policy policies[MOST];

static void bystanders_place(struct saakm_policy *policy, struct process_event *event,
			     struct core_event *core)
{
	change_state(event->task, SAAKM_READY, core->id, &per_cpu(bystanders_rq, core->id));
}

static struct task_struct *bystanders_schedule(struct saakm_policy *policy,
					       struct core_event *core)
{
	return saakm_curr(core) ?: saakm_rq_first(&per_cpu(bystanders_rq, core->id));
}

static const struct saakm_module_routines bystanders_routines = {
	.new_place	= bystanders_place,
	.unblock_place	= bystanders_place,
	.schedule	= bystanders_schedule,
};

static void bystanders_remove(unsigned int number)
{
	while (number--)
		saakm_remove_policy(&policies[number]);
}

static int __init bystanders_init(void)
{
	unsigned int i;
	int ret;

	if (count > MOST)
		return -EINVAL;
	saakm_runqueues_init(&bystanders_rq, SAAKM_RQ_FIFO, NULL);
	for (i = 0; i < count; i++) {
		snprintf(policies[i].name, sizeof(policies[i].name), "bystander%u", i);
		policies[i].routines = &bystanders_routines;
		policies[i].owner = THIS_MODULE;
		ret = saakm_add_policy(&policies[i]);
		if (ret) {
			bystanders_remove(i);
			return ret;
		}
	}
	return 0;
}

static void __exit bystanders_exit(void)
{
	bystanders_remove(count);
}

module_init(bystanders_init);
module_exit(bystanders_exit);
MODULE_DESCRIPTION("SaaKM: policies without threads, for saakm cost --axis policies");
MODULE_LICENSE("GPL");
