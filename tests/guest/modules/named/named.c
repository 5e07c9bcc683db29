// SPDX-License-Identifier: GPL-2.0
/*
 * named: a policy that should be refused at load: for its name, for memory that
 * does not last, or because it gives up in its own init.
 */
#include <linux/saakm.h>

static char *called = "named";
module_param(called, charp, 0444);
static char *memory = "static";
module_param(memory, charp, 0444);
MODULE_PARM_DESC(memory, "where the policy is: static, stack, init; handler, key, bound: one is __init");
static bool ejects;
module_param(ejects, bool, 0444);
MODULE_PARM_DESC(ejects, "init ejects the policy");

static void __init named_tick(struct process_event *event, struct core_event *core)
{
}

static u64 __init named_init_key(const struct task_struct *task)
{
	return 0;
}

static u64 named_key(const struct task_struct *task)
{
	return 0;
}

static int named_init(struct saakm_policy *policy)
{
	if (ejects)
		saakm_eject(policy, SAAKM_EXIT_POLICY_ERROR, NULL, "gave up in init");
	return 0;
}

static struct saakm_policy named = { .owner = THIS_MODULE, .init = named_init };
static struct saakm_policy named_for_now __initdata = { .owner = THIS_MODULE };

static int __init named_on_stack(void)
{
	struct saakm_policy policy = { .name = "named", .owner = THIS_MODULE };

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
		named.tick = named_tick;
	if (!strcmp(memory, "key") || !strcmp(memory, "bound")) {
		named.queue = SAAKM_RQ_RBTREE;
		named.key = *memory == 'k' ? named_init_key : named_key;
		named.bound = *memory == 'b' ? named_init_key : NULL;
	}
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
