// SPDX-License-Identifier: GPL-2.0
/*
 * puller: a FIFO that balances all the time, in vain: from a queue that is always
 * empty. Interrupts come between any two of the steps by which the class finds out
 * who calls it. And it takes its time before a core idles: somebody else's threads
 * are woken there meanwhile.
 */
#include <linux/module.h>
#include <linux/saakm.h>

static unsigned int tries = 2000;
module_param(tries, uint, 0444);

static unsigned int pauses = 200;
module_param(pauses, uint, 0444);

static unsigned int pulled;
module_param(pulled, uint, 0444);

static DEFINE_PER_CPU(struct saakm_rq, puller_rq);
static DEFINE_PER_CPU(struct saakm_rq, puller_empty_rq);

static void puller_place(struct saakm_policy *policy, struct process_event *event,
			 struct core_event *core)
{
	change_state(event->task, SAAKM_READY, core->id, &per_cpu(puller_rq, core->id));
}

static struct task_struct *puller_schedule(struct saakm_policy *policy, struct core_event *core)
{
	return saakm_curr(core) ?: saakm_rq_first(&per_cpu(puller_rq, core->id));
}

static void puller_balance(struct saakm_policy *policy, struct core_event *core)
{
	int other = cpumask_any_but(cpu_online_mask, core->id);
	unsigned int i;

	for (i = 0; i < tries && other < nr_cpu_ids; i++)
		saakm_steal(&per_cpu(puller_empty_rq, other), core->id,
			    &per_cpu(puller_rq, core->id), 1, NULL);
	WRITE_ONCE(pulled, pulled + i);
}

/* The runqueue is not locked. */
static void puller_newly_idle(struct saakm_policy *policy, struct core_event *core)
{
	unsigned int i;

	for (i = 0; i < pauses; i++)
		cpu_relax();
}

static int puller_init(struct saakm_policy *policy)
{
	return saakm_runqueues_init(&puller_rq, SAAKM_RQ_FIFO, NULL) ?:
	       saakm_runqueues_init(&puller_empty_rq, SAAKM_RQ_FIFO, NULL);
}

static const struct saakm_module_routines puller_routines = {
	.init			= puller_init,
	.new_place		= puller_place,
	.unblock_place		= puller_place,
	.schedule		= puller_schedule,
	.newly_idle		= puller_newly_idle,
	.balancing_select	= puller_balance,
};

static struct saakm_policy puller = {
	.name			= "puller",
	.routines		= &puller_routines,
	.owner			= THIS_MODULE,
	.balance_interval_ms	= 1,
};
module_saakm_policy(puller);
MODULE_DESCRIPTION("SaaKM test: balances all the time");
MODULE_LICENSE("GPL");
