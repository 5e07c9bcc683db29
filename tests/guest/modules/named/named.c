// SPDX-License-Identifier: GPL-2.0
/*
 * named: a policy that should be refused at load: for its name, for memory that
 * does not last, or because it gives up in its own init.
 */
#include <linux/module.h>
#include <linux/saakm.h>

static char *called = "named";
module_param(called, charp, 0444);
static char *memory = "static";
module_param(memory, charp, 0444);
MODULE_PARM_DESC(memory, "where the policy is: static, stack, init; handler: a routine is __init");
static bool ejects;
module_param(ejects, bool, 0444);
MODULE_PARM_DESC(ejects, "init ejects the policy");

static DEFINE_PER_CPU(struct saakm_rq, named_rq);

static void named_place(struct saakm_policy *policy, struct process_event *event,
			struct core_event *core)
{
	change_state(event->task, SAAKM_READY, core->id, &per_cpu(named_rq, core->id));
}

static struct task_struct *named_schedule(struct saakm_policy *policy, struct core_event *core)
{
	return saakm_curr(core) ?: saakm_rq_first(&per_cpu(named_rq, core->id));
}

static void __init named_tick(struct saakm_policy *policy, struct process_event *event,
			      struct core_event *core)
{
}

static int named_init(struct saakm_policy *policy)
{
	if (ejects)
		saakm_eject(policy, SAAKM_EXIT_POLICY_ERROR, NULL, "gave up in init");
	return saakm_runqueues_init(&named_rq, SAAKM_RQ_FIFO, NULL);
}

static struct saakm_module_routines named_routines = {
	.init = named_init, .new_place = named_place, .unblock_place = named_place,
	.schedule = named_schedule,
};

static struct saakm_policy named = { .routines = &named_routines, .owner = THIS_MODULE };
static struct saakm_policy named_for_now __initdata = {
	.routines = &named_routines, .owner = THIS_MODULE,
};

static int __init named_on_stack(void)
{
	struct saakm_policy policy = {
		.name = "named", .routines = &named_routines, .owner = THIS_MODULE,
	};

	return saakm_add_policy(&policy);
}

static int __init named_module_init(void)
{
	if (!strcmp(memory, "stack"))
		return named_on_stack();
	if (!strcmp(memory, "init")) {
		strscpy(named_for_now.name, called);
		return saakm_add_policy(&named_for_now);
	}
	if (!strcmp(memory, "handler"))
		named_routines.tick = named_tick;
	/* Without an end if it is too long. */
	memcpy(named.name, called, min(strlen(called) + 1, sizeof(named.name)));
	return saakm_add_policy(&named);
}

static void __exit named_module_exit(void)
{
	saakm_remove_policy(&named);
}

module_init(named_module_init);
module_exit(named_module_exit);
MODULE_DESCRIPTION("SaaKM test: policies that are refused");
MODULE_LICENSE("GPL");
