// SPDX-License-Identifier: GPL-2.0
/*
 * Where threads wait: in a queue of their domain, or of their core (per_cpu_queues=1), sorted by
 * deadline; those that may use one CPU only in core->rq. A CPU takes whoever is due first in
 * those that it serves. scx_lavd 1.1.4, main.bpf.c, and consume_task() of balance.bpf.c.
 */
#include "lavd.h"

static unsigned int lavd_nr_waiting(const struct saakm_rq *rq)
{
	return rq ? READ_ONCE(rq->nr_tasks) : 0;
}

/* Does anybody wait in a queue that this core serves? */
bool lavd_waits_here(struct core_event *core)
{
	return lavd_nr_waiting(&core->rq) || lavd_nr_waiting(core->shared) ||
	       lavd_nr_waiting(core->second);
}

/* The load of those that wait, in domains between which it is balanced */

void lavd_unqueue(struct lavd_task *t)
{
	if (!t->queued_in)
		return;
	atomic_long_sub(t->queued_load, &t->queued_in->queued_load);
	t->queued_in = NULL;
}

void lavd_requeue_load(struct lavd_task *t, struct lavd_domain *to)
{
	lavd_unqueue(t);
	if (lavd_nr_domains == 1)
		return;
	t->queued_load = t->utilisation;
	t->queued_in = to;
	atomic_long_add(t->queued_load, &to->queued_load);
}

/* Queueing */

static struct saakm_rq *lavd_queue_of(struct process_event *event, struct core_event *core)
{
	struct lavd_domain *domain = lavd_cpu(core->id)->domain;
	struct lavd_task *t = event->data;
	u32 normalized, threshold;

	if (t->warm || event->task->nr_cpus_allowed == 1 || event->task->migration_disabled)
		return &core->rq;
	threshold = READ_ONCE(domain->threshold);
	if (!threshold || !core->second)
		return core->shared;
	/* Steady CPUs could not take it. */
	if (!original && !cpumask_intersects(event->task->cpus_ptr, &domain->steady))
		return core->second;
	normalized = lavd_normalized(t->criticality, READ_ONCE(lavd_system.max_criticality));
	return lavd_vulnerability(normalized, t->utilisation) >= threshold ? core->shared :
									      core->second;
}

/* Returns true if the CPU idles: then it takes the thread at once. */
bool lavd_queue(struct process_event *event, struct core_event *core)
{
	bool idles = core->nr_runnable == 1 && saakm_running_prio(core->id) == MAX_PRIO;
	struct saakm_rq *rq = &core->rq;

	if (!idles || lavd_waits_here(core))
		rq = lavd_queue_of(event, core);
	lavd_requeue_load(event->data, lavd_cpu(core->id)->domain);
	change_state(event->task, SAAKM_READY, core->id, rq);
	return idles;
}

/* Taking */

/*
 * Turbulent CPUs leave the first queue of their domain to others, unless it is the longer one; but
 * for one turn of eight, for those who wait there and may use no other CPU.
 */
static bool lavd_serves_first_queue(const struct core_event *core, const struct lavd_cpu *own)
{
	return !READ_ONCE(own->turbulent) || !READ_ONCE(own->domain->nr_steady) ||
	       lavd_nr_waiting(core->shared) > lavd_nr_waiting(core->second) ||
	       (!original && !(own->turns & 7));
}

/* The first of @rq, if it is due before @due, or there is no such limit. */
static bool lavd_take_before(struct core_event *core, struct saakm_rq *rq, const u64 *due)
{
	return due ? saakm_take_before(core, rq, *due) : saakm_take(core, rq);
}

/* Whoever is due first of those that wait for this CPU alone, and in the queues that it shares. */
static bool lavd_take_earliest(struct core_event *core)
{
	bool first = lavd_nr_waiting(core->shared), second = lavd_nr_waiting(core->second);
	struct task_struct *task = saakm_rq_first(&core->rq);
	/* Read now: when a take lets go of the core's lock, the thread may leave the policy. */
	u64 due = task ? lavd_key(task) : 0, key, other;
	const u64 *own = task ? &due : NULL;

	if (!first && !second)
		return task;
	if (second && first && !lavd_serves_first_queue(core, lavd_cpu(core->id)))
		first = false;
	if (first && second && saakm_first_key(core->shared, &key) &&
	    saakm_first_key(core->second, &other) && saakm_before(other, key))
		return lavd_take_before(core, core->second, own) ||
		       lavd_take_before(core, core->shared, own) || core->rq.nr_tasks;
	if (first && lavd_take_before(core, core->shared, own))
		return true;
	if (second && lavd_take_before(core, core->second, own))
		return true;
	/*
	 * Rather than idle it serves the queue that it would leave to others; and both, if the
	 * thread that was due first has left.
	 */
	return core->rq.nr_tasks ||
	       ((own || !first) && lavd_nr_waiting(core->shared) &&
		saakm_take(core, core->shared)) ||
	       (own && lavd_nr_waiting(core->second) && saakm_take(core, core->second));
}

#define LOOKS	8

/*
 * Several wait in core->rq: one was placed here when the CPU idled, and others came, or its
 * affinity has been widened. Who may run elsewhere goes where others see it, but for the first.
 */
void lavd_share_rest(struct core_event *core)
{
	struct task_struct *task = saakm_rq_first(&core->rq);
	unsigned int looks = LOOKS;

	while (task && looks--) {
		task = saakm_rq_next(&core->rq, task);
		if (!task || task->nr_cpus_allowed == 1 || task->migration_disabled ||
		    ((struct lavd_task *)saakm_task_data(task))->warm)
			continue;
		saakm_switch_queue(task, core->shared);
		return;
	}
}

/* From other cores of the domain, which have queues of their own. scx_lavd does not look there. */
static bool lavd_take_near(struct core_event *core)
{
	return per_cpu_queues && !original &&
	       lavd_take_of(core, lavd_cpu(core->id)->domain, core->shared);
}

/* The core elects. Returns true if somebody waits in core->rq then. */
bool lavd_consume(struct core_event *core)
{
	if (lavd_all_share && !READ_ONCE(core->shared->nr_tasks) &&
	    !READ_ONCE(core->second->nr_tasks))
		return core->rq.nr_tasks;
	if (lavd_nr_domains > 1 && !core->rq.nr_tasks &&
	    READ_ONCE(lavd_cpu(core->id)->domain->steals) && lavd_steal(core))
		return true;
	if (lavd_take_earliest(core) || lavd_take_near(core))
		return true;
	return lavd_nr_domains > 1 && !READ_ONCE(mig_delta_pct) && lavd_steal_any(core);
}
