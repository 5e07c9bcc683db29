// SPDX-License-Identifier: GPL-2.0
/*
 * Load between domains. Each has as its share of all load what it has of the CPUs that are in
 * use. One that has clearly less may take threads that wait, and one that has clearly more may be
 * taken from, half of the difference until the system is looked at again. scx_lavd 1.1.4,
 * balance.bpf.c.
 */
#include "lavd.h"

/* Planning */

struct lavd_plan {
	u64	load;
	u32	cpus, domains, queueing, busiest;
	bool	spills;		/* a domain that is not in use runs something */
};

static void lavd_add_to_plan(struct lavd_domain *domain, struct lavd_plan *plan)
{
	long queued_load = max(atomic_long_read(&domain->queued_load), 0L);

	WRITE_ONCE(domain->load, domain->utilisation + queued_load);
	if (!domain->nr_active) {
		plan->spills |= domain->utilisation;
		return;
	}
	plan->busiest = max(plan->busiest, domain->utilisation / domain->nr_active);
	plan->load += domain->load;
	plan->cpus += domain->nr_active;
	plan->domains++;
	plan->queueing += queued_load > 0;
}

/* How far may a domain be from its share? */
static u64 lavd_tolerance(u64 share, const struct lavd_plan *plan)
{
	unsigned int pct = READ_ONCE(mig_delta_pct);

	if (pct)
		return share * pct / 100;
	if (plan->queueing >= plan->domains)
		return share >> 4;
	return plan->queueing ? share >> 3 : share >> 2;
}

static void lavd_set_role(struct lavd_domain *domain, u64 take, u64 give)
{
	atomic_long_set(&domain->may_take, take);
	atomic_long_set(&domain->may_give, give);
	WRITE_ONCE(domain->steals, take > 0);
	WRITE_ONCE(domain->gives, give > 0);
}

/* Returns true if others may take from it. */
static bool lavd_plan_domain(struct lavd_domain *domain, const struct lavd_plan *plan)
{
	u64 share = plan->cpus ? div_u64(plan->load * domain->nr_active, plan->cpus) : 0;
	u64 tolerance = lavd_tolerance(share, plan), take = 0, give = 0;

	if (domain->nr_active && domain->load + tolerance <= share)
		take = (share - domain->load) / 2;
	else if ((!domain->nr_active || domain->load >= share + tolerance) &&
		 atomic_long_read(&domain->queued_load) > 0)
		give = (domain->load - share) / 2;
	lavd_set_role(domain, take, give);
	return give;
}

#define TRIES	4	/* in each domain: next time others are the first */

/*
 * Calls @call for those CPUs of a domain and of those near it that are as @wanted, until it
 * returns true. In a domain it begins anywhere: who waits may not be allowed to use the first ones.
 */
static bool lavd_for_cpus(const struct lavd_domain *domain, bool (*wanted)(int cpu),
			  bool (*call)(int cpu, void *arg), void *arg)
{
	const struct lavd_domain *at = domain;
	unsigned int i = 0, tries;
	int cpu, start;

	do {
		start = lavd_anywhere_in(&at->cpus);
		tries = TRIES;
		for_each_cpu_wrap(cpu, &at->cpus, start) {
			if (!cpu_online(cpu) || !wanted(cpu))
				continue;
			if (call(cpu, arg))
				return true;
			if (!--tries)
				break;
		}
		at = i < lavd_nr_near(domain) ? lavd_domains[domain->neighbours[i++]] : NULL;
	} while (at);
	return false;
}

static bool lavd_kick_one(int cpu, void *nr)
{
	saakm_kick(cpu);
	return !--*(unsigned int *)nr;
}

/* Idle CPUs look when they begin to idle; what is to be taken may have come since. */
static void lavd_call_idle(const struct lavd_domain *domain)
{
	unsigned int nr = domain->nr_shared;

	if (nr)
		lavd_for_cpus(domain, saakm_cpu_idle, lavd_kick_one, &nr);
}

/* Whom a CPU is relieved of. */
struct lavd_relief {
	struct saakm_rq	*from;
	bool		may_leave;	/* somebody there may */
};

static bool lavd_may_leave(struct task_struct *task, void *relief)
{
	bool may = task->nr_cpus_allowed > 1 && !task->migration_disabled;

	((struct lavd_relief *)relief)->may_leave |= may;
	return may;
}

/* Returns true also if it is of no use to ask other CPUs. */
static bool lavd_steal_for(int cpu, void *arg)
{
	struct core_event *to = saakm_core_of(lavd_policy, cpu);
	struct lavd_relief *relief = arg;

	/* If that CPU itself has come to idle since, it looks for whom to run. */
	if (relief->from == &to->rq)
		return true;
	return saakm_steal(relief->from, cpu, &to->rq, 1, lavd_may_leave, relief) > 0 ||
	       !relief->may_leave;
}

static bool lavd_runs_on(int cpu)
{
	return saakm_running_on(lavd_policy, cpu);
}

/*
 * Who was placed on an idle CPU, which a class above has taken since, or keeps idle for a sibling:
 * nobody else would look. If none idles, it shares a CPU with one of ours. Who waits since the
 * last look only may be about to run.
 */
void lavd_relieve(void)
{
	int cpu;

	for_each_online_cpu(cpu) {
		struct lavd_relief relief = { .from = &saakm_core_of(lavd_policy, cpu)->rq };
		const struct lavd_domain *domain = lavd_cpu(cpu)->domain;
		bool waits = READ_ONCE(relief.from->nr_tasks) && !lavd_runs_on(cpu);
		bool waited = READ_ONCE(lavd_cpu(cpu)->waited);

		WRITE_ONCE(lavd_cpu(cpu)->waited, waits);
		if (waits && waited &&
		    !lavd_for_cpus(domain, saakm_cpu_idle, lavd_steal_for, &relief))
			lavd_for_cpus(domain, lavd_runs_on, lavd_steal_for, &relief);
	}
}

void lavd_plan(void)
{
	struct lavd_plan plan = {};
	unsigned int i, giving = 0;

	if (lavd_all_share)
		return;
	for (i = 0; i < lavd_nr_domains; i++)
		lavd_add_to_plan(lavd_domains[i], &plan);
	for (i = 0; i < lavd_nr_domains; i++) {
		if (plan.busiest * 100 < READ_ONCE(lb_low_util_pct) * LAVD_SCALE)
			lavd_set_role(lavd_domains[i], 0, 0);
		else
			giving += lavd_plan_domain(lavd_domains[i], &plan);
	}
	for (i = 0; i < lavd_nr_domains && !giving && !plan.spills; i++)
		lavd_set_role(lavd_domains[i], 0, 0);
	for (i = 0; i < lavd_nr_domains; i++)
		lavd_call_idle(lavd_domains[i]);
}

/* Stealing */

/* The longest queue of a domain, but for @tried; or NULL if nobody waits. */
static struct saakm_rq *lavd_longest_queue(const struct lavd_domain *domain,
					   const struct saakm_rq *tried)
{
	struct saakm_rq *longest = NULL, *queues[2];
	unsigned int most = 0, i;
	int cpu;

	for_each_cpu(cpu, &domain->cpus) {
		/* scx_lavd leaves who waits for turbulent CPUs to those. */
		queues[0] = saakm_core_of(lavd_policy, cpu)->shared;
		queues[1] = original ? NULL : saakm_core_of(lavd_policy, cpu)->second;
		for (i = 0; i < 2; i++) {
			if (!queues[i] || queues[i] == tried ||
			    READ_ONCE(queues[i]->nr_tasks) <= most)
				continue;
			most = READ_ONCE(queues[i]->nr_tasks);
			longest = queues[i];
		}
		if (!per_cpu_queues)
			break;		/* all have the same */
	}
	return longest;
}

/* Of those in the longest none may be allowed here: then from any other. But for @own */
struct task_struct *lavd_take_of(struct core_event *core, const struct lavd_domain *domain,
				 const struct saakm_rq *own)
{
	struct saakm_rq *longest = lavd_longest_queue(domain, own), *queues[2];
	struct task_struct *task = longest ? saakm_take(core, longest) : NULL;
	unsigned int i;
	int cpu;

	if (task || !longest)
		return task;
	for_each_cpu(cpu, &domain->cpus) {
		queues[0] = saakm_core_of(lavd_policy, cpu)->shared;
		queues[1] = original ? NULL : saakm_core_of(lavd_policy, cpu)->second;
		for (i = 0; i < 2 && !task; i++) {
			if (queues[i] && queues[i] != own && queues[i] != longest &&
			    READ_ONCE(queues[i]->nr_tasks))
				task = saakm_take(core, queues[i]);
		}
		if (task || !per_cpu_queues)
			break;
	}
	return task;
}

static bool lavd_take_from(struct core_event *core, struct lavd_domain *from)
{
	struct lavd_domain *to = lavd_cpu(core->id)->domain;
	struct task_struct *task = lavd_take_of(core, from, NULL);
	long load;

	if (!task)
		return false;
	load = ((struct lavd_task *)saakm_task_data(task))->queued_load;
	if (atomic_long_sub_return(load, &from->may_give) <= 0)
		WRITE_ONCE(from->gives, false);
	if (atomic_long_sub_return(load, &to->may_take) <= 0)
		WRITE_ONCE(to->steals, false);
	return true;
}

/* From domains that have too much; from those farther away in one of two cases, and so on. */
bool lavd_steal(struct core_event *core)
{
	struct lavd_domain *domain = lavd_cpu(core->id)->domain, *from;
	unsigned int distance, i = 0;

	if (!READ_ONCE(domain->nr_active))
		return false;
	for (distance = 0; distance < LAVD_DISTANCES; distance++) {
		unsigned int nr = min(domain->nr_neighbours[distance], SAAKM_IDLE_PROBES);
		bool some = i < nr;

		for (; i < nr; i++) {
			from = lavd_domains[domain->neighbours[i]];
			if (READ_ONCE(from->gives) && lavd_take_from(core, from))
				return true;
		}
		if (some && lavd_random() & 1)
			break;
	}
	return false;
}

/* The core has nothing to do: the nearest from whom it can take anything. */
bool lavd_steal_any(struct core_event *core)
{
	const struct lavd_domain *domain = lavd_cpu(core->id)->domain;
	unsigned int i;

	for (i = 0; i < lavd_nr_near(domain); i++) {
		if (lavd_take_from(core, lavd_domains[domain->neighbours[i]]))
			return true;
	}
	return false;
}
