// SPDX-License-Identifier: GPL-2.0
/*
 * What holds between events, whatever happens: the class's accounts of each runqueue agree with
 * each other and with the core's. Looked at after each event, with the option check=1.
 */
#include "model.h"
#include "saakm/internal.h"

/* With many CPUs not all of them are looked at each time, but all in turn. */
#define MOST_AT_ONCE	64

#define FAILS(rq, p, fmt, ...)							\
	({									\
		WARN(1, "check: CPU %d, %s/%d: " fmt, (rq)->cpu,		\
		     (p) ? ((struct task_struct *)(p))->comm : "-",		\
		     (p) ? ((struct task_struct *)(p))->pid : 0, ##__VA_ARGS__); \
	})

/* __migrate_task() leaves a thread where it is, if the CPU that was chosen for it has gone. */
static bool cpus_have_gone;

/* One of any class, which runs or waits here. Until a stopper has moved it, it may stay. */
static void check_place(struct rq *rq, struct task_struct *p)
{
	if (!cpumask_test_cpu(rq->cpu, &p->cpus_mask) && !is_migration_disabled(p) &&
	    !p->migration_pending && !cpus_have_gone)
		FAILS(rq, p, "is on a CPU that it may not use");
}

/* One thread of ours that is queued. */
static void check_thread(struct rq *rq, struct task_struct *p)
{
	const struct saakm_task *st = &p->saakm;
	bool runs = p == rq->curr;

	if (!st->on_rq || task_cpu(p) != rq->cpu || !task_on_saakm(p) || !st->policy)
		FAILS(rq, p, "is in the list of the CPU's threads, but not one of them");
	if (runs && st->state != SAAKM_RUNNING && st->state != SAAKM_READY_TICK)
		FAILS(rq, p, "has the CPU in state %d", st->state);
	if (!runs && st->state != (p->se.sched_delayed ? SAAKM_DELAYED : SAAKM_READY))
		FAILS(rq, p, "waits for the CPU in state %d", st->state);
	if (runs == !!st->rq)
		FAILS(rq, p, "is in state %d, and %s a queue", st->state, st->rq ? "in" : "not in");
	if (p->se.sched_delayed && !READ_ONCE(p->__state))
		FAILS(rq, p, "does not sleep, and is delayed%s", "");
	if (st->rq && !saakm_serves(st->rq, rq->cpu))
		FAILS(rq, p, "is in a queue of CPU %d", st->rq->cpu);
	if (p->on_rq != TASK_ON_RQ_QUEUED)
		FAILS(rq, p, "is queued by the class, on_rq is %d", p->on_rq);
	check_place(rq, p);
}

static unsigned int check_threads(struct rq *rq)
{
	unsigned int n = 0, delayed = 0;
	struct task_struct *p;

	list_for_each_entry(p, &rq->saakm.threads, saakm.rq_node) {
		check_thread(rq, p);
		delayed += p->se.sched_delayed;
		n++;
	}
	if (delayed != rq->saakm.nr_delayed)
		FAILS(rq, NULL, "%u threads are delayed, saakm.nr_delayed is %u", delayed,
		      rq->saakm.nr_delayed);
	/* One that is ousted or woken there has it elect anew. */
	if (delayed && delayed == n && rq->curr == rq->idle && !test_tsk_need_resched(rq->idle))
		FAILS(rq, NULL, "it idles, and all of %u threads are delayed", n);
	if (n != rq->saakm.nr_running)
		FAILS(rq, NULL, "%u threads are queued, saakm.nr_running is %u", n,
		      rq->saakm.nr_running);
	return n;
}

/* What the policies have here, in all. */
static void check_policies(struct rq *rq, unsigned int nr_threads)
{
	struct saakm_policy *policy, *first = NULL;
	unsigned int sum = 0;
	u64 active = 0;

	list_for_each_entry(policy, &saakm_policies, node) {
		unsigned int n = saakm_core(policy, rq->cpu)->nr_runnable;

		sum += n;
		if (!n)
			continue;
		active |= policy->own->mask;
		if (!first || saakm_policy_before(policy, first))
			first = policy;
	}
	if (sum != nr_threads)
		FAILS(rq, NULL, "%u threads are queued, the policies have %u", nr_threads, sum);
	if (active != rq->saakm.active || first != rq->saakm.first)
		FAILS(rq, NULL, "policies with threads: %llx, noted %llx; the first: %s, noted %s",
		      active, rq->saakm.active, first ? first->own->name : "none",
		      rq->saakm.first ? rq->saakm.first->own->name : "none");
}

/* Threads of other classes that wait, and whoever runs. */
static void check_places(struct rq *rq)
{
	struct task_struct *p;
	struct rb_node *rb;
	int prio;

	for (prio = 0; rq->rt.rt_nr_running && prio < MAX_RT_PRIO; prio++) {
		list_for_each_entry(p, &rq->rt.queue[prio], rt.run_list)
			check_place(rq, p);
	}
	for (rb = rb_first_cached(&rq->cfs.timeline); rb; rb = rb_next(rb))
		check_place(rq, rb_entry(rb, struct task_struct, se.run_node));
	if (rq->curr != rq->idle)
		check_place(rq, rq->curr);
	if (!cpu_online(rq->cpu) && (rq->nr_running || rq->curr != rq->idle))
		FAILS(rq, rq->curr, "is current of a CPU that is offline, where %u are runnable",
		      rq->nr_running);
}

/* The core's own accounts. */
static void check_core(struct rq *rq)
{
	struct task_struct *curr = rq->curr;
	unsigned int stopper = rq->stop && task_on_rq_queued(rq->stop);
	unsigned int sum = rq->saakm.nr_running + rq->cfs.h_nr_queued + rq->rt.rt_nr_running +
			   rq->dl.dl_nr_running + stopper;

	if (rq->nr_running != sum)
		FAILS(rq, NULL, "nr_running is %u, the classes have %u", rq->nr_running, sum);
	if (!curr->on_cpu || task_cpu(curr) != rq->cpu)
		FAILS(rq, curr, "is current, with on_cpu %d, cpu %d", curr->on_cpu, task_cpu(curr));
	if (curr != rq->idle && curr->on_rq != TASK_ON_RQ_QUEUED)
		FAILS(rq, curr, "is current, with on_rq %d", curr->on_rq);
	if (idle_cpu(rq->cpu) != (curr == rq->idle && !rq->nr_running))
		FAILS(rq, curr, "is current, %u are runnable, and the CPU counts as %s",
		      rq->nr_running, idle_cpu(rq->cpu) ? "idle" : "busy");
	/* Whoever gives an idle CPU something to run asks for an election. */
	if (curr == rq->idle && rq->nr_running > rq->saakm.nr_running &&
	    !test_tsk_need_resched(curr) && rq->cfs.h_nr_queued + rq->rt.rt_nr_running)
		FAILS(rq, curr, "idles while threads wait that no policy holds back");
}

static void check_rq(struct rq *rq)
{
	unsigned int n;

	/* An event there is put aside in the middle. */
	if (raw_spin_is_locked(&rq->__lock) || sim_cpu_occupied(rq->cpu))
		return;
	n = check_threads(rq);
	check_core(rq);
	check_places(rq);
	/* Policies come and go in the middle of events. */
	if (!mutex_is_locked(&saakm_mutex))
		check_policies(rq, n);
}

void model_check(void)
{
	static int next;
	int i;

	if (!cpumask_empty(&model_dying_mask) || !cpumask_equal(cpu_active_mask, cpu_possible_mask))
		cpus_have_gone = true;
	for (i = 0; i < min(nr_cpu_ids, MOST_AT_ONCE); i++) {
		next = next + 1 < nr_cpu_ids ? next + 1 : 0;
		check_rq(cpu_rq(next));
	}
}
