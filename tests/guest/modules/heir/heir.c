// SPDX-License-Identifier: GPL-2.0
/*
 * heir: a FIFO that counts the elections of each thread in the thread's data,
 * and takes the counts over from another heir. `inherited` says how many came.
 * With `hold`, who asks to join is answered when heir is on its way out; `asking` wait.
 */
#include <linux/delay.h>
#include <linux/saakm.h>

struct heir_task {
	u64 elections;
};

static int refuse;	/* errno that migrate_from returns */
module_param(refuse, int, 0444);
static char *name = "heir";
module_param(name, charp, 0444);
static bool hold;
module_param(hold, bool, 0444);
static atomic_t asking = ATOMIC_INIT(0);
module_param_named(asking, asking.counter, int, 0444);

static atomic_t inherited = ATOMIC_INIT(0);
module_param_named(inherited, inherited.counter, int, 0444);
static atomic_t elections = ATOMIC_INIT(0);	/* that came with them */
module_param_named(elections, elections.counter, int, 0444);

static void heir_tick(struct process_event *event, struct core_event *core)
{
	change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
}

static void heir_running(struct process_event *event, struct core_event *core)
{
	((struct heir_task *)event->data)->elections++;
}

static int heir_check(struct saakm_policy *policy, const struct sched_attr *attr)
{
	atomic_inc(&asking);
	while (hold && !READ_ONCE(policy->dying) && !READ_ONCE(policy->successor))
		msleep(10);
	atomic_dec(&asking);
	return 0;
}

static int heir_migrate_from(struct saakm_policy *policy, struct saakm_policy *old)
{
	if (strncmp(module_name(old->owner), "heir", 4))
		return -EMEDIUMTYPE;
	return -refuse;
}

static void heir_take_over(struct process_event *event, const void *old_data)
{
	const struct heir_task *old = old_data;

	((struct heir_task *)event->data)->elections = old->elections;
	atomic_inc(&inherited);
	atomic_add(old->elections, &elections);
}

static struct saakm_policy heir = {
	.owner		= THIS_MODULE,
	.task_size	= sizeof(struct heir_task),
	.prepare	= saakm_prev_cpu,
	.tick		= heir_tick,
	.running	= heir_running,
	.checkparam_attr = heir_check,
	.migrate_from	= heir_migrate_from,
	.take_over	= heir_take_over,
};

static char *replaces;
module_param(replaces, charp, 0444);

static int __init heir_module_init(void)
{
	int ret = saakm_set_options(&heir, replaces, -1, NULL);

	strscpy(heir.name, name);
	return ret ?: saakm_add_policy(&heir);
}

static void __exit heir_module_exit(void)
{
	saakm_remove_policy(&heir);
}

module_init(heir_module_init);
module_exit(heir_module_exit);
MODULE_DESCRIPTION("SaaKM test: a policy that is replaced and replaces");
MODULE_LICENSE("GPL");
