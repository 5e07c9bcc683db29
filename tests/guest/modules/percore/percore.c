// SPDX-License-Identifier: GPL-2.0
/*
 * percore: fills each core's data with the core's number, and looks at every event of a
 * core and at every block whether all of it is still there. If not, it gives up.
 */
#include <linux/saakm.h>

static atomic_t nr_looks = ATOMIC_INIT(0);
module_param_named(looks, nr_looks.counter, int, 0444);

/* Nobody else's: no data is zero. */
static int mark(int cpu)
{
	return cpu + 1;
}

static bool is_filled(const struct core_event *core, int byte)
{
	return !memchr_inv(core->data, byte, core->policy->core_size);
}

static void look(struct core_event *core)
{
	atomic_inc(&nr_looks);
	if (core != saakm_core_of(core->policy, core->id) || !is_filled(core, mark(core->id)))
		saakm_eject(core->policy, SAAKM_EXIT_POLICY_ERROR, NULL,
			    "the data of core %d is not as it was", core->id);
}

static void percore_block(struct process_event *event, struct core_event *core)
{
	look(core);
}

static int percore_init(struct saakm_policy *policy)
{
	struct core_event *core;
	int cpu;

	for_each_possible_cpu(cpu) {
		core = saakm_core_of(policy, cpu);
		if (core->policy != policy || core->id != cpu)
			return -EBADE;
		/* It is set up already, and the class goes by how. */
		if (saakm_runqueue_init(&core->rq, cpu, SAAKM_RQ_FIFO, NULL) != -EINVAL ||
		    saakm_runqueue_init(&core->rq, !cpu, SAAKM_RQ_FIFO, NULL) != -EINVAL)
			return -EADV;
		if (!core->data != !policy->core_size || !IS_ALIGNED((long)core->data, sizeof(u64)))
			return -EFAULT;
		/* All of it: the data of those before have been filled already. */
		if (!is_filled(core, 0))
			return -EUCLEAN;
		memset(core->data, mark(cpu), policy->core_size);
	}
	for_each_possible_cpu(cpu) {
		if (!is_filled(saakm_core_of(policy, cpu), mark(cpu)))
			return -EBADF;
	}
	return 0;
}

SAAKM_POLICY(percore,
	     .core_size		= 40,
	     .init		= percore_init,
	     .block		= percore_block,
	     .enter_idle	= look,
	     .exit_idle		= look,
	     .core_entry	= look,
	     .core_exit		= look);
module_param_named(size, percore.core_size, uint, 0444);
