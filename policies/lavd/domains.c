// SPDX-License-Identifier: GPL-2.0
/*
 * Domains: the CPUs that share a queue. They share a last-level cache, or are a part of such a
 * group, a virtual one: virt_llc=MIN-MAX cuts it into parts of so many cores. As in scx_lavd
 * 1.1.4 (cpu_order.rs), and scx_utils (topology.rs) for the virtual ones.
 */
#include <linux/slab.h>
#include <linux/topology.h>

#include "lavd.h"

struct lavd_domain **lavd_domains;
unsigned int lavd_nr_domains;
bool lavd_all_share;
u16 *lavd_order;

/* Of one real cache: a domain for each part of its cores. */
struct lavd_cut {
	struct cpumask	cpus;	/* of the cache */
	unsigned int	least, most;
	int		cache;	/* number */
};

static int lavd_node_of(int cpu)
{
	return max(cpu_to_node(cpu), 0);	/* who has never been online may have none */
}

/*
 * CPUs that share a cache with @cpu, and have no domain yet. Of those that are offline it is not
 * known: those of a node are taken for one.
 */
static void lavd_cache_of(int cpu, struct cpumask *cpus)
{
	struct topology_level *level;
	int other;

	guard(rcu)();
	cpumask_copy(cpus, cpumask_of(cpu));
	for_each_topology_level(level, cpu) {
		if (level->kind <= TOPOLOGY_CACHE)
			cpumask_copy(cpus, &level->cores);
	}
	for_each_possible_cpu(other) {
		if (!cpu_online(cpu) && !cpu_online(other) &&
		    lavd_node_of(other) == lavd_node_of(cpu))
			cpumask_set_cpu(other, cpus);
		if (lavd_cpu(other)->domain)
			cpumask_clear_cpu(other, cpus);
	}
}

static bool lavd_is_first_of_core(int cpu)
{
	return cpumask_first(lavd_cpu(cpu)->siblings) == cpu;
}

static struct lavd_domain *lavd_add_domain(int cache, int node)
{
	struct lavd_domain *domain = kzalloc(sizeof(*domain), GFP_KERNEL);

	if (!domain)
		return NULL;
	domain->id = lavd_nr_domains;
	domain->cache = cache;
	domain->node = node;
	lavd_domains[lavd_nr_domains++] = domain;
	return domain;
}

/* Its cores in order of their first CPUs: so many go into each part, the rest into the last. */
static int lavd_cut_cache(const struct lavd_cut *cut)
{
	unsigned int cores = 0, nth = 0, size, first = lavd_nr_domains, part;
	struct lavd_domain *domain;
	int cpu, sibling;

	for_each_cpu(cpu, &cut->cpus)
		cores += lavd_is_first_of_core(cpu);
	size = cut->least ? lavd_split(cores, cut->least, cut->most) : cores;
	for_each_cpu(cpu, &cut->cpus) {
		if (!lavd_is_first_of_core(cpu))
			continue;
		part = lavd_part(nth++, cores, size);
		if (first + part == lavd_nr_domains &&
		    !lavd_add_domain(cut->cache, lavd_node_of(cpu)))
			return -ENOMEM;
		domain = lavd_domains[first + part];
		for_each_cpu(sibling, lavd_cpu(cpu)->siblings) {
			lavd_cpu(sibling)->domain = domain;
			cpumask_set_cpu(sibling, &domain->cpus);
		}
	}
	return 0;
}

/* Caches by node, and by their first CPU. */
static int lavd_cut_node(int node, struct lavd_cut *cut)
{
	int cpu, ret = 0;

	for_each_possible_cpu(cpu) {
		if (lavd_node_of(cpu) != node || lavd_cpu(cpu)->domain)
			continue;
		lavd_cache_of(cpu, &cut->cpus);
		ret = ret ?: lavd_cut_cache(cut);
		cut->cache++;
	}
	return ret;
}

static int lavd_find_siblings(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct lavd_cpu *own = lavd_cpu(cpu);

		own->siblings = kzalloc(sizeof(*own->siblings), GFP_KERNEL);
		if (!own->siblings)
			return -ENOMEM;
		cpumask_copy(own->siblings, topology_sibling_cpumask(cpu));
		cpumask_set_cpu(cpu, own->siblings);
	}
	return 0;
}

/* Neighbours */

static unsigned int lavd_distance(const struct lavd_domain *a, const struct lavd_domain *b)
{
	if (a->node != b->node)
		return 2;
	return a->cache != b->cache;
}

/*
 * Those at one distance, from the nearest in number to both sides: each domain begins with
 * others, and those that are near to each other meet more often. As circular_sort() there.
 */
static unsigned int lavd_add_neighbours(struct lavd_domain *domain, unsigned int distance,
					unsigned int nr, u16 *group)
{
	unsigned int n = 0, at = 0, i, step;

	for (i = 0; i < lavd_nr_domains; i++) {
		if (i == domain->id)
			at = n;
		if (i == domain->id || lavd_distance(domain, lavd_domains[i]) == distance)
			group[n++] = i;
	}
	for (step = 1; step <= n / 2; step++) {
		unsigned int up = (at + step) % n, down = (at + n - step) % n;

		domain->neighbours[nr++] = group[min(up, down)];
		if (up != down)
			domain->neighbours[nr++] = group[max(up, down)];
	}
	return nr;
}

static int lavd_find_neighbours(void)
{
	u16 *group __free(kfree) = kcalloc(lavd_nr_domains, sizeof(u16), GFP_KERNEL);
	unsigned int i, distance, nr;
	struct lavd_domain *domain;

	if (!group)
		return -ENOMEM;
	for (i = 0; i < lavd_nr_domains; i++) {
		domain = lavd_domains[i];
		domain->neighbours = kcalloc(lavd_nr_domains, sizeof(u16), GFP_KERNEL);
		if (!domain->neighbours)
			return -ENOMEM;
		for (distance = nr = 0; distance < LAVD_DISTANCES; distance++) {
			nr = lavd_add_neighbours(domain, distance, nr, group);
			domain->nr_neighbours[distance] = nr;
		}
	}
	return 0;
}

/* Queues */

/* One for each core, or two for each domain: the second one is for turbulent CPUs. */
static int lavd_share_queues(struct saakm_policy *policy)
{
	int ret = 0, cpu;
	unsigned int i;

	for_each_possible_cpu(cpu) {
		if (per_cpu_queues && lavd_is_first_of_core(cpu))
			ret = ret ?: saakm_share_queue(policy, lavd_cpu(cpu)->siblings);
	}
	for (i = 0; i < lavd_nr_domains && !per_cpu_queues; i++) {
		ret = ret ?: saakm_share_queue(policy, &lavd_domains[i]->cpus);
		ret = ret ?: saakm_share_queue(policy, &lavd_domains[i]->cpus);
	}
	return ret;
}

static void lavd_number_cpus(void)
{
	unsigned int i, n = 0;
	int cpu, sibling;

	for (i = 0; i < lavd_nr_domains; i++) {
		for_each_cpu(cpu, &lavd_domains[i]->cpus) {
			if (!lavd_is_first_of_core(cpu))
				continue;
			for_each_cpu(sibling, lavd_cpu(cpu)->siblings)
				lavd_order[n++] = sibling;
		}
	}
}

/* @least, @most: how many cores a virtual cache has; 0: real ones. No CPU may change meanwhile. */
int lavd_make_domains(struct saakm_policy *policy, unsigned int least, unsigned int most)
{
	struct lavd_cut *cut __free(kfree) = kzalloc(sizeof(*cut), GFP_KERNEL);
	int ret, node, last = 0, cpu;

	lavd_domains = kcalloc(num_possible_cpus(), sizeof(*lavd_domains), GFP_KERNEL);
	lavd_order = kcalloc(num_possible_cpus(), sizeof(*lavd_order), GFP_KERNEL);
	if (!cut || !lavd_domains || !lavd_order)
		return -ENOMEM;
	ret = lavd_find_siblings();
	cut->least = least;
	cut->most = most;
	for_each_possible_cpu(cpu)
		last = max(last, lavd_node_of(cpu));
	for (node = 0; node <= last && !ret; node++)
		ret = lavd_cut_node(node, cut);
	ret = ret ?: lavd_find_neighbours() ?: lavd_share_queues(policy);
	if (!ret)
		lavd_number_cpus();
	lavd_all_share = lavd_nr_domains == 1 && !per_cpu_queues;
	return ret;
}

void lavd_free_domains(void)
{
	unsigned int i;
	int cpu;

	for (i = 0; i < lavd_nr_domains; i++) {
		kfree(lavd_domains[i]->neighbours);
		kfree(lavd_domains[i]);
	}
	for_each_possible_cpu(cpu) {
		kfree(lavd_cpu(cpu)->siblings);
		lavd_cpu(cpu)->siblings = NULL;
	}
	kfree(lavd_domains);
	kfree(lavd_order);
	lavd_nr_domains = 0;
}
