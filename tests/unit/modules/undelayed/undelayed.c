// SPDX-License-Identifier: GPL-2.0
/* undelayed: has a block_delay, and queues with which that does not go; or, `how` empty, does. */
#include <linux/saakm.h>

static char *how = "";
module_param(how, charp, 0444);

static bool undelayed_block_delay(struct process_event *event, struct core_event *core)
{
	return true;
}

static int undelayed_init(struct saakm_policy *policy)
{
	return strcmp(how, "share") ? 0 : saakm_share_queue(policy, cpu_possible_mask);
}

static struct task_struct *undelayed_schedule(struct core_event *core)
{
	return core->curr;
}

static void undelayed_place(struct process_event *event, struct core_event *core)
{
}

static struct saakm_policy undelayed = {
	.name = "undelayed", .owner = THIS_MODULE,
	.block_delay = undelayed_block_delay, .init = undelayed_init,
};

static int __init undelayed_module_init(void)
{
	if (!strcmp(how, "none")) {
		undelayed.queue = SAAKM_RQ_NONE;
		undelayed.schedule = undelayed_schedule;
		undelayed.place = undelayed_place;
	}
	return saakm_add_policy(&undelayed);
}

static void __exit undelayed_module_exit(void)
{
	saakm_remove_policy(&undelayed);
}

module_init(undelayed_module_init);
module_exit(undelayed_module_exit);
MODULE_DESCRIPTION("SaaKM test: queues for delayed dequeue");
MODULE_LICENSE("GPL");
