// SPDX-License-Identifier: GPL-2.0
/*
 * puller: a FIFO that balances all the time, in vain: from a queue that is always
 * empty. Interrupts come between any two of the steps by which the class finds out
 * who calls it. And it takes its time before a core idles: somebody else's threads
 * are woken there meanwhile.
 */
#include <linux/saakm.h>

static unsigned int tries = 2000;
module_param(tries, uint, 0444);

static unsigned int pauses = 200;
module_param(pauses, uint, 0444);

static unsigned int pulled;
module_param(pulled, uint, 0444);

static DEFINE_PER_CPU(struct saakm_rq, empty_rq);

static void puller_balance(struct core_event *core)
{
	int other = cpumask_any_but(cpu_online_mask, core->id);
	unsigned int i;

	for (i = 0; i < tries && other < nr_cpu_ids; i++)
		saakm_steal(&per_cpu(empty_rq, other), core->id, &core->rq, 1, NULL, NULL);
	WRITE_ONCE(pulled, pulled + i);
}

/* The runqueue is not locked. */
static void puller_newly_idle(struct core_event *core)
{
	unsigned int i;

	for (i = 0; i < pauses; i++)
		cpu_relax();
}

static int puller_init(struct saakm_policy *policy)
{
	return saakm_runqueues_init(&empty_rq, SAAKM_RQ_FIFO, NULL);
}

SAAKM_POLICY(puller,
	     .balance_interval_ms	= 1,
	     .init			= puller_init,
	     .prepare			= saakm_prev_cpu,
	     .newly_idle		= puller_newly_idle,
	     .balancing_select		= puller_balance);
