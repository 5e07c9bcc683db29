// SPDX-License-Identifier: GPL-2.0
/*
 * cacheaware: a process prefers the last-level cache on which its threads have run most.
 * Balancing brings them there, and takes none away from there for another cache. Threads
 * start and wake without regard to it.
 */
#include <linux/saakm.h>

#define MOST_NS		(50 * NSEC_PER_MSEC)	/* what is older than that is forgotten */

struct cacheaware_process {
	int		home;		/* the cache, or 0 */
	atomic64_t	ahead_ns;	/* CPU time there, less that on others */
};

/* It goes by its first CPU, counted from 1. */
static int cacheaware_cache(const struct core_event *core)
{
	struct topology_level *level;
	int first = core->id;

	for_each_topology_level(level, core->id)
		if (level->kind <= TOPOLOGY_CACHE)
			first = cpumask_first(&level->cores);
	return first + 1;
}

/* Threads of a process run on several cores: of two that change it at once one is right, too. */
static void cacheaware_used(struct process_event *event, struct core_event *core, u64 used_ns)
{
	struct cacheaware_process *p = saakm_process_data(event->task);
	int cache = cacheaware_cache(core);

	if (READ_ONCE(p->home) == cache) {
		if (atomic64_add_return(used_ns, &p->ahead_ns) > MOST_NS)
			atomic64_set(&p->ahead_ns, MOST_NS);
	} else if (atomic64_sub_return(used_ns, &p->ahead_ns) < 0) {
		atomic64_set(&p->ahead_ns, 0);
		WRITE_ONCE(p->home, cache);
	}
}

/* Another program has other data: what was counted is of no use. */
static void cacheaware_exec(struct process_event *event, struct core_event *core)
{
	struct cacheaware_process *p = saakm_process_data(event->task);

	atomic64_set(&p->ahead_ns, 0);
	WRITE_ONCE(p->home, 0);
}

static bool cacheaware_wanted(struct task_struct *task, void *cache)
{
	struct cacheaware_process *p = saakm_process_data(task);
	int home = READ_ONCE(p->home);

	return !home || home == *(int *)cache;
}

/* From near to far; from another cache not those that are at home there, or in a third one. */
static void cacheaware_pull(struct core_event *core)
{
	int cpu, cache = cacheaware_cache(core);
	struct topology_level *level;
	struct core_event *other;

	for_each_topology_level(level, core->id) {
		for_each_cpu_wrap(cpu, &level->cores, core->id + 1) {
			other = saakm_core_of(core->policy, cpu);
			if (cpu != core->id &&
			    READ_ONCE(other->rq.nr_tasks) > READ_ONCE(core->nr_runnable) &&
			    saakm_steal(&other->rq, core->id, &core->rq, 1,
					level->kind <= TOPOLOGY_CACHE ? NULL : cacheaware_wanted,
					&cache) > 0)
				return;
		}
	}
}

SAAKM_POLICY(cacheaware,
	     .slice_us = 4000,
	     .process_size = sizeof(struct cacheaware_process),
	     .balance_interval_ms = 8,
	     .used = cacheaware_used, .exec = cacheaware_exec,
	     .newly_idle = cacheaware_pull, .balancing_select = cacheaware_pull);
