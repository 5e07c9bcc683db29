// SPDX-License-Identifier: GPL-2.0
/* badload: a policy that must be refused, in the way that `fault` says. */
#include <linux/saakm.h>
#include <linux/slab.h>

static char *fault = "";
module_param(fault, charp, 0444);

static char *name = "badload";
module_param(name, charp, 0444);

static bool is(const char *wanted)
{
	return !strcmp(fault, wanted);
}

static int bad_prepare(struct process_event *event)
{
	return event->prev_cpu;
}

static void bad_place(struct process_event *event, struct core_event *core)
{
}

static struct task_struct *bad_schedule(struct core_event *core)
{
	return saakm_curr(core) ?: saakm_rq_first(&core->rq);
}

static u64 bad_key(const struct task_struct *task)
{
	return 0;
}

static void bad_select(struct core_event *core)
{
}

static int bad_init(struct saakm_policy *policy)
{
	return is("init") ? -EXDEV : 0;
}

/* More than there is. */
static int bad_greedy(struct saakm_policy *policy)
{
	void *p = kvmalloc(1UL << 46, GFP_KERNEL | __GFP_NOWARN);

	kvfree(p);
	return p ? 0 : -ENOMEM;
}

static void bad_free(struct saakm_policy *policy)
{
	pr_info("badload: free_metadata\n");
}

static struct saakm_policy badload = {
	.owner			= THIS_MODULE,
	.init			= bad_init,
	.free_metadata		= bad_free,
	.new_prepare		= bad_prepare,
	.unblock_prepare	= bad_prepare,
	.new_place		= bad_place,
	.unblock_place		= bad_place,
	.schedule		= bad_schedule,
};

/* With queues of its own: a policy that lacks something, or has a key. */
static void __init make_none(const char *what)
{
	badload.queue = SAAKM_RQ_NONE;
	if (!strcmp(what, "new_place") || !strcmp(what, "places"))
		badload.new_place = NULL;
	if (!strcmp(what, "unblock_place") || !strcmp(what, "places"))
		badload.unblock_place = NULL;
	if (!strcmp(what, "schedule"))
		badload.schedule = NULL;
	if (!strcmp(what, "key"))
		badload.key = bad_key;
}

static void __init make_fault(void)
{
	if (!strncmp(fault, "none_", 5))
		make_none(fault + 5);
	else if (is("queue"))
		badload.queue = 7;
	else if (is("list"))
		badload.queue = SAAKM_RQ_LIST;
	else if (is("rbtree"))
		badload.queue = SAAKM_RQ_RBTREE;
	else if (is("key"))
		badload.key = bad_key;
	else if (is("bound"))
		badload.bound = bad_key;
	else if (is("place"))
		badload.place = bad_place;
	else if (is("prepare"))
		badload.prepare = bad_prepare;
	else if (is("interval"))
		badload.balance_interval_ms = 10;
	else if (is("select"))
		badload.balancing_select = bad_select;
	else if (is("free"))
		badload.init = NULL;
	else if (is("big"))
		badload.task_size = 100000;
	else if (is("big_core"))
		badload.core_size = 40000;
	else if (is("big_process"))
		badload.process_size = 100000;
	else if (is("greedy"))
		badload.init = bad_greedy;
	else if (is("long"))
		memset(badload.name, 'x', sizeof(badload.name));
}

/* What a module of the first edition calls, in which this was a function. */
#undef saakm_add_policy
int saakm_add_policy(struct saakm_policy *policy);

static int __init badload_init(void)
{
	int ret;

	strscpy(badload.name, name);
	make_fault();
	if (is("first"))
		return saakm_add_policy(&badload);
	ret = saakm_add_policy_of(&badload, is("edition") ? 1 : SAAKM_EDITION);
	if (!ret && is("late"))
		ret = -EXDEV;	/* with the policy registered: we forgot to undo it */
	return ret;
}

static void __exit badload_exit(void)
{
	if (!is("forget"))
		saakm_remove_policy(&badload);
}

module_init(badload_init);
module_exit(badload_exit);
MODULE_DESCRIPTION("SaaKM test: a policy that must be refused");
MODULE_LICENSE("GPL");
