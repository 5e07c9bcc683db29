// SPDX-License-Identifier: GPL-2.0
/*
 * The state machine of a thread, and change_state(), the only way for a policy
 * to drive it. The table with its reasons is in
 * Documentation/scheduler/saakm.rst.
 */

static const u8 saakm_transitions[SAAKM_NR_STATES] = {
	[SAAKM_NOT_QUEUED]	= BIT(SAAKM_READY),
	[SAAKM_READY]		= BIT(SAAKM_RUNNING) | BIT(SAAKM_MIGRATING) |
				  BIT(SAAKM_BLOCKED) | BIT(SAAKM_TERMINATED) |
				  BIT(SAAKM_DELAYED),
	[SAAKM_RUNNING]		= BIT(SAAKM_READY) | BIT(SAAKM_READY_TICK) |
				  BIT(SAAKM_BLOCKED) | BIT(SAAKM_TERMINATED) |
				  BIT(SAAKM_DELAYED),
	[SAAKM_READY_TICK]	= BIT(SAAKM_READY) | BIT(SAAKM_RUNNING) |
				  BIT(SAAKM_BLOCKED) | BIT(SAAKM_TERMINATED) |
				  BIT(SAAKM_DELAYED),
	[SAAKM_BLOCKED]		= BIT(SAAKM_READY) | BIT(SAAKM_TERMINATED),
	[SAAKM_MIGRATING]	= BIT(SAAKM_READY),
	[SAAKM_TERMINATED]	= 0,
	[SAAKM_DELAYED]		= BIT(SAAKM_READY) | BIT(SAAKM_BLOCKED),
};

bool saakm_transition_allowed(enum saakm_state from, enum saakm_state to)
{
	return saakm_transitions[from] & BIT(to);
}
EXPORT_SYMBOL_NS_GPL(saakm_transition_allowed, SAAKM);

/* Where a policy may move a thread from its handlers. */
static const u8 saakm_handler_states[SAAKM_NR_HANDLERS] = {
	[SAAKM_H_new_place]	= BIT(SAAKM_READY),
	[SAAKM_H_unblock_place]	= BIT(SAAKM_READY),
	[SAAKM_H_requeue]	= BIT(SAAKM_READY),
	[SAAKM_H_tick]		= BIT(SAAKM_READY_TICK),
	[SAAKM_H_block]		= BIT(SAAKM_BLOCKED),
	[SAAKM_H_terminate]	= BIT(SAAKM_TERMINATED),
};

/*
 * What would corrupt memory or lose a thread is checked always; it is a few
 * instructions on lines that are needed anyway.
 */
static __always_inline bool saakm_change_ok(const struct task_struct *p,
					    enum saakm_state next, int cpu,
					    const struct saakm_rq *srq)
{
	enum saakm_handler handler = raw_cpu_read(saakm_context.handler);

	if (unlikely(raw_cpu_read(saakm_context.subject) != p ||
		     (unsigned int)next >= SAAKM_NR_STATES ||
		     !(saakm_handler_states[handler] &
		       saakm_transitions[p->saakm.state] & BIT(next)) ||
		     cpu != task_cpu(p)))
		return false;
	/* The handler's thread has a policy; a queue that was not initialised has no owner. */
	if (next == SAAKM_READY)
		return likely(srq && srq->cpu == cpu && srq->owner == p->saakm.policy);
	return !srq;
}

static __always_inline int saakm_apply_change(struct rq *rq, struct task_struct *p,
					      enum saakm_state next, struct saakm_rq *srq)
{
	p->saakm.state = next;
	p->saakm.since_ns = rq->clock;
	if (next == SAAKM_READY)
		saakm_rq_link(srq, p);
	else if (next == SAAKM_READY_TICK)
		resched_curr(rq);
	return 0;
}

/* In a function of its own: what is rare shall not cost the common case a stack frame. */
static noinline int saakm_change_waiting(struct rq *rq, struct task_struct *p,
					 enum saakm_state next, struct saakm_rq *srq)
{
	if (p->saakm.rq)
		saakm_rq_unlink(p);
	if (static_branch_unlikely(&saakm_observed))
		saakm_observe_transition(p, next);
	return saakm_apply_change(rq, p, next, srq);
}

/* A queue that was initialised outside of a handler becomes @p's policy's. */
static bool saakm_claim_queue(const struct task_struct *p, enum saakm_state next,
			      int cpu, struct saakm_rq *srq)
{
	if (!p->saakm.policy || next != SAAKM_READY || !srq || srq->owner ||
	    srq->type > SAAKM_RQ_RBTREE ||
	    !(srq->head.next || srq->type == SAAKM_RQ_RBTREE))
		return false;
	srq->owner = p->saakm.policy;
	return saakm_change_ok(p, next, cpu, srq);
}

/* Into a queue that cores share: as if it were this core's own, it must be the policy's. */
static bool saakm_may_share(const struct task_struct *p, enum saakm_state next, int cpu,
			    const struct saakm_rq *srq)
{
	const struct saakm_policy *policy = p->saakm.policy;

	return next == SAAKM_READY && srq && srq->type & SAAKM_RQ_SHARED && policy &&
	       srq->owner == policy && cpu == task_cpu(p) && saakm_serves(srq, cpu) &&
	       saakm_change_ok(p, next, cpu, &saakm_core(policy, cpu)->event.rq);
}

static noinline int saakm_change_unclaimed(struct task_struct *p, enum saakm_state next,
					   int cpu, struct saakm_rq *srq)
{
	if (!p) {
		saakm_violation(SAAKM_EXIT_WRONG_TRANSITION, NULL, NULL,
				"change_state(NULL): was the queue empty?");
		return -EINVAL;
	}
	if (!saakm_may_share(p, next, cpu, srq) && !saakm_claim_queue(p, next, cpu, srq))
		return saakm_refuse_change(p, next, cpu, srq);
	return saakm_change_waiting(cpu_rq(cpu), p, next, srq);
}

int saakm_change_state(struct task_struct *p, enum saakm_state next, int cpu,
		       struct saakm_rq *srq)
{
	struct rq *rq;

	if (unlikely(!saakm_change_ok(p, next, cpu, srq)))
		return saakm_change_unclaimed(p, next, cpu, srq);
	rq = cpu_rq(cpu);
	lockdep_assert_rq_held(rq);

	if (unlikely(p->saakm.rq) || static_branch_unlikely(&saakm_observed))
		return saakm_change_waiting(rq, p, next, srq);
	return saakm_apply_change(rq, p, next, srq);
}
EXPORT_SYMBOL_NS_GPL(saakm_change_state, SAAKM);
