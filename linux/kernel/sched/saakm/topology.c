// SPDX-License-Identifier: GPL-2.0
/*
 * topology_levels: the hardware as policies see it, taken from the scheduling
 * domains. Isolated CPUs have no domains and no levels.
 */

DEFINE_PER_CPU(struct topology_level __rcu *, topology_levels);
EXPORT_SYMBOL_NS_GPL(topology_levels, SAAKM);

static enum topology_kind saakm_domain_kind(const struct sched_domain *sd)
{
	if (sd->flags & SD_NUMA)
		return TOPOLOGY_NUMA;
	if (sd->flags & SD_SHARE_CPUCAPACITY)
		return TOPOLOGY_SMT;
	if (sd->flags & SD_CLUSTER)
		return TOPOLOGY_CLUSTER;
	if (sd->flags & SD_SHARE_LLC)
		return TOPOLOGY_CACHE;
	return TOPOLOGY_PACKAGE;
}

/* While policies are loaded, or once somebody has read them. Under sched_domains_mutex. */
static unsigned int saakm_topology_users;

/* NULL for a CPU without domains, and without memory: policies must cope. */
static struct topology_level *saakm_build_levels(int cpu)
{
	struct topology_level *levels, *level;
	struct sched_domain *sd;
	int n = 0;

	for_each_domain(cpu, sd)
		n++;
	levels = n ? kcalloc(n, sizeof(*levels), GFP_KERNEL) : NULL;
	if (!levels)
		return NULL;
	level = levels;
	for_each_domain(cpu, sd) {
		level->kind = saakm_domain_kind(sd);
		cpumask_copy(&level->cores, sched_domain_span(sd));
		level->next = --n ? level + 1 : NULL;
		level++;
	}
	return levels;
}

static void saakm_set_levels(bool build)
{
	struct topology_level *old;
	int cpu;

	for_each_possible_cpu(cpu) {
		old = rcu_replace_pointer(per_cpu(topology_levels, cpu),
					  build ? saakm_build_levels(cpu) : NULL,
					  lockdep_is_held(&sched_domains_mutex));
		if (old)
			kfree_rcu_mightsleep(old);
	}
}

/* The next policy in use, after the one with the id @last, that wants to be told; held. */
static struct saakm_policy *saakm_next_told(u32 last)
{
	struct saakm_policy *policy, *next = NULL;

	guard(mutex)(&saakm_mutex);
	list_for_each_entry(policy, &saakm_policies, node) {
		if (policy->own->id > last && READ_ONCE(policy->ops)->topology_changed &&
		    (!next || policy->own->id < next->own->id))
			next = policy;
	}
	if (next)
		saakm_get(next);
	return next;
}

static struct task_struct *saakm_teller;

/* Is the caller in topology_changed? The removal of the policy would wait for it. */
static bool saakm_tells_topology(void)
{
	return in_task() && READ_ONCE(saakm_teller) == current;
}

static void saakm_tell_topology(struct work_struct *work)
{
	struct saakm_policy *policy;
	u32 last = 0;

	WRITE_ONCE(saakm_teller, current);
	while ((policy = saakm_next_told(last))) {
		last = policy->own->id;
		policy->own->routines.topology_changed(policy);
		saakm_put(policy);
	}
	WRITE_ONCE(saakm_teller, NULL);
}

static DECLARE_WORK(saakm_topology_work, saakm_tell_topology);

/* How often they have been. A policy that is being loaded may have missed one. */
static unsigned int saakm_topologies;

static void saakm_topology_loaded(unsigned int seen)
{
	if (READ_ONCE(saakm_topologies) != seen)
		schedule_work(&saakm_topology_work);
}

/* The scheduling domains have been rebuilt. Called under sched_domains_mutex. */
void saakm_update_topology(void)
{
	if (!saakm_topology_users)
		return;
	saakm_set_levels(true);
	WRITE_ONCE(saakm_topologies, saakm_topologies + 1);
	schedule_work(&saakm_topology_work);
}

void saakm_topology_get(void)
{
	guard(mutex)(&sched_domains_mutex);
	if (!saakm_topology_users++)
		saakm_set_levels(true);
}

void saakm_topology_put(void)
{
	guard(mutex)(&sched_domains_mutex);
	if (!--saakm_topology_users)
		saakm_set_levels(false);
}

/* For readers of procfs, who may be anybody: they do not build them again and again. */
void saakm_topology_keep(void)
{
	static atomic_t kept;

	if (!atomic_xchg(&kept, 1))
		saakm_topology_get();
}
