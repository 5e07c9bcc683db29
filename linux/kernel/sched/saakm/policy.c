// SPDX-License-Identifier: GPL-2.0
/* The loaded policies: adding and removing them. */

LIST_HEAD(saakm_policies);
DEFINE_MUTEX(saakm_mutex);	/* saakm_policies and the parameters in sysfs */

static u32 saakm_last_id;
static u64 saakm_masks;		/* bits in use, one for each policy */

static int saakm_setup(struct saakm_policy *policy)
{
	int cpu, ret = 0;

	policy->cores = alloc_percpu(struct core_event);
	if (!policy->cores)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		saakm_core(policy, cpu)->id = cpu;
		saakm_core(policy, cpu)->next_balance = jiffies;
	}
	INIT_LIST_HEAD(&policy->threads);
	raw_spin_lock_init(&policy->threads_lock);
	policy->ops = policy->routines;
	policy->dying = false;
	policy->nr_threads = 0;
	policy->nr_new = 0;
	policy->nr_terminated = 0;
	policy->successor = NULL;
	bitmap_zero(policy->reported, SAAKM_NR_EXITS * SAAKM_NR_STATES);
	policy->exit = (struct saakm_exit) {};

	if (policy->routines->init)
		ret = policy->routines->init(policy);
	if (!ret)
		return 0;
	free_percpu(policy->cores);
	return saakm_refuse(ret, "load %s: its init returned %d", policy->name, ret);
}

static void saakm_teardown(struct saakm_policy *policy)
{
	if (policy->routines->free_metadata)
		policy->routines->free_metadata(policy);
	free_percpu(policy->cores);
	kvfree(policy->exit.dump);
}

/* Makes the class ready for its first policy. */
static int saakm_enable(const struct saakm_policy *policy)
{
	int ret;

	if (!list_empty(&saakm_policies))
		return 0;
	ret = saakm_server_apply_all(saakm_server_runtime_us, saakm_server_period_us);
	if (ret)
		return saakm_refuse(ret, "load %s: no deadline bandwidth; lower server_runtime_us",
				    policy->name);
	static_branch_inc_cpuslocked(&__saakm_enabled);
	return 0;
}

static void saakm_publish(struct saakm_policy *policy)
{
	struct saakm_policy *pos;

	policy->mask = (saakm_masks + 1) & ~saakm_masks;
	saakm_masks |= policy->mask;
	policy->id = ++saakm_last_id;
	list_for_each_entry(pos, &saakm_policies, node) {
		if (saakm_policy_before(policy, pos))
			break;
	}
	list_add_tail_rcu(&policy->node, &pos->node);
}

int saakm_add_policy(struct saakm_policy *policy)
{
	struct saakm_policy *old;
	int ret;

	guard(mutex)(&saakm_mutex);
	old = saakm_predecessor(policy);
	ret = saakm_validate(policy, old);
	if (ret)
		return ret;
	ret = saakm_setup(policy);
	if (ret)
		return ret;
	if (old)
		ret = saakm_agree_to_replace(policy, old);
	scoped_guard(cpus_read_lock) {
		if (!ret)
			ret = saakm_enable(policy);
		if (!ret)
			saakm_publish(policy);
	}
	if (ret) {
		saakm_teardown(policy);
		return ret;
	}
	saakm_watchdog_set();
	if (old)
		saakm_replace(old, policy);
	return 0;
}
EXPORT_SYMBOL_GPL(saakm_add_policy);

/*
 * While there are threads they stay electable: one of them may be in the RCU
 * section or hold the lock that this waits for.
 */
static void __saakm_remove_policy(struct saakm_policy *policy)
{
	WRITE_ONCE(policy->dying, true);
	saakm_forget_successor(policy);
	saakm_wait_joiners();
	saakm_evict_all(policy);
	list_del_rcu(&policy->node);
	synchronize_rcu();
	saakm_masks &= ~policy->mask;
	saakm_watchdog_set();
	if (list_empty(&saakm_policies)) {
		guard(cpus_read_lock)();
		static_branch_dec_cpuslocked(&__saakm_enabled);
		saakm_server_apply_all(0, saakm_server_period_us);
	}
	saakm_teardown(policy);
	policy->id = 0;
}

void saakm_remove_policy(struct saakm_policy *policy)
{
	guard(mutex)(&saakm_mutex);
	if (policy->id && saakm_policy_by_id(policy->id) == policy)
		__saakm_remove_policy(policy);
}
EXPORT_SYMBOL_GPL(saakm_remove_policy);

static int __init saakm_init(void)
{
	open_softirq(SCHED_SOFTIRQ_SAAKM, saakm_balance_softirq);
	return 0;
}
core_initcall(saakm_init);
