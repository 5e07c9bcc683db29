// SPDX-License-Identifier: GPL-2.0
/* badload: a policy that must be refused, in the way that `fault` says. */
#include <linux/module.h>
#include <linux/saakm.h>
#include <linux/slab.h>

static char *fault = "";
module_param(fault, charp, 0444);

static char *name = "badload";
module_param(name, charp, 0444);

static DEFINE_PER_CPU(struct saakm_rq, badload_rq);

static void bad_place(struct saakm_policy *policy, struct process_event *event,
		      struct core_event *core)
{
	change_state(event->task, SAAKM_READY, core->id, &per_cpu(badload_rq, core->id));
}

static struct task_struct *bad_schedule(struct saakm_policy *policy, struct core_event *core)
{
	return saakm_curr(core) ?: saakm_rq_first(&per_cpu(badload_rq, core->id));
}

static int bad_init(struct saakm_policy *policy)
{
	saakm_runqueues_init(&badload_rq, SAAKM_RQ_FIFO, NULL);
	return strcmp(fault, "init") ? 0 : -EXDEV;
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

static struct saakm_module_routines routines = {
	.init		= bad_init,
	.free_metadata	= bad_free,
	.new_place	= bad_place,
	.unblock_place	= bad_place,
	.schedule	= bad_schedule,
};

static struct saakm_policy badload = { .routines = &routines, .owner = THIS_MODULE };

static int __init badload_init(void)
{
	int ret;

	strscpy(badload.name, name);
	if (!strcmp(fault, "schedule"))
		routines.schedule = NULL;
	else if (!strcmp(fault, "new_place"))
		routines.new_place = NULL;
	else if (!strcmp(fault, "unblock_place"))
		routines.unblock_place = NULL;
	else if (!strcmp(fault, "routines"))
		badload.routines = NULL;
	else if (!strcmp(fault, "interval"))
		badload.balance_interval_ms = 10;
	else if (!strcmp(fault, "free"))
		routines.init = NULL;
	else if (!strcmp(fault, "big"))
		badload.task_size = 100000;
	else if (!strcmp(fault, "greedy"))
		routines.init = bad_greedy;
	else if (!strcmp(fault, "long"))
		memset(badload.name, 'x', sizeof(badload.name));
	ret = saakm_add_policy(&badload);
	if (!ret && !strcmp(fault, "late"))
		ret = -EXDEV;	/* with the policy registered: we forgot to undo it */
	return ret;
}

static void __exit badload_exit(void)
{
	if (strcmp(fault, "forget"))
		saakm_remove_policy(&badload);
}

module_init(badload_init);
module_exit(badload_exit);
MODULE_DESCRIPTION("SaaKM test: a policy that must be refused");
MODULE_LICENSE("GPL");
