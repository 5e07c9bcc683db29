// SPDX-License-Identifier: GPL-2.0
/*
 * Who takes a CPU from whom: one whose latency is critical, and who has not had more than its
 * share, from one that is less critical and would run on for longer. That one is asked, without
 * an interrupt, and makes way at its next tick or election. scx_lavd 1.1.4, preempt.bpf.c.
 */
#include "lavd.h"

struct lavd_rank {
	u32	criticality;
	u64	stops_ns;
};

/* Has a CPU been asked to elect anew, for somebody who is more critical? */
bool lavd_asked(const struct lavd_cpu *own)
{
	return !READ_ONCE(own->stops_ns);
}

static bool lavd_goes_before(const struct lavd_rank *a, const struct lavd_rank *b)
{
	return a->criticality > b->criticality && saakm_before(a->stops_ns, b->stops_ns);
}

/* May a thread of @rank take the CPU from whom it runs? Who holds a lock would delay others. */
static bool lavd_yields_to(int cpu, const struct lavd_rank *rank, struct lavd_rank *victim)
{
	const struct task_struct *running = saakm_running_on(lavd_policy, cpu);

	if (!running || (READ_ONCE(futex_boost) && saakm_holds_lock(running)))
		return false;
	victim->criticality = READ_ONCE(lavd_cpu(cpu)->criticality);
	victim->stops_ns = READ_ONCE(lavd_cpu(cpu)->stops_ns);
	return victim->stops_ns && lavd_goes_before(rank, victim);
}

/* Several may ask: one is enough. */
static bool lavd_ask(int cpu)
{
	struct lavd_cpu *victim = lavd_cpu(cpu);
	u64 stops_ns = READ_ONCE(victim->stops_ns);

	return stops_ns && cmpxchg(&victim->stops_ns, stops_ns, 0) == stops_ns;
}

/* The CPU where it would run has a longer slice going on. */
static bool lavd_ends_boost(struct process_event *event, int cpu, const struct lavd_rank *rank,
			    u64 now)
{
	struct lavd_cpu *own = lavd_cpu(cpu);
	struct lavd_rank victim;

	if (!READ_ONCE(own->boosted))
		return false;
	if ((s64)(now - READ_ONCE(own->began_ns)) >= (s64)READ_ONCE(lavd_system.slice_ns) &&
	    lavd_yields_to(cpu, rank, &victim))
		return lavd_ask(cpu);
	if (!(((struct lavd_task *)event->data)->how & LAVD_AFFINE))
		return false;
	WRITE_ONCE(own->boosted, false);	/* lavd_turn_is_over() */
	return true;
}

/* From where a CPU begins to look, another place each time. */
u32 lavd_random(void)
{
	u32 *random = this_cpu_ptr(&lavd_cpus.random);

	*random = *random * 1664525 + 1013904223;
	return *random >> 8;
}

/* @cpus: not empty */
int lavd_anywhere_in(const struct cpumask *cpus)
{
	return cpumask_nth(lavd_random() % cpumask_weight(cpus), cpus);
}

/*
 * Of two that would make way, the CPU where it would run and any of the domain or any two, it is
 * the less critical. scx_lavd takes the other one.
 */
static int lavd_choose_victim(const struct process_event *event, int preferred,
			      const struct lavd_domain *domain, const struct lavd_rank *rank)
{
	struct lavd_rank ranks[2];
	int victims[2], found = 0, cpu, from;

	if (preferred >= 0 && lavd_yields_to(preferred, rank, &ranks[0]))
		victims[found++] = preferred;
	if (event->task->nr_cpus_allowed == 1)
		return found ? preferred : -1;
	from = lavd_anywhere_in(&domain->cpus);
	for_each_cpu_wrap(cpu, &domain->cpus, from) {
		if (cpu == preferred || cpu == task_cpu(event->task) ||
		    !cpumask_test_cpu(cpu, event->task->cpus_ptr) ||
		    !lavd_yields_to(cpu, rank, &ranks[found]))
			continue;
		victims[found++] = cpu;
		if (found == 2)
			break;
	}
	if (found < 2)
		return found ? victims[0] : -1;
	if (original)
		return victims[!lavd_goes_before(&ranks[0], &ranks[1])];
	return victims[ranks[0].criticality > ranks[1].criticality];
}

/* It waits for this CPU alone, and whom that runs need not make way: a short answer. */
static bool lavd_must_wait(const struct process_event *event, const struct lavd_cpu *own)
{
	const struct lavd_task *t = event->data;

	return event->task->nr_cpus_allowed == 1 && !READ_ONCE(own->boosted) &&
	       READ_ONCE(own->criticality) >= t->criticality;
}

/*
 * A thread has been queued at @core, which does not idle. @preferred: that CPU, or -1: it has just
 * lost it.
 */
void lavd_find_victim(struct process_event *event, struct core_event *core, int preferred)
{
	const struct lavd_task *t = event->data;
	struct lavd_rank rank = { .criticality = t->criticality };
	u64 now;
	int cpu;

	if (!READ_ONCE(preemption) || t->greedy ||
	    t->criticality < READ_ONCE(lavd_system.threshold) ||
	    lavd_must_wait(event, lavd_cpu(core->id)))
		return;
	now = saakm_now_ns(core);
	rank.stops_ns = now + min(t->runtime_ns, t->slice_ns);
	if (preferred < 0 || !lavd_ends_boost(event, preferred, &rank, now)) {
		cpu = lavd_choose_victim(event, preferred, lavd_cpu(core->id)->domain, &rank);
		if (cpu < 0 || !lavd_ask(cpu))
			return;
	}
	this_cpu_inc(lavd_cpus.preemptions);
}

/* At a tick: has a thread run for its slice, or for as long as it may now? */
bool lavd_turn_is_over(struct core_event *core, struct task_struct *task, u64 now)
{
	struct lavd_cpu *own = lavd_cpu(core->id);
	struct lavd_task *t = saakm_task_data(task);
	u64 slice_ns = READ_ONCE(lavd_system.slice_ns), pinned_ns = lavd_pinned_slice_ns();

	if (lavd_asked(own))
		return true;
	if (core->rq.nr_tasks && pinned_ns)
		slice_ns = min(slice_ns, pinned_ns);
	else if (!t->boosted)
		slice_ns = t->slice_ns;
	else if (READ_ONCE(own->boosted) && READ_ONCE(lavd_system.light) &&
		 !(original ? core->rq.nr_tasks : lavd_waits_here(core)))
		slice_ns = t->slice_ns;
	return (s64)(now - own->began_ns) >= (s64)slice_ns;
}
