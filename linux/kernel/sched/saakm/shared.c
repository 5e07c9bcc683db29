// SPDX-License-Identifier: GPL-2.0
/*
 * Queues that cores share. To the kernel a thread in one belongs to the CPU that it was
 * placed on: it is on that one's runqueue, whose lock keeps it there. The lock of the
 * queue, inside of those, is for the order. A CPU that elects takes the first over before
 * it does, into its own core->rq, where it may drop the lock of its runqueue; or elects it
 * where it is, if that is on this CPU.
 *
 * A thread that comes looks for an idle CPU; a CPU that begins to idle looks for a thread,
 * and so does one that ends to, for others: it may have been counted on. Each says first
 * what it does, and looks then: so one of the two sees the other.
 */

DEFINE_STATIC_KEY_FALSE(saakm_refilling);
u64 saakm_refillers __read_mostly;

/* Threads that a CPU looks at which would idle. Others have less time: SAAKM_STEAL_LOOKS */
#define SAAKM_IDLE_LOOKS	1024

/* Has one of @cpus look that idles and that @p may use. Returns it, or -1. */
static int saakm_call_idle(const struct cpumask *cpus, struct task_struct *p)
{
	int cpu;

	for_each_cpu_and(cpu, &saakm_idle_cpus, cpus) {
		if (!saakm_may_run_on(p, cpu))
			continue;
		saakm_kick(cpu);
		return cpu;
	}
	return -1;
}

static bool saakm_idles(struct rq *rq)
{
	return is_idle_task(saakm_rq_curr(rq));
}

/* @p has come. Its own CPU will look if it idles; for some there is no other. */
static __always_inline void saakm_call_for(struct saakm_shared *shared, struct task_struct *p)
{
	if (p->nr_cpus_allowed == 1 || saakm_idles(task_rq(p)))
		return;
	smp_mb();	/* __saakm_enter_idle() */
	saakm_call_idle(&shared->cores, p);
}

static noinline void saakm_shared_link_sorted(struct saakm_shared *shared, struct task_struct *p)
{
	scoped_guard(raw_spinlock, &shared->lock)
		saakm_rq_link_sorted(&shared->rq, p, saakm_rq_kind(&shared->rq));
	saakm_call_for(shared, p);
}

void saakm_shared_link(struct saakm_rq *srq, struct task_struct *p)
{
	struct saakm_shared *shared = saakm_shared_of(srq);

	if (saakm_rq_kind(srq) != SAAKM_RQ_FIFO) {
		saakm_shared_link_sorted(shared, p);
		return;
	}
	scoped_guard(raw_spinlock, &shared->lock)
		saakm_rq_link_fifo(srq, p);
	saakm_call_for(shared, p);
}

static void saakm_shared_drop(struct saakm_rq *srq, struct task_struct *p)
{
	if (saakm_rq_kind(srq) == SAAKM_RQ_RBTREE) {
		saakm_rbtree_unlink(srq, p);
		return;
	}
	WRITE_ONCE(srq->nr_tasks, srq->nr_tasks - 1);
	__list_del_entry(&p->saakm.node.list);
}

void saakm_shared_unlink(struct saakm_rq *srq, struct task_struct *p)
{
	guard(raw_spinlock)(&saakm_shared_of(srq)->lock);
	saakm_shared_drop(srq, p);
}

void saakm_shared_to_head(struct saakm_rq *srq, struct task_struct *p)
{
	guard(raw_spinlock)(&saakm_shared_of(srq)->lock);
	list_move(&p->saakm.node.list, &srq->head);
}

/* Under the lock of the queue. */
static struct task_struct *saakm_shared_first(struct saakm_rq *srq)
{
	return __saakm_rq_first(srq, saakm_rq_kind(srq));
}

static struct task_struct *saakm_shared_next(struct saakm_rq *srq, struct task_struct *p)
{
	return __saakm_rq_next(srq, saakm_rq_kind(srq), p);
}

/* The key of the first; false if there is none. */
bool saakm_shared_key(struct saakm_rq *srq, u64 *key)
{
	struct task_struct *first;

	if (!READ_ONCE(srq->nr_tasks))
		return false;
	guard(raw_spinlock)(&saakm_shared_of(srq)->lock);
	first = saakm_shared_first(srq);
	if (first)
		*key = first->saakm.key;
	return first;
}

/* Who has kicked a CPU that takes one thread, or none, may have done so for the others, too. */
static void saakm_call_for_rest(struct saakm_shared *shared)
{
	unsigned int looks = SAAKM_IDLE_LOOKS;
	struct cpumask *idle = &shared->idle;
	struct task_struct *p;
	int cpu;

	if (!READ_ONCE(shared->rq.nr_tasks) ||
	    !cpumask_intersects(&saakm_idle_cpus, &shared->cores))
		return;
	guard(raw_spinlock)(&shared->lock);
	cpumask_and(idle, &saakm_idle_cpus, &shared->cores);
	for (p = saakm_shared_first(&shared->rq); p && looks-- && !cpumask_empty(idle);
	     p = saakm_shared_next(&shared->rq, p)) {
		/* Its own CPU looks, or none that idles may run it. */
		if (p->nr_cpus_allowed == 1 || !cpumask_intersects(idle, p->cpus_ptr))
			continue;
		cpu = saakm_call_idle(idle, p);
		if (cpu >= 0)
			cpumask_clear_cpu(cpu, idle);
	}
}

/* Whom a core would elect: one whose key goes before that of the running thread, if at all. */
struct saakm_wish {
	bool	by_key;
	bool	ties;		/* who goes beside it is welcome, too */
	u64	key;
};

static bool saakm_wished(const struct saakm_wish *wish, const struct task_struct *p)
{
	return !wish->by_key || saakm_before(p->saakm.key, wish->key) ||
	       (wish->ties && p->saakm.key == wish->key);
}

/* Would a thread of @policy have its turn here? The lock may have been dropped since. */
static bool saakm_has_turn(struct rq *rq, const struct saakm_policy *policy)
{
	u64 owed = rq->saakm.owed & rq->saakm.active;	/* as saakm_floor_elect() */

	if (!saakm_nothing_above(rq) || rq->saakm.orphans.nr_tasks)
		return false;
	if (owed)
		return owed == policy->own->mask;
	return !rq->saakm.first || !saakm_policy_before(rq->saakm.first, policy);
}

/*
 * The first that may run on the CPU of @rq, where it is to be moved to @to. One that is on
 * this CPU already has been, when this returns. Others are to be asked for again, under
 * the locks: @src; NULL if it is not wished, nor are those behind it.
 */
static struct task_struct *saakm_shared_look(struct rq *rq, struct saakm_rq *from,
					     struct saakm_rq *to, const struct saakm_wish *wish,
					     struct rq **src)
{
	struct saakm_shared *shared = saakm_shared_of(from);
	unsigned int looks = saakm_idles(rq) ? SAAKM_IDLE_LOOKS : SAAKM_STEAL_LOOKS;
	struct task_struct *p;

	scoped_guard(raw_spinlock, &shared->lock) {
		p = saakm_shared_first(from);
		while (p && saakm_wished(wish, p) && task_rq(p) != rq &&
		       !saakm_may_run_on(p, cpu_of(rq)))
			p = --looks ? saakm_shared_next(from, p) : NULL;
		if (!p)
			return NULL;
		*src = saakm_wished(wish, p) ? task_rq(p) : NULL;
		if (*src != rq)
			return p;
		saakm_shared_drop(from, p);
	}
	saakm_rq_link(to, p);
	return p;
}

/* Of those that are on this CPU already: by key, else who waits longest. */
static struct task_struct *saakm_shared_here(struct rq *rq, const struct saakm_rq *from)
{
	struct task_struct *p, *best = NULL;

	list_for_each_entry(p, &rq->saakm.threads, saakm.rq_node) {
		if (p->saakm.rq != from)
			continue;
		if (!best || (from->key ? saakm_before(p->saakm.key, best->saakm.key) :
			      saakm_before(saakm_wait_start(p), saakm_wait_start(best))))
			best = p;
	}
	return best;
}

/* Those that are first may not run here, all of them. */
static struct task_struct *saakm_shared_local(struct rq *rq, struct saakm_rq *from,
					      struct saakm_rq *to, const struct saakm_wish *wish)
{
	struct task_struct *p = saakm_shared_here(rq, from);

	if (!p || !saakm_wished(wish, p))
		return NULL;
	saakm_rq_unlink(p);
	saakm_rq_link(to, p);
	return p;
}

/* Both locks are held: is @p still where it was, and shall it come? */
static bool saakm_still_wished(struct rq *rq, struct task_struct *p, struct rq *src,
			       struct saakm_rq *from, const struct saakm_wish *wish)
{
	return task_rq(p) == src && p->saakm.rq == from && p->saakm.on_rq &&
	       p->saakm.state == SAAKM_READY && saakm_may_run_on(p, cpu_of(rq)) &&
	       saakm_wished(wish, p) && saakm_has_turn(rq, from->owner);
}

#define SAAKM_TAKE_TRIES	4	/* others may be faster */

/* The lock of @rq is dropped meanwhile. Interrupts are off: threads last, as under RCU. */
static void saakm_lock_source(struct rq *rq, struct rq *src)
{
	raw_cpu_write(saakm_context.waits, true);	/* as in saakm_lock_both() */
	double_lock_balance(rq, src);
	raw_cpu_write(saakm_context.waits, false);
	rq->saakm.unlocked = true;
	update_rq_clock(rq);
	update_rq_clock(src);
}

static struct task_struct *saakm_try_take(struct rq *rq, struct saakm_rq *from,
					  struct saakm_rq *to, const struct saakm_wish *wish)
{
	int tries = SAAKM_TAKE_TRIES;
	struct task_struct *p;
	struct rq *src;
	bool comes;

	while (tries-- && saakm_has_turn(rq, from->owner)) {
		if (!READ_ONCE(from->nr_tasks))
			return NULL;
		p = saakm_shared_look(rq, from, to, wish, &src);
		if (!p)
			break;
		if (!src)
			return NULL;
		if (src == rq)
			return p;
		saakm_lock_source(rq, src);
		comes = saakm_still_wished(rq, p, src, from, wish);
		if (comes)
			saakm_move_locked(src, rq, p, to);
		double_unlock_balance(rq, src);
		if (comes)
			return p;
	}
	if (!saakm_has_turn(rq, from->owner))
		return NULL;
	p = saakm_shared_local(rq, from, to, wish);
	if (!p && tries < 0 && saakm_idles(rq))
		saakm_kick(cpu_of(rq));	/* nobody else may look again */
	return p;
}

/* The thread of the policy that has the CPU, or NULL. It may leave while there is no lock. */
static struct task_struct *saakm_core_curr(struct rq *rq, const struct saakm_core *core)
{
	struct task_struct *curr = saakm_rq_curr(rq);

	return curr->saakm.on_rq && curr->saakm.policy == core->policy ? curr : NULL;
}

static struct task_struct *saakm_take_first(struct rq *rq, struct saakm_core *core,
					    struct saakm_rq *from, const struct saakm_wish *wish)
{
	struct task_struct *p = saakm_try_take(rq, from, &core->event.rq, wish);

	core->event.curr = saakm_core_curr(rq, core);
	return p;
}

/* Refilling, before a core elects */

/* Would any of core->shared be elected, if it waited in core->rq? */
static bool saakm_make_wish(struct saakm_wish *wish, struct saakm_core *core,
			    const struct task_struct *curr)
{
	const struct saakm_own *own = core->policy->own;
	bool keeps = curr && saakm_keeps(curr);

	*wish = (struct saakm_wish) {};
	if (!curr || !own->key || own->routines.schedule)
		return !keeps;
	if (curr->saakm.event.flags & SAAKM_EV_YIELD && own->yield_to_any)
		return true;
	wish->by_key = true;
	wish->ties = !keeps;
	wish->key = saakm_ask_key(own->key, curr);
	return true;
}

/* What is done without a handler. */
static struct task_struct *saakm_refill_shared(struct rq *rq, struct saakm_core *core)
{
	struct saakm_wish wish;

	if (!core->shared || !READ_ONCE(core->shared->nr_tasks) ||
	    !saakm_make_wish(&wish, core, saakm_core_curr(rq, core)))
		return NULL;
	return saakm_take_first(rq, core, core->shared, &wish);
}

static void saakm_refill_core(struct rq *rq, struct saakm_core *core)
{
	struct saakm_policy *policy = core->policy;

	/* Ejected, or being removed: the class elects them where they are. */
	if (READ_ONCE(policy->ops) != &policy->own->routines)
		return;
	/* Asked once more, as the lock was dropped: who has found somebody needs no other. */
	if (core->event.rq.nr_tasks && (!policy->own->refill_always || rq->saakm.unlocked))
		return;
	if (policy->own->routines.refill) {
		core->event.curr = saakm_core_curr(rq, core);
		saakm_core_event(policy, core->cpu, SAAKM_H_refill,
				 policy->own->routines.refill);
	} else {
		saakm_refill_shared(rq, core);
	}
	core->event.curr = NULL;
	rq->saakm.refilled |= policy->own->mask;
}

/* For the policies down to the first that has threads here; if one is owed the CPU, for it. */
static void saakm_refill_policies(struct rq *rq)
{
	u64 owed = rq->saakm.owed & rq->saakm.active;	/* as saakm_floor_elect() */
	struct saakm_policy *policy;

	for_each_saakm_policy(policy) {
		if (owed && policy->own->mask != owed)
			continue;
		if (READ_ONCE(policy->used_once) && policy->own->refills)
			saakm_refill_core(rq, saakm_core(policy, cpu_of(rq)));
		if (rq->saakm.active & policy->own->mask)
			break;
	}
}

void __saakm_refill(struct rq *rq, struct rq_flags *rf)
{
	if (!cpu_active(cpu_of(rq)))
		return;
	rq_unpin_lock(rq, rf);
	rq->saakm.refilled = 0;
	rq->saakm.unlocked = false;
	saakm_refill_policies(rq);
	/* Threads of a policy that goes first may have come meanwhile. */
	if (rq->saakm.unlocked) {
		saakm_refill_policies(rq);
		/* Who came took this election for one that is yet to begin. */
		rq_clock_cancel_skipupdate(rq);
	}
	rq->saakm.refilled_ns = rq->clock;
	rq_repin_lock(rq, rf);
	if (rq->saakm.unlocked)
		saakm_balance_ext(rq, rf);
}

/*
 * What is common: the running thread blocks, and the first that waits is on this CPU
 * already. It is elected where it is; only who has the lock of @rq could take it away.
 * (A CPU that leaves idle would call others for it.)
 */
struct task_struct *saakm_pick_shared(struct rq *rq)
{
	struct saakm_policy *policy = rq->saakm.first;
	struct saakm_core *core = saakm_core(policy, cpu_of(rq));
	struct task_struct *p;

	if (!core->picks_shared || core->event.rq.nr_tasks || rq->saakm.special ||
	    saakm_rq_curr(rq)->saakm.on_rq || saakm_idles(rq) ||
	    READ_ONCE(saakm_refillers) != policy->own->mask ||
	    READ_ONCE(policy->ops) != &policy->own->routines)
		return NULL;
	p = saakm_peek(core->shared);
	if (!p || task_rq(p) != rq)
		return NULL;
	smp_rmb();	/* __set_task_cpu(): one that is on its way here is in no queue */
	return READ_ONCE(p->saakm.rq) == core->shared ? p : NULL;
}

/*
 * Nobody was elected. A policy may not have been asked to refill: the deadline server
 * elects, or core scheduling for a sibling, or a policy before it has held its threads back.
 */
struct task_struct *saakm_not_refilled(struct rq *rq)
{
	u64 refilled = rq->saakm.refilled_ns == rq->clock ? rq->saakm.refilled : 0;
	struct task_struct *p;

	list_for_each_entry(p, &rq->saakm.threads, saakm.rq_node) {
		if (p->saakm.rq && p->saakm.rq->type & SAAKM_RQ_SHARED &&
		    !(refilled & p->saakm.policy->own->mask))
			return saakm_shared_here(rq, p->saakm.rq);
	}
	return NULL;
}

/* This CPU has been counted as idle, and may run something else than a thread from there. */
void saakm_shared_leave_idle(struct rq *rq)
{
	struct saakm_policy *policy;
	struct saakm_core *core;

	smp_mb__after_atomic();		/* saakm_shared_link() */
	for_each_saakm_policy(policy) {
		core = saakm_core(policy, cpu_of(rq));
		if (!saakm_shared_waits(core))
			continue;
		saakm_call_for_rest(saakm_shared_of(core->shared));
		if (core->second)
			saakm_call_for_rest(saakm_shared_of(core->second));
	}
}

/* A thread that waits may use other CPUs now. */
void saakm_shared_recall(struct task_struct *p)
{
	if (p->saakm.rq->type & SAAKM_RQ_SHARED)
		saakm_call_for(saakm_shared_of(p->saakm.rq), p);
}

/* What handlers call */

bool saakm_first_key(struct saakm_rq *srq, u64 *key)
{
	return srq->type > SAAKM_RQ_SHARED && saakm_shared_key(srq, key);
}
EXPORT_SYMBOL_NS_GPL(saakm_first_key, SAAKM);

/* Is the handler one that may, and about this core? */
static const char *saakm_cannot_take(const struct saakm_core *core)
{
	if (raw_cpu_read(saakm_context.handler) != SAAKM_H_refill)
		return "only refill may call it";
	if (raw_cpu_read(saakm_context.subject) != core->policy ||
	    raw_cpu_read(saakm_context.cpu) != core->cpu)
		return "the event is about another core";
	return NULL;
}

/* @from: NULL if the core shares none; @type: at least, so that those with keys can be asked for */
static bool saakm_may_take(const char *what, const struct saakm_core *core,
			   const struct saakm_rq *from, unsigned int type)
{
	const char *fault = saakm_cannot_take(core);

	if (!fault && (!from || from->type < type || from->owner != core->policy))
		fault = type == SAAKM_RQ_SHARED ?
			"the queue is not one that cores of this policy share" :
			"the queue is not a sorted one that cores of this policy share";
	if (fault)
		saakm_violation(SAAKM_EXIT_WRONG_MOVE, NULL, NULL, "%s: %s", what, fault);
	return !fault;
}

struct task_struct *saakm_take(struct core_event *event, struct saakm_rq *from)
{
	struct saakm_core *core = container_of(event, struct saakm_core, event);
	const struct saakm_wish whoever = {};

	if (!saakm_may_take(__func__, core, from, SAAKM_RQ_SHARED))
		return NULL;
	return saakm_take_first(cpu_rq(core->cpu), core, from, &whoever);
}
EXPORT_SYMBOL_NS_GPL(saakm_take, SAAKM);

struct task_struct *saakm_take_before(struct core_event *event, struct saakm_rq *from, u64 key)
{
	struct saakm_core *core = container_of(event, struct saakm_core, event);
	const struct saakm_wish earlier = { .by_key = true, .key = key };

	if (!saakm_may_take(__func__, core, from, SAAKM_RQ_SHARED | SAAKM_RQ_LIST))
		return NULL;
	return saakm_take_first(cpu_rq(core->cpu), core, from, &earlier);
}
EXPORT_SYMBOL_NS_GPL(saakm_take_before, SAAKM);

static bool saakm_may_take_task(const char *what, const struct saakm_core *core,
				const struct task_struct *p, const struct saakm_rq *to)
{
	const char *fault = saakm_cannot_take(core);

	if (fault)
		;
	else if (!p)
		fault = "the thread is NULL";
	else if (!to || to->owner != core->policy || to->cpu != core->cpu)
		fault = "the queue is not of this core and policy";
	else
		return true;
	saakm_violation(SAAKM_EXIT_WRONG_MOVE, NULL, NULL, "%s: %s", what, fault);
	return false;
}

bool saakm_take_task(struct core_event *event, struct task_struct *p, struct saakm_rq *to)
{
	struct saakm_core *core = container_of(event, struct saakm_core, event);
	struct rq *rq = cpu_rq(core->cpu), *src;
	bool comes;

	if (!saakm_may_take_task(__func__, core, p, to))
		return false;
	src = task_rq(p);
	/* Without a lock: mostly it runs, or sleeps. */
	if (src == rq || READ_ONCE(p->saakm.state) != SAAKM_READY ||
	    READ_ONCE(p->saakm.policy) != core->policy || !saakm_may_run_on(p, core->cpu))
		return false;
	saakm_lock_source(rq, src);
	comes = p->saakm.policy == core->policy && task_on_saakm(p) && task_rq(p) == src &&
		p->saakm.on_rq && p->saakm.state == SAAKM_READY && !saakm_taken_over(p) &&
		saakm_may_run_on(p, core->cpu) && saakm_has_turn(rq, core->policy);
	if (comes)
		saakm_move_locked(src, rq, p, to);
	double_unlock_balance(rq, src);
	event->curr = saakm_core_curr(rq, core);
	return comes;
}
EXPORT_SYMBOL_NS_GPL(saakm_take_task, SAAKM);

struct task_struct *saakm_take_shared(struct core_event *event)
{
	struct saakm_core *core = container_of(event, struct saakm_core, event);

	if (!core->shared || !saakm_may_take(__func__, core, core->shared, SAAKM_RQ_SHARED))
		return NULL;
	return saakm_refill_shared(cpu_rq(core->cpu), core);
}
EXPORT_SYMBOL_NS_GPL(saakm_take_shared, SAAKM);

/* Setting up */

static bool saakm_has_room(const struct saakm_own *own, const struct saakm_core *core)
{
	return !core->shared || (!core->second && own->routines.refill);
}

static void saakm_join_shared(struct saakm_core *core, const struct saakm_own *own,
			      struct saakm_shared *shared)
{
	if (core->shared) {
		core->second = &shared->rq;
		core->event.second = &shared->rq;
		return;
	}
	core->shared = &shared->rq;
	core->event.shared = &shared->rq;
	core->queue = SAAKM_RQ_SHARED;
	core->picks_shared = !own->routines.refill && !own->routines.schedule;
}

int saakm_share_queue(struct saakm_policy *policy, const struct cpumask *cores)
{
	struct saakm_own *own = policy ? policy->own : NULL;
	struct saakm_shared *shared;
	int cpu;

	if (!own || saakm_being_loaded() != policy || own->queue == SAAKM_RQ_NONE || !cores ||
	    own->routines.block_delay || !cpumask_intersects(cores, cpu_possible_mask))
		return -EINVAL;
	for_each_cpu_and(cpu, cores, cpu_possible_mask) {
		if (!saakm_has_room(own, saakm_core(policy, cpu)))
			return -EINVAL;
	}
	shared = kzalloc(sizeof(*shared), GFP_KERNEL);
	if (!shared)
		return -ENOMEM;
	__saakm_runqueue_init(&shared->rq, policy, 0, own->queue, own->key);
	shared->rq.cpu = -1;
	shared->rq.type |= SAAKM_RQ_SHARED;
	raw_spin_lock_init(&shared->lock);
	cpumask_and(&shared->cores, cores, cpu_possible_mask);
	shared->next = own->shared;
	own->shared = shared;
	own->refills = true;
	for_each_cpu(cpu, &shared->cores)
		saakm_join_shared(saakm_core(policy, cpu), own, shared);
	return 0;
}
EXPORT_SYMBOL_NS_GPL(saakm_share_queue, SAAKM);

static void saakm_free_shared(struct saakm_own *own)
{
	struct saakm_shared *shared, *next;

	for (shared = own->shared; shared; shared = next) {
		next = shared->next;
		kfree(shared);
	}
}
