// SPDX-License-Identifier: GPL-2.0
/*
 * lavd: cores that have a last-level cache in common share a queue, which is sorted by
 * a virtual deadline: the shorter a thread's bursts, the earlier. With vllc=N a cache is
 * divided among N CPUs each. A core that finds its own queue empty looks into others'.
 */
#include <linux/saakm.h>

#define MIN_NS	(500 * NSEC_PER_USEC)	/* of a burst; and of a slice that is cut short */

static unsigned int vllc;
module_param(vllc, uint, 0444);

static DEFINE_PER_CPU(struct cpumask, lavd_domain);
static u64 lavd_clock_vt;	/* the latest deadline that has been served */
static unsigned int lavd_built;

struct lavd_core {
	u64		running_vt;	/* deadline of whom it runs, for other cores */
	bool		make_way;
	unsigned int	victims, strangers;
};

struct lavd_task {
	u64		deadline_vt, burst_ns, average_ns;
};

static u64 lavd_deadline(const struct task_struct *task)
{
	return ((struct lavd_task *)saakm_task_data(task))->deadline_vt;
}

/* Who prepares meanwhile finds no idle core at the worst. */
static void lavd_find_domains(struct saakm_policy *policy)
{
	struct topology_level *level;
	int cpu, other;

	guard(rcu)();
	lavd_built++;
	for_each_possible_cpu(cpu) {
		struct cpumask *domain = per_cpu_ptr(&lavd_domain, cpu);
		const struct cpumask *cores = cpumask_of(cpu);

		for_each_topology_level(level, cpu)
			cores = level->kind <= TOPOLOGY_CACHE ? &level->cores : cores;
		cpumask_clear(domain);
		for_each_cpu(other, cores) {
			if (vllc && cpumask_weight(domain) == vllc) {
				if (cpumask_test_cpu(cpu, domain))
					break;
				cpumask_clear(domain);
			}
			cpumask_set_cpu(other, domain);
		}
	}
}

static int lavd_prepare(struct process_event *event)
{
	bool sync = event->flags & SAAKM_EV_SYNC && saakm_waker() == SAAKM_WAKER_TASK;
	int from = sync ? event->waker_cpu : event->prev_cpu;
	int cpu = saakm_idle_cpu_in(event->task, per_cpu_ptr(&lavd_domain, from));

	return cpu >= 0 ? cpu : event->prev_cpu;
}

/* Whoever waits for an interrupt has only half the time. */
static void lavd_place(struct process_event *event, struct core_event *core)
{
	struct lavd_task *t = event->data;
	u64 burst_ns;

	if (event->flags & SAAKM_EV_OUSTED)
		return;
	t->average_ns = (7 * t->average_ns + t->burst_ns) / 8;
	t->burst_ns = 0;
	burst_ns = max(t->average_ns, MIN_NS) >> (saakm_waker() == SAAKM_WAKER_IRQ);
	t->deadline_vt = READ_ONCE(lavd_clock_vt) + saakm_weighted_ns(event->task, burst_ns);
}

/* If no core idles: of the domain, the one whose thread has the latest deadline. */
static void lavd_find_core(struct process_event *event, struct core_event *core)
{
	int cpu, chosen = saakm_idle_cpu_in(event->task, cpu_online_mask);
	u64 latest_vt = lavd_deadline(event->task);
	struct lavd_core *c, *victim = NULL;
	struct task_struct *running;

	for_each_cpu_and(cpu, per_cpu_ptr(&lavd_domain, core->id), event->task->cpus_ptr) {
		c = saakm_core_of(core->policy, cpu)->data;
		running = saakm_running_on(core->policy, cpu);
		if (chosen >= 0 && !victim)
			break;
		if (!running || saakm_slice_left_ns(running) < MIN_NS ||
		    !saakm_before(latest_vt, READ_ONCE(c->running_vt)))
			continue;
		latest_vt = READ_ONCE(c->running_vt);
		victim = c;
		chosen = cpu;
	}
	if (victim)
		WRITE_ONCE(victim->make_way, true);
	if (chosen >= 0)
		saakm_kick(chosen);
}

static void lavd_used(struct process_event *event, struct core_event *core, u64 used_ns)
{
	struct lavd_task *t = event->data;
	struct lavd_core *c = core->data;

	t->burst_ns += used_ns;
	t->deadline_vt += saakm_weighted_ns(event->task, used_ns);
	WRITE_ONCE(c->running_vt, t->deadline_vt);
}

/* The clock never goes back. Of two cores that advance it at the same time one succeeds. */
static void lavd_running(struct process_event *event, struct core_event *core)
{
	u64 clock_vt = READ_ONCE(lavd_clock_vt), deadline_vt = lavd_deadline(event->task);
	struct lavd_core *c = core->data;

	WRITE_ONCE(c->running_vt, deadline_vt);
	if (saakm_before(clock_vt, deadline_vt))
		cmpxchg(&lavd_clock_vt, clock_vt, deadline_vt);
}

static void lavd_refill(struct core_event *core)
{
	struct lavd_core *c = core->data;
	struct topology_level *level;
	struct saakm_rq *other;
	int cpu;

	if (xchg(&c->make_way, false) && core->curr)
		c->victims++;
	else if (saakm_curr(core))
		return;
	if (saakm_take(core, core->shared) || core->curr)
		return;
	for_each_topology_level(level, core->id) {
		for_each_cpu_wrap(cpu, &level->cores, core->id) {
			other = saakm_core_of(core->policy, cpu)->shared;
			if (other != core->shared && READ_ONCE(other->nr_tasks) &&
			    saakm_take(core, other)) {
				c->strangers++;
				return;
			}
		}
	}
}

/* Who shares a queue is settled for good here: later on domains are for idle cores only. */
static int lavd_init(struct saakm_policy *policy)
{
	int cpu, ret = 0;

	lavd_find_domains(policy);
	for_each_possible_cpu(cpu) {
		if (!ret && cpumask_first(per_cpu_ptr(&lavd_domain, cpu)) == cpu)
			ret = saakm_share_queue(policy, per_cpu_ptr(&lavd_domain, cpu));
	}
	return ret;
}

static void lavd_dump(struct saakm_policy *policy, struct seq_buf *text)
{
	int cpu;

	seq_buf_printf(text, "domains were found %u times\n", READ_ONCE(lavd_built));
	for_each_possible_cpu(cpu) {
		struct lavd_core *c = saakm_core_of(policy, cpu)->data;

		seq_buf_printf(text, "cpu %d: domain %*pbl, %u victims, %u strangers\n", cpu,
			       cpumask_pr_args(per_cpu_ptr(&lavd_domain, cpu)),
			       READ_ONCE(c->victims), READ_ONCE(c->strangers));
	}
}

SAAKM_POLICY(lavd,
	     .queue = SAAKM_RQ_RBTREE, .key = lavd_deadline,
	     .slice_us = 3000,
	     .flags = SAAKM_POLICY_IDLE_MASKS,
	     .task_size = sizeof(struct lavd_task), .core_size = sizeof(struct lavd_core),
	     .prepare = lavd_prepare, .place = lavd_place,
	     .new_end = lavd_find_core, .unblock_end = lavd_find_core,
	     .used = lavd_used, .running = lavd_running, .refill = lavd_refill,
	     .topology_changed = lavd_find_domains,
	     .init = lavd_init, .dump = lavd_dump);
