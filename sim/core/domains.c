// SPDX-License-Identifier: GPL-2.0
/*
 * Scheduling domains: from the sizes of cores, caches and nodes that the run was given.
 * kernel/sched/topology.c. Not modelled: clusters, asymmetric CPUs, distances between nodes,
 * cpusets that part the machine, isolated CPUs.
 */
#include <linux/slab.h>
#include "model.h"

DEFINE_MUTEX(sched_domains_mutex);

static const struct {
	const char	*name;
	int		flags;
} level_kinds[] = {
	{ "SMT",	SD_SHARE_CPUCAPACITY | SD_SHARE_LLC },
	{ "MC",		SD_SHARE_LLC },
	{ "PKG",	0 },
	{ "NUMA",	SD_NUMA },
};

static unsigned int level_size(int level)
{
	const unsigned int sizes[] = {
		sim_options.smt, sim_options.llc, sim_options.node, nr_cpu_ids,
	};

	return sizes[level];
}

/* CPUs of the group of @size in which @cpu is. */
static void group_of(int cpu, unsigned int size, struct cpumask *mask)
{
	unsigned int first = cpu / size * size, i;

	cpumask_clear(mask);
	for (i = first; i < min(first + size, nr_cpu_ids); i++)
		cpumask_set_cpu(i, mask);
}

/* How far apart two CPUs are. */
enum model_distance model_distance(int a, int b)
{
	if (a / sim_options.smt == b / sim_options.smt)
		return MODEL_SMT;
	if (a / sim_options.llc == b / sim_options.llc)
		return MODEL_LLC;
	return a / sim_options.node == b / sim_options.node ? MODEL_NODE : MODEL_FAR;
}

static struct cpumask *single_masks, *smt_masks, *llc_masks, *node_masks;

/* One for each group; a CPU finds its own by its number. */
static struct cpumask *make_masks(unsigned int size)
{
	unsigned int i, n = DIV_ROUND_UP(nr_cpu_ids, size);
	struct cpumask *masks = sim_alloc(n * sizeof(*masks));

	for (i = 0; i < n; i++)
		group_of(i * size, size, &masks[i]);
	return masks;
}

static void make_all_masks(void)
{
	single_masks = make_masks(1);
	smt_masks = make_masks(sim_options.smt);
	llc_masks = make_masks(sim_options.llc);
	node_masks = make_masks(sim_options.node);
}

const struct cpumask *cpumask_of(unsigned int cpu)
{
	return &single_masks[cpu];
}

/* Online ones; of a CPU that is offline: none. */
const struct cpumask *cpu_smt_mask(int cpu)
{
	static const struct cpumask none;

	return cpu_online(cpu) ? &smt_masks[cpu / sim_options.smt] : &none;
}

/* arch/x86/kernel/smpboot.c, remove_siblinginfo(), set_cpu_sibling_map() */
void model_siblings_online(int cpu, bool online)
{
	struct cpumask *siblings = &smt_masks[cpu / sim_options.smt];

	if (online)
		cpumask_set_cpu(cpu, siblings);
	else
		cpumask_clear_cpu(cpu, siblings);
}

const struct cpumask *model_llc_mask(int cpu)
{
	return &llc_masks[cpu / sim_options.llc];
}

int cpu_to_node(int cpu)
{
	return cpu / sim_options.node;
}

const struct cpumask *cpumask_of_node(int node)
{
	return &node_masks[node];
}

bool sched_smt_active(void)
{
	return sim_options.smt > 1;
}

bool cpus_share_cache(int this_cpu, int that_cpu)
{
	return this_cpu / sim_options.llc == that_cpu / sim_options.llc;
}

/* kernel/sched/topology.c, destroy_sched_domains_rcu() */
static void free_domains(struct sched_domain *sd)
{
	struct sched_domain *parent;

	for (; sd; sd = parent) {
		parent = sd->parent;
		kfree_rcu(sd, rcu);
	}
}

static struct sched_domain *new_domain(int cpu, int level, const struct cpumask *cpus)
{
	struct sched_domain *sd = kzalloc(sizeof(*sd), GFP_KERNEL | __GFP_NOFAIL);

	group_of(cpu, level_size(level), &sd->span);
	cpumask_and(&sd->span, &sd->span, cpus);
	sd->span_weight = cpumask_weight(&sd->span);
	sd->flags = level_kinds[level].flags;
	sd->name = level_kinds[level].name;
	sd->level = level;
	return sd;
}

/* The levels of one CPU; as sd_parent_degenerate(), none that spans no more than that below. */
static struct sched_domain *build_levels(int cpu, const struct cpumask *cpus)
{
	struct sched_domain *first = NULL, *last = NULL, *sd;
	int level;

	for (level = 0; level < ARRAY_SIZE(level_kinds); level++) {
		sd = new_domain(cpu, level, cpus);
		if (sd->span_weight <= (last ? last->span_weight : 1)) {
			kfree(sd);
			continue;
		}
		sd->child = last;
		if (last)
			last->parent = sd;
		else
			first = sd;
		last = sd;
	}
	return first;
}

static void init_root_domain(struct root_domain *rd, const struct cpumask *span)
{
	raw_spin_lock_init(&rd->dl_bw.lock);
	rd->dl_bw.bw = (950ULL << BW_SHIFT) / 1000;	/* of sched_rt_runtime_us */
	cpumask_copy(&rd->span, span);
}

/* kernel/sched/topology.c, rq_attach_root() */
static void rq_attach_root(struct rq *rq, struct root_domain *rd)
{
	struct rq_flags rf;

	rq_lock_irqsave(rq, &rf);
	rq->rd = rd;
	if (rq->fair_server.dl_server)
		__dl_server_attach_root(&rq->fair_server, rq);
	saakm_server_attach_root(rq);
	rq_unlock_irqrestore(rq, &rf);
}

/* kernel/sched/deadline.c, dl_clear_root_domain(): that of fair's servers is lost, as there. */
static void dl_clear_root_domain(struct root_domain *rd)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&rd->dl_bw.lock, flags);
	rd->dl_bw.total_bw = saakm_server_bw(&rd->span);
	raw_spin_unlock_irqrestore(&rd->dl_bw.lock, flags);
}

/*
 * kernel/sched/topology.c, sched_init_domains(), partition_sched_domains_locked(): all active CPUs
 * are one machine, those that are not have no domains. As after a CPU has come or gone, the root
 * domain is a new one.
 */
void model_build_domains(void)
{
	static struct root_domain *old;
	struct root_domain *rd = kzalloc(sizeof(*rd), GFP_KERNEL | __GFP_NOFAIL);
	struct sched_domain *sd, *before;
	int cpu;

	guard(mutex)(&sched_domains_mutex);
	init_root_domain(rd, cpu_active_mask);
	for_each_possible_cpu(cpu) {
		bool active = cpu_active(cpu);

		sd = active ? build_levels(cpu, cpu_active_mask) : NULL;
		before = cpu_rq(cpu)->sd;
		rq_attach_root(cpu_rq(cpu), active ? rd : &def_root_domain);
		rcu_assign_pointer(cpu_rq(cpu)->sd, sd);
		free_domains(before);
	}
	dl_clear_root_domain(rd);
	if (old)
		kfree_rcu(old, rcu);
	old = rd;
	saakm_update_topology();
}

void model_init_domains(void)
{
	int cpu;

	make_all_masks();
	init_root_domain(&def_root_domain, cpu_possible_mask);
	for_each_possible_cpu(cpu)
		cpu_rq(cpu)->rd = &def_root_domain;
}
