// SPDX-License-Identifier: GPL-2.0
/* The loaded policies: adding and removing them. */

LIST_HEAD(saakm_policies);
DEFINE_MUTEX(saakm_mutex);	/* saakm_policies and the parameters in sysfs */

static u32 saakm_last_id;
static u64 saakm_masks;		/* bits in use, one for each policy */

static int saakm_validate(const struct saakm_policy *policy)
{
	const struct saakm_module_routines *routines = policy->routines;
	const struct saakm_policy *other;
	const char *missing = NULL;

	if (!policy->name[0] || strnlen(policy->name, SAAKM_NAME_LEN) == SAAKM_NAME_LEN ||
	    strpbrk(policy->name, " \t\n/"))
		return saakm_refuse(-EINVAL, "load: a name has 1 to %d characters, no blanks",
				    SAAKM_NAME_LEN - 1);
	if (!routines)
		missing = "routines";
	else if (!routines->schedule)
		missing = "schedule";
	else if (!routines->new_place)
		missing = "new_place";
	else if (!routines->unblock_place)
		missing = "unblock_place";
	if (missing)
		return saakm_refuse(-EINVAL, "load %s: the routine %s is missing",
				    policy->name, missing);
	list_for_each_entry(other, &saakm_policies, node) {
		if (!strcmp(other->name, policy->name))
			return saakm_refuse(-EEXIST, "load %s: a policy of this name is loaded",
					    policy->name);
	}
	if (!~saakm_masks)
		return saakm_refuse(-ENOSPC, "load %s: 64 policies are loaded", policy->name);
	return 0;
}

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
	policy->dying = false;
	policy->nr_threads = 0;
	policy->nr_new = 0;
	policy->nr_terminated = 0;
	policy->reported = 0;

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
	int ret;

	guard(mutex)(&saakm_mutex);
	ret = saakm_validate(policy);
	if (ret)
		return ret;
	ret = saakm_setup(policy);
	if (ret)
		return ret;

	guard(cpus_read_lock)();
	ret = saakm_enable(policy);
	if (ret)
		saakm_teardown(policy);
	else
		saakm_publish(policy);
	return ret;
}
EXPORT_SYMBOL_GPL(saakm_add_policy);

/*
 * While there are threads they stay electable: one of them may be in the RCU
 * section or hold the lock that this waits for.
 */
static void __saakm_remove_policy(struct saakm_policy *policy)
{
	WRITE_ONCE(policy->dying, true);
	saakm_wait_joiners();
	saakm_evict_all(policy);

	list_del_rcu(&policy->node);
	synchronize_rcu();
	saakm_masks &= ~policy->mask;
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

/*
 * A module that goes away with a policy registered: its init failed after
 * saakm_add_policy(), or its exit forgot saakm_remove_policy().
 */
static int saakm_module_notify(struct notifier_block *nb, unsigned long state, void *module)
{
	struct saakm_policy *policy, *next;

	if (state != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	guard(mutex)(&saakm_mutex);
	list_for_each_entry_safe(policy, next, &saakm_policies, node) {
		if (policy->owner != module)
			continue;
		pr_err("saakm: module of policy %s went away without saakm_remove_policy()\n",
		       policy->name);
		__saakm_remove_policy(policy);
	}
	return NOTIFY_OK;
}

static struct notifier_block saakm_module_nb = {
	.notifier_call = saakm_module_notify,
};

static int __init saakm_init(void)
{
	open_softirq(SCHED_SOFTIRQ_SAAKM, saakm_balance_softirq);
	return register_module_notifier(&saakm_module_nb);
}
core_initcall(saakm_init);
