// SPDX-License-Identifier: GPL-2.0
/*
 * cacheaware: a process counts on which last-level caches its threads run. Balancing
 * brings them to the one where they have run most, and takes none away from there for
 * another cache. Threads start and wake without regard to it.
 */
#include <linux/saakm.h>

#define EPOCH	msecs_to_jiffies(10)
#define CACHES	64	/* a cache goes by the number of its first CPU, modulo this */

static DEFINE_PER_CPU(int, cacheaware_cache);
static atomic_t cacheaware_execs;

struct cacheaware_core {
	unsigned int	home, away;	/* threads that came to their process's cache; others */
};

struct cacheaware_process {
	atomic64_t	used_ns[CACHES];	/* halved in each epoch */
	unsigned long	epoch;
	int		home;			/* a cache + 1; 0: none */
};

/* Who runs or waits meanwhile sees the old cache or the new one. */
static void cacheaware_find_caches(struct saakm_policy *policy)
{
	struct topology_level *level;
	int cpu, first;

	guard(rcu)();
	for_each_possible_cpu(cpu) {
		first = cpu;
		for_each_topology_level(level, cpu)
			if (level->kind <= TOPOLOGY_CACHE)
				first = cpumask_first(&level->cores);
		WRITE_ONCE(per_cpu(cacheaware_cache, cpu), first % CACHES);
	}
}

static int cacheaware_init(struct saakm_policy *policy)
{
	cacheaware_find_caches(policy);
	return 0;
}

/* Another cache must have twice as much. */
static void cacheaware_choose(struct cacheaware_process *p)
{
	s64 used_ns, most_ns = 0, home_ns = 0;
	int cache, best = -1, home = READ_ONCE(p->home) - 1;

	for (cache = 0; cache < CACHES; cache++) {
		used_ns = atomic64_read(&p->used_ns[cache]);
		atomic64_sub(used_ns / 2, &p->used_ns[cache]);
		if (cache == home)
			home_ns = used_ns;
		if (used_ns > most_ns) {
			most_ns = used_ns;
			best = cache;
		}
	}
	if (most_ns > 2 * home_ns)
		WRITE_ONCE(p->home, best + 1);
}

/* Threads of a process run on several cores: one of them ends the epoch. */
static void cacheaware_used(struct process_event *event, struct core_event *core, u64 used_ns)
{
	struct cacheaware_process *p = saakm_process_data(event->task);
	unsigned long now = jiffies, epoch = READ_ONCE(p->epoch);

	atomic64_add(used_ns, &p->used_ns[READ_ONCE(per_cpu(cacheaware_cache, core->id))]);
	if (time_after_eq(now, epoch + EPOCH) && cmpxchg(&p->epoch, epoch, now) == epoch)
		cacheaware_choose(p);
}

/* Another program has other data: what was counted is of no use. */
static void cacheaware_exec(struct process_event *event, struct core_event *core)
{
	struct cacheaware_process *p = saakm_process_data(event->task);
	int cache;

	for (cache = 0; cache < CACHES; cache++)
		atomic64_set(&p->used_ns[cache], 0);
	WRITE_ONCE(p->home, 0);
	atomic_inc(&cacheaware_execs);
}

static bool cacheaware_wanted(struct task_struct *task, void *cache)
{
	struct cacheaware_process *p = saakm_process_data(task);
	int home = READ_ONCE(p->home);

	return !home || home == *(int *)cache + 1;
}

/* From near to far; from another cache not those that are at home there, or in a third one. */
static void cacheaware_pull(struct core_event *core)
{
	int cpu, cache = READ_ONCE(per_cpu(cacheaware_cache, core->id));
	struct topology_level *level;
	struct core_event *other;
	bool same;

	for_each_topology_level(level, core->id) {
		for_each_cpu_wrap(cpu, &level->cores, core->id + 1) {
			other = saakm_core_of(core->policy, cpu);
			same = READ_ONCE(per_cpu(cacheaware_cache, cpu)) == cache;
			if (cpu != core->id &&
			    READ_ONCE(other->nr_runnable) > READ_ONCE(core->nr_runnable) &&
			    saakm_steal(&other->rq, core->id, &core->rq, 1,
					same ? NULL : cacheaware_wanted, &cache) > 0)
				return;
		}
	}
}

static void cacheaware_moved(struct process_event *event, struct core_event *from,
			     struct core_event *core)
{
	int cache = READ_ONCE(per_cpu(cacheaware_cache, core->id));
	struct cacheaware_process *p = saakm_process_data(event->task);
	struct cacheaware_core *c = core->data;

	if (READ_ONCE(p->home) == cache + 1)
		c->home++;
	else
		c->away++;
}

static void cacheaware_dump(struct saakm_policy *policy, struct seq_buf *text)
{
	int cpu;

	seq_buf_printf(text, "%d programs begun\n", atomic_read(&cacheaware_execs));
	for_each_possible_cpu(cpu) {
		struct cacheaware_core *c = saakm_core_of(policy, cpu)->data;

		seq_buf_printf(text, "cpu %d: cache %d, %u home, %u away\n", cpu,
			       READ_ONCE(per_cpu(cacheaware_cache, cpu)), READ_ONCE(c->home),
			       READ_ONCE(c->away));
	}
}

SAAKM_POLICY(cacheaware,
	     .slice_us = 4000,
	     .process_size = sizeof(struct cacheaware_process),
	     .core_size = sizeof(struct cacheaware_core),
	     .balance_interval_ms = 8,
	     .used = cacheaware_used, .exec = cacheaware_exec, .moved = cacheaware_moved,
	     .newly_idle = cacheaware_pull, .balancing_select = cacheaware_pull,
	     .topology_changed = cacheaware_find_caches,
	     .init = cacheaware_init, .dump = cacheaware_dump);
