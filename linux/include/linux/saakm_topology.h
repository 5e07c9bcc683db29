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

/* private: the nearest level of each CPU, or NULL */
DECLARE_PER_CPU(struct topology_level __rcu *, topology_levels);

/* public: */

/**
 * for_each_topology_level() - walk the levels around a CPU, from near to far
 * @level: a struct topology_level pointer, the loop's variable
 * @cpu: the CPU
 *
 * A CPU that shares nothing, as an isolated one, has no level. Levels are built
 * from the scheduling domains and rebuilt with them: a pointer to one must not be
 * kept, and what is in it not changed. The cores of a level include those of
 * nearer ones::
 *
 *	for_each_topology_level(level, cpu)
 *		for_each_cpu_wrap(other, &level->cores, cpu + 1)
 *			...
 *
 * Context: [P], [R] or [B], or else between rcu_read_lock() and
 * rcu_read_unlock().
 */
#define for_each_topology_level(level, cpu)				\
	for (level = rcu_dereference_check(per_cpu(topology_levels, cpu), \
					   !preemptible());		\
	     level; level = level->next)

/**
 * saakm_idle_for() - could a thread run on a CPU at once?
 * @task: the thread
 * @cpu: the CPU
 *
 * Context: any with preemption off. A hint: it may change at any time.
 * Return: true if the thread may use @cpu, which is active and idle.
 */
static inline bool saakm_idle_for(const struct task_struct *task, int cpu)
{
	return cpumask_test_cpu(cpu, task->cpus_ptr) && cpu_active(cpu) &&
	       saakm_cpu_idle(cpu);
}

/**
 * SAAKM_IDLE_PROBES - how many CPUs saakm_idle_cpu_near() considers at the most
 *
 * Each idle-CPU probe reads a cache line of another CPU, but for CPUs that the
 * thread may not use.
 */
#define SAAKM_IDLE_PROBES	64

/**
 * saakm_idle_cpu_near() - find an idle core for a thread
 * @task: the thread; only CPUs that it may use are considered
 * @cpu: start here, then go outward through its levels
 *
 * Considers SAAKM_IDLE_PROBES cores at the most; of a machine that has more, a quarter of them
 * anywhere, at another place each time. For the answer of @new_prepare and @unblock_prepare,
 * which cannot be -1: ``event->prev_cpu`` then.
 *
 * Context: any with preemption off. A hint: it may change at any time.
 * Return: an idle CPU that the thread may use, or -1.
 */
int saakm_idle_cpu_near(const struct task_struct *task, int cpu);

/**
 * saakm_idle_cpu_in() - find an idle core for a thread among some
 * @task: the thread; only CPUs that it may use are considered
 * @cores: where to look
 *
 * For policies with SAAKM_POLICY_IDLE_MASKS, or a shared queue, the class keeps masks
 * while they have threads: then cores of which all hardware threads are idle go first.
 * Otherwise it looks at each of @cores, and takes the first that is idle.
 *
 * Context: any with preemption off. A hint: it may change at any time.
 * Return: an idle CPU that the thread may use, or -1.
 */
int saakm_idle_cpu_in(const struct task_struct *task, const struct cpumask *cores);

#endif /* _LINUX_SAAKM_TOPOLOGY_H */
