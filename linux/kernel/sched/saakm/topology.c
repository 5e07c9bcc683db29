// SPDX-License-Identifier: GPL-2.0
/*
 * topology_levels: the hardware as policies see it, taken from the scheduling
 * domains. Isolated CPUs have no domains and no levels.
 */

DEFINE_PER_CPU(struct topology_level __rcu *, topology_levels);
EXPORT_PER_CPU_SYMBOL_GPL(topology_levels);

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

/* NULL for a CPU without domains, and without memory: policies must cope. */
static struct topology_level *saakm_build_levels(int cpu)
{
	struct topology_level *levels, *level;
	struct sched_domain *sd;
	int n = 0;

	guard(rcu)();
	for (sd = rcu_dereference(cpu_rq(cpu)->sd); sd; sd = rcu_dereference(sd->parent))
		n++;
	levels = n ? kcalloc(n, sizeof(*levels), GFP_ATOMIC) : NULL;
	if (!levels)
		return NULL;
	sd = rcu_dereference(cpu_rq(cpu)->sd);
	for (level = levels; sd; level++, sd = rcu_dereference(sd->parent)) {
		level->kind = saakm_domain_kind(sd);
		cpumask_copy(&level->cores, sched_domain_span(sd));
		level->next = --n ? level + 1 : NULL;
	}
	return levels;
}

/* The scheduling domains have been rebuilt. Called under sched_domains_mutex. */
void saakm_update_topology(void)
{
	struct topology_level **old = kcalloc(nr_cpu_ids, sizeof(*old), GFP_KERNEL);
	int cpu;

	if (!old)
		return;
	for_each_possible_cpu(cpu)
		old[cpu] = rcu_replace_pointer(per_cpu(topology_levels, cpu),
					       saakm_build_levels(cpu), true);
	/* At boot there is nothing to wait for, and it would be early to. */
	if (system_state == SYSTEM_RUNNING)
		synchronize_rcu();
	for_each_possible_cpu(cpu)
		kfree(old[cpu]);
	kfree(old);
}
