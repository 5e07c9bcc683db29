/* SPDX-License-Identifier: GPL-2.0 */
/* What CPUs share, and idle cores near another: a part of <linux/saakm.h>, which includes it. */
#ifndef _LINUX_SAAKM_TOPOLOGY_H
#define _LINUX_SAAKM_TOPOLOGY_H

#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/sched.h>

/**
 * enum topology_kind - what the CPUs of a level share
 * @TOPOLOGY_SMT: a physical core
 * @TOPOLOGY_CLUSTER: a cluster (L2 or a tag)
 * @TOPOLOGY_CACHE: the last-level cache
 * @TOPOLOGY_PACKAGE: a package
 * @TOPOLOGY_NUMA: a NUMA node, or nodes up to some distance
 */
enum topology_kind {
	TOPOLOGY_SMT,
	TOPOLOGY_CLUSTER,
	TOPOLOGY_CACHE,
	TOPOLOGY_PACKAGE,
	TOPOLOGY_NUMA,
};

/**
 * struct topology_level - CPUs at some distance from a CPU
 * @next: the next wider level, or NULL
 * @kind: what they share
 * @cores: the CPUs, including the CPU itself
 */
struct topology_level {
	struct topology_level	*next;
	enum topology_kind	kind;
	struct cpumask		cores;
};

/*
 * Nearest level of each CPU; NULL for a CPU that shares nothing. Built from the
 * scheduling domains and rebuilt with them. Read with RCU:
 *
 *	for_each_topology_level(level, cpu)
 *		for_each_cpu(other, &level->cores) ...
 */
DECLARE_PER_CPU(struct topology_level __rcu *, topology_levels);

#define for_each_topology_level(level, cpu)				\
	for (level = rcu_dereference_check(per_cpu(topology_levels, cpu), \
					   !preemptible());		\
	     level; level = level->next)

/**
 * saakm_usable_cpu() - a CPU for a thread that is wanted on @cpu
 * @task: the thread
 * @cpu: the CPU that it shall have, if possible
 *
 * Context: any with preemption off.
 * Return: @cpu, or the next one that the thread may use and that is active.
 */
static inline int saakm_usable_cpu(const struct task_struct *task, int cpu)
{
	int other;

	for_each_cpu_wrap(other, task->cpus_ptr, cpu) {
		if (cpu_active(other))
			return other;
	}
	return cpu;
}

static inline bool saakm_idle_for(const struct task_struct *task, int cpu)
{
	return cpumask_test_cpu(cpu, task->cpus_ptr) && cpu_active(cpu) &&
	       saakm_cpu_idle(cpu);
}

/* How many cores saakm_idle_cpu_near() looks at: each look is at another CPU's line. */
#define SAAKM_IDLE_LOOKS	64

/**
 * saakm_idle_cpu_near() - find an idle core for a thread
 * @task: the thread; only CPUs that it may use are considered
 * @cpu: start here, then go outward through topology_levels
 *
 * Looks at SAAKM_IDLE_LOOKS cores at the most.
 *
 * Context: any with preemption off.
 * Return: an idle CPU or -1.
 */
static inline int saakm_idle_cpu_near(const struct task_struct *task, int cpu)
{
	unsigned int looks = SAAKM_IDLE_LOOKS;
	struct topology_level *level, *inner = NULL;
	int other;

	if (saakm_idle_for(task, cpu))
		return cpu;
	guard(rcu)();
	for_each_topology_level(level, cpu) {
		for_each_cpu_wrap(other, &level->cores, cpu + 1) {
			if (inner ? cpumask_test_cpu(other, &inner->cores) : other == cpu)
				continue;
			if (saakm_idle_for(task, other))
				return other;
			if (!--looks)
				return -1;
		}
		inner = level;
	}
	return -1;
}

#endif /* _LINUX_SAAKM_TOPOLOGY_H */
