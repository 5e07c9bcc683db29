// SPDX-License-Identifier: GPL-2.0
/*
 * What each thread gets, whatever the policies do.
 *
 * Between policies: one that has runnable threads on a CPU, but has not had it
 * for floor_period_us, is owed floor_runtime_us there. Meanwhile it is asked
 * before all others. So the policies at the end of the list get some 5 % of
 * what SaaKM gets, whatever those in front of them do.
 *
 * Within policies: a thread that was preempted in the kernel may hold locks, or
 * be in an RCU section, that the whole machine waits for. After a second of
 * waiting it is forced: it gets a turn before all others, until it is on its
 * way to user mode or the turn is over; the next one, if it needs one, is a second
 * later. To its policy it looks like a thread that core scheduling has picked;
 * its wait goes on afterwards, as the watchdog sees it.
 *
 * Both are found out at the tick, and only where there is something to find.
 */
#include <asm/irq_regs.h>

static unsigned int saakm_floor_runtime_us = 50 * USEC_PER_MSEC;
static unsigned int saakm_floor_period_us = 1000 * USEC_PER_MSEC;

#define SAAKM_FORCE_NS		(1 * NSEC_PER_SEC)	/* after this wait */
#define SAAKM_TURN_NS		(50 * NSEC_PER_MSEC)	/* for so long */
#define SAAKM_TURNS_NS		(800 * NSEC_PER_MSEC)	/* all that wait, in turn */
#define SAAKM_TURN_MIN_NS	(4 * NSEC_PER_MSEC)

static struct saakm_policy *saakm_starving(struct rq *rq, const struct saakm_policy *running)
{
	u64 period_ns = (u64)READ_ONCE(saakm_floor_period_us) * NSEC_PER_USEC;
	struct saakm_policy *policy;

	for_each_saakm_policy(policy) {
		if (policy != running && rq->saakm.active & policy->own->mask &&
		    rq->clock - saakm_core(policy, cpu_of(rq))->idle_since_ns >= period_ns)
			return policy;
	}
	return NULL;
}

static void saakm_floor_policies(struct rq *rq, const struct saakm_policy *running)
{
	struct saakm_policy *policy;

	if (rq->saakm.owed) {
		if (rq->clock < rq->saakm.owed_until_ns)
			return;
		rq->saakm.owed = 0;
		resched_curr(rq);
	}
	if (!READ_ONCE(saakm_floor_runtime_us))
		return;
	policy = saakm_starving(rq, running);
	if (!policy)
		return;
	rq->saakm.owed = policy->own->mask;
	rq->saakm.special = true;
	rq->saakm.owed_until_ns = rq->clock + (u64)saakm_floor_runtime_us * NSEC_PER_USEC;
	resched_curr(rq);
}

/* The policy that is owed the CPU may have no thread here any more. */
struct task_struct *saakm_floor_elect(struct rq *rq, struct task_struct *curr)
{
	struct saakm_policy *policy;

	if (rq->saakm.owed & rq->saakm.active) {
		for_each_saakm_policy(policy) {
			if (policy->own->mask == rq->saakm.owed)
				return saakm_ask(rq, policy, curr);
		}
	}
	rq->saakm.owed = 0;
	return NULL;
}

/* Threads that were preempted in the kernel: the one that waits longest is first. */

static struct task_struct *saakm_first_preempted(struct rq *rq)
{
	return list_first_entry_or_null(&rq->saakm.preempted, struct task_struct,
					saakm.kernel_node);
}

/* A thread comes late when it was moved here, or taken out for a change. */
void saakm_floor_link(struct rq *rq, struct task_struct *p)
{
	struct task_struct *first = saakm_first_preempted(rq);

	p->saakm.in_kernel = SAAKM_PREEMPTED_LISTED;
	WRITE_ONCE(rq->saakm.nr_preempted, rq->saakm.nr_preempted + 1);
	/* Pairs with saakm_tick_work(). */
	smp_store_release(&rq->saakm.tick_work, true);
	if (first && (s64)(p->saakm.since_ns - first->saakm.since_ns) < 0)
		list_add(&p->saakm.kernel_node, &rq->saakm.preempted);
	else
		list_add_tail(&p->saakm.kernel_node, &rq->saakm.preempted);
}

void saakm_floor_unlink(struct rq *rq, struct task_struct *p)
{
	p->saakm.in_kernel = SAAKM_PREEMPTED;
	WRITE_ONCE(rq->saakm.nr_preempted, rq->saakm.nr_preempted - 1);
	list_del(&p->saakm.kernel_node);
}

/* From now on, not from when it was forced: higher classes may have held the CPU. */
static void saakm_begin_turn(struct rq *rq)
{
	u64 turn_ns = div_u64(SAAKM_TURNS_NS, max(rq->saakm.nr_preempted, 1u));

	rq->saakm.forced_until_ns = rq->clock +
		clamp_t(u64, turn_ns, SAAKM_TURN_MIN_NS, SAAKM_TURN_NS);
}

/* @p gets the CPU. */
void saakm_floor_runs(struct rq *rq, struct task_struct *p)
{
	if (p->saakm.event.flags & SAAKM_EV_FORCED)
		saakm_begin_turn(rq);
	if (p->saakm.in_kernel == SAAKM_PREEMPTED_LISTED)
		saakm_floor_unlink(rq, p);
	p->saakm.event.flags &= SAAKM_EV_FORCED;
	p->saakm.in_kernel = p->saakm.event.flags ? SAAKM_FORCED_TURN : SAAKM_NOT_PREEMPTED;
}

/* @p leaves the CPU, preempted in the kernel or from a forced turn. */
void saakm_floor_requeue(struct rq *rq, struct task_struct *p)
{
	struct saakm_task *st = &p->saakm;

	if (st->in_kernel == SAAKM_PREEMPTED)
		saakm_floor_link(rq, p);
	else
		st->in_kernel = SAAKM_NOT_PREEMPTED;
	/* Its policy has not given it this turn: its wait, not this one's clock, goes on. */
	st->event.flags = st->event.flags & SAAKM_EV_FORCED ? SAAKM_EV_WAITS : 0;
}

static void saakm_force(struct rq *rq, struct task_struct *p)
{
	p->saakm.wait_ns = saakm_wait_start(p);
	p->saakm.event.flags |= SAAKM_EV_FORCED;
	if (p->saakm.rq)
		saakm_rq_unlink(p);
	saakm_link_orphan(rq, p);
}

/* Nobody was elected: rather than idle, let go on what others may wait for. */
struct task_struct *saakm_floor_force(struct rq *rq)
{
	struct task_struct *p = saakm_first_preempted(rq);

	if (p && p->saakm.rq != &rq->saakm.orphans)
		saakm_force(rq, p);
	return p;
}

/* In the tick of any class, and at the next one as long as there are any. */
void saakm_floor_rescue(struct rq *rq)
{
	struct task_struct *p;

	if (!READ_ONCE(rq->saakm.nr_preempted))
		return;
	guard(rq_lock)(rq);
	p = saakm_first_preempted(rq);
	if (p)
		WRITE_ONCE(rq->saakm.tick_work, true);
	if (!p || p->saakm.rq == &rq->saakm.orphans ||
	    (s64)(rq->clock - p->saakm.since_ns) < SAAKM_FORCE_NS)
		return;
	saakm_force(rq, p);
	resched_curr(rq);
}

/* Has @curr been forced, and shall it go on? */
bool saakm_floor_keeps(struct rq *rq, struct task_struct *curr)
{
	return curr->saakm.event.flags & SAAKM_EV_FORCED &&
		!(curr->saakm.event.flags & SAAKM_EV_YIELD) &&
		rq->clock < rq->saakm.forced_until_ns;
}

/* @curr, which was forced, or about to be preempted in the kernel, is elected again. */
void saakm_floor_goes_on(struct rq *rq, struct task_struct *curr)
{
	bool forced = saakm_floor_keeps(rq, curr);

	curr->saakm.in_kernel = forced ? SAAKM_FORCED_TURN : SAAKM_NOT_PREEMPTED;
	curr->saakm.event.flags = forced ? SAAKM_EV_FORCED : 0;
}

/* The tick interrupted a forced thread, in user mode if it holds nothing any more. */
static void saakm_floor_turn(struct rq *rq)
{
	struct pt_regs *regs = get_irq_regs();

	if (rq->clock < rq->saakm.forced_until_ns && !(regs && user_mode(regs)))
		return;
	rq->saakm.forced_until_ns = 0;
	resched_curr(rq);
}

void __saakm_floor_tick(struct rq *rq, struct task_struct *p)
{
	if (p->saakm.event.flags & SAAKM_EV_FORCED)
		saakm_floor_turn(rq);
	else	/* orphans may wait behind a policy that is owed the CPU, and is alone by now */
		saakm_floor_policies(rq, p->saakm.policy);
}
