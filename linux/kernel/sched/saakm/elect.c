// SPDX-License-Identifier: GPL-2.0
/*
 * Which thread is next: what the floor says, else the policies in their order; each
 * by its handler, or by the class out of core->rq.
 */

/* The next in the order of election that has runnable threads here, or NULL. */
static struct saakm_policy *saakm_next_active(struct rq *rq, struct saakm_policy *policy)
{
	list_for_each_entry_continue_rcu(policy, &saakm_policies, node) {
		if (rq->saakm.active & policy->own->mask)
			return policy;
	}
	return NULL;
}

/* May the running thread keep the CPU, as far as it is concerned? */
static bool saakm_keeps(const struct task_struct *curr)
{
	return curr->saakm.state != SAAKM_READY_TICK &&
	       !(curr->saakm.event.flags & SAAKM_EV_YIELD);
}

static __always_inline struct task_struct *saakm_elect_ordered(struct saakm_core *core,
							       struct task_struct *first,
							       struct task_struct *curr)
{
	const struct saakm_own *own = core->policy->own;
	s64 behind;

	if (!own->key)		/* a FIFO that other cores share */
		return saakm_keeps(curr) ? curr : first;
	if (curr->saakm.event.flags & SAAKM_EV_YIELD && own->yield_to_any)
		return first;
	behind = first->saakm.key - saakm_ask_key(own->key, curr);
	return behind < 0 || (!behind && !saakm_keeps(curr)) ? first : curr;
}

/* The first of core->rq. An empty queue may have been overwritten with zeros. */
static __always_inline struct task_struct *saakm_waiting_here(struct saakm_core *core)
{
	return core->event.rq.nr_tasks ? saakm_rq_first(&core->event.rq) : NULL;
}

/* For policies without a handler `schedule`. */
static __always_inline struct task_struct *saakm_elect_here(struct saakm_core *core,
							    struct task_struct *curr)
{
	struct task_struct *first = saakm_waiting_here(core);

	if (!curr || !first)
		return first ?: curr;
	if (unlikely(core->queue != SAAKM_RQ_FIFO))
		return saakm_elect_ordered(core, first, curr);
	return saakm_keeps(curr) ? curr : first;
}

static __always_inline struct task_struct *saakm_ask(struct rq *rq,
						     struct saakm_policy *policy,
						     struct task_struct *curr)
{
	const struct saakm_module_routines *ops = READ_ONCE(policy->ops);
	struct saakm_core *core = saakm_core(policy, cpu_of(rq));
	struct task_struct *next;

	if (curr && curr->saakm.policy != policy)
		curr = NULL;
	if (likely(!ops->schedule))
		return saakm_elect_here(core, curr);
	core->event.curr = curr;
	saakm_enter_core(policy, core, SAAKM_H_schedule);
	next = ops->schedule(&core->event);
	core->event.curr = NULL;
	if (IS_ERR(next))
		saakm_violation(SAAKM_EXIT_WRONG_ELECTION, policy, NULL,
				"schedule returned %ld, which is no thread; for none: NULL",
				PTR_ERR(next));
	if (!next)
		next = curr;
	else if (next != curr && (IS_ERR(next) || !saakm_electable(rq, policy, next)))
		next = saakm_fallback_first(rq, policy) ?: curr;
	saakm_leave();
	return next;
}

/* The first policy with runnable threads here left the CPU to the others. */
static noinline struct task_struct *saakm_elect_other(struct rq *rq, struct task_struct *curr)
{
	struct saakm_policy *policy = rq->saakm.first;
	struct task_struct *next;

	while ((policy = saakm_next_active(rq, policy))) {
		next = saakm_ask(rq, policy, curr);
		if (next)
			return next;
	}
	/* Threads must leave a dying CPU through its current thread. */
	if (unlikely(!cpu_active(cpu_of(rq))))
		return list_first_entry(&rq->saakm.threads, struct task_struct, saakm.rq_node);
	if (static_branch_unlikely(&saakm_refilling)) {
		next = saakm_not_refilled(rq);
		if (next)
			return next;
	}
	return saakm_floor_force(rq);
}

/*
 * A forced turn that goes on; the policy that is owed the CPU; what the policies have lost. While
 * there are sleepers nobody is elected without a look at him.
 */
static noinline struct task_struct *saakm_elect_special(struct rq *rq, struct task_struct *curr)
{
	struct task_struct *next;

	if (curr && saakm_floor_keeps(rq, curr))
		return curr;
	next = saakm_floor_elect(rq, curr);
	if (next)
		return next;
	if (rq->saakm.orphans.nr_tasks)
		return saakm_rq_first(&rq->saakm.orphans);
	if (!rq->saakm.owed && !rq->saakm.nr_delayed)
		rq->saakm.special = false;
	return NULL;
}

static __always_inline struct task_struct *saakm_elect(struct rq *rq, struct task_struct *curr)
{
	struct task_struct *next;

	if (unlikely(rq->saakm.special)) {
		next = saakm_elect_special(rq, curr);
		if (next)
			return next;
	}
	return saakm_ask(rq, rq->saakm.first, curr) ?: saakm_elect_other(rq, curr);
}

static noinline struct task_struct *saakm_pick_slow(struct rq *rq, struct task_struct *curr)
{
	struct task_struct *next;

	if (curr)
		saakm_charge(rq, curr);
	next = saakm_elect(rq, curr);
	return static_branch_unlikely(&saakm_delaying) ? saakm_awake(rq, next) : next;
}

/*
 * May be called several times for one switch, and from another CPU (core
 * scheduling): nothing is final here. In front, without a stack frame, what is
 * common: the running thread blocks, and the class elects.
 */
struct task_struct *saakm_pick_task(struct rq *rq)
{
	struct task_struct *curr = saakm_rq_curr(rq), *first;
	struct saakm_policy *policy = rq->saakm.first;

	if (!policy)
		return NULL;
	if (curr->saakm.on_rq)
		return saakm_pick_slow(rq, curr);
	if (likely(!rq->saakm.special && !READ_ONCE(policy->ops)->schedule)) {
		first = saakm_waiting_here(saakm_core(policy, cpu_of(rq)));
		if (likely(first))
			return first;
	}
	return saakm_pick_slow(rq, NULL);	/* @curr is not ours, or it blocks */
}
