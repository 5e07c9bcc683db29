// SPDX-License-Identifier: GPL-2.0
/*
 * lavd: cores that have a last-level cache in common share a queue, which is sorted by
 * deadline: the shorter a thread's bursts of CPU time, the earlier. A core that finds its own
 * queue empty looks into others'. As a thread that waits keeps its deadline, which others
 * that come later are behind at last, it does not starve.
 */
#include <linux/saakm.h>

#define MOST_NS		(30 * NSEC_PER_MSEC)	/* what counts of a burst */

static DEFINE_PER_CPU(struct cpumask, lavd_domain);
static DEFINE_PER_CPU(u64, lavd_running_ns);	/* deadline of whom the core runs, for others */

struct lavd_task {
	u64	deadline_ns, burst_ns;
};

static u64 lavd_deadline(const struct task_struct *task)
{
	return ((struct lavd_task *)saakm_task_data(task))->deadline_ns;
}

/* Whoever looks for an idle core meanwhile finds none of the domain at the worst. */
static void lavd_find_domains(struct saakm_policy *policy)
{
	struct topology_level *level;
	int cpu;

	guard(rcu)();
	for_each_possible_cpu(cpu) {
		cpumask_copy(per_cpu_ptr(&lavd_domain, cpu), cpumask_of(cpu));
		for_each_topology_level(level, cpu)
			if (level->kind <= TOPOLOGY_CACHE)
				cpumask_copy(per_cpu_ptr(&lavd_domain, cpu), &level->cores);
	}
}

/* Of the domain, if possible a core of which all hardware threads idle; else any. */
static int lavd_prepare(struct process_event *event)
{
	int cpu = saakm_idle_cpu_in(event->task, per_cpu_ptr(&lavd_domain, event->prev_cpu));

	return cpu >= 0 ? cpu : saakm_idle_prepare(event);
}

/* Earlier bursts count less; for whoever was woken by an interrupt, much less. */
static void lavd_place(struct process_event *event, struct core_event *core)
{
	struct lavd_task *t = event->data;

	if (event->flags & SAAKM_EV_OUSTED)
		return;		/* it has not slept */
	t->burst_ns /= saakm_waker() == SAAKM_WAKER_IRQ ? 4 : 2;
	t->deadline_ns = ktime_get_mono_fast_ns() + saakm_weighted_ns(event->task, t->burst_ns);
}

/* It was not placed on an idle core: one of the domain that runs a later one looks anew. */
static void lavd_find_victim(struct process_event *event, struct core_event *core)
{
	u64 deadline_ns = lavd_deadline(event->task);
	int cpu, victim = core->id;

	if (!saakm_running_on(core->policy, core->id))
		return;
	for_each_cpu_and(cpu, per_cpu_ptr(&lavd_domain, core->id), event->task->cpus_ptr)
		if (saakm_running_on(core->policy, cpu) &&
		    saakm_before(deadline_ns, READ_ONCE(per_cpu(lavd_running_ns, cpu))))
			victim = cpu;
	saakm_kick(victim);
}

static void lavd_used(struct process_event *event, struct core_event *core, u64 used_ns)
{
	struct lavd_task *t = event->data;

	t->burst_ns = min(t->burst_ns + used_ns, MOST_NS);
	t->deadline_ns = ktime_get_mono_fast_ns() + saakm_weighted_ns(event->task, t->burst_ns);
	WRITE_ONCE(per_cpu(lavd_running_ns, core->id), t->deadline_ns);
}

/* From its own queue if that one goes first, from others' if it has nothing to run. */
static void lavd_refill(struct core_event *core)
{
	int cpu;

	if (saakm_take_shared(core) || core->curr)
		return;
	for_each_cpu_wrap(cpu, cpu_online_mask, core->id)
		if (saakm_take(core, saakm_core_of(core->policy, cpu)->shared))
			return;
}

/* Who shares a queue is settled for good here: later on domains are for idle cores only. */
static int lavd_init(struct saakm_policy *policy)
{
	int cpu, ret = 0;

	lavd_find_domains(policy);
	for_each_possible_cpu(cpu)
		if (!ret && cpumask_first(per_cpu_ptr(&lavd_domain, cpu)) == cpu)
			ret = saakm_share_queue(policy, per_cpu_ptr(&lavd_domain, cpu));
	return ret;
}

SAAKM_POLICY(lavd,
	     .queue = SAAKM_RQ_RBTREE, .key = lavd_deadline, .slice_us = 3000,
	     .task_size = sizeof(struct lavd_task), .flags = SAAKM_POLICY_IDLE_MASKS,
	     .prepare = lavd_prepare, .place = lavd_place, .unblock_end = lavd_find_victim,
	     .used = lavd_used, .refill = lavd_refill,
	     .topology_changed = lavd_find_domains, .init = lavd_init);
