// SPDX-License-Identifier: GPL-2.0
/*
 * The scheduling class: translates the callbacks of the core scheduler, which
 * have many meanings each, into events with one meaning.
 *
 * Which event a callback stands for follows from the thread's state, not from
 * the flags of the callback: a thread that is enqueued BLOCKED has woken, one
 * that is NOT_QUEUED is new, one that is READY or RUNNING was merely taken out
 * while somebody changed its parameters. saakm.on_rq tells whether the thread
 * is enqueued with us; a current thread that is not must be left alone by
 * put_prev_task and set_next_task.
 */

/* On as soon as a loaded policy has its first thread, or wants to know of idle cores. */
DEFINE_STATIC_KEY_FALSE(__saakm_enabled);
DEFINE_PER_CPU(struct saakm_context, saakm_context);

static __always_inline void update_curr_saakm(struct rq *rq)
{
	s64 delta_ns;

	if (rq_clock_task(rq) == rq->donor->se.exec_start)
		return;		/* charged already */
	delta_ns = update_curr_common(rq);
	if (delta_ns > 0)
		saakm_server_charge(rq, delta_ns);
}

/* Accounts of the runqueue */

static void saakm_activate(struct rq *rq, struct saakm_policy *policy, struct saakm_core *core)
{
	rq->saakm.active |= policy->own->mask;
	core->idle_since_ns = rq->clock;
	if (!rq->saakm.first || saakm_policy_before(policy, rq->saakm.first))
		rq->saakm.first = policy;
}

/* The next in the order of election that has runnable threads here, or NULL. */
static struct saakm_policy *saakm_next_active(struct rq *rq, struct saakm_policy *policy)
{
	list_for_each_entry_continue_rcu(policy, &saakm_policies, node) {
		if (rq->saakm.active & policy->own->mask)
			return policy;
	}
	return NULL;
}

static void saakm_deactivate(struct rq *rq, struct saakm_policy *policy)
{
	rq->saakm.active &= ~policy->own->mask;
	if (rq->saakm.first == policy)
		rq->saakm.first = rq->saakm.active ? saakm_next_active(rq, policy) : NULL;
}

static void saakm_account_enqueue(struct rq *rq, struct task_struct *p)
{
	struct saakm_policy *policy = p->saakm.policy;
	struct saakm_core *core = saakm_core(policy, cpu_of(rq));

	p->saakm.on_rq = true;
	list_add_tail(&p->saakm.rq_node, &rq->saakm.threads);
	if (!core->nr_runnable++)
		saakm_activate(rq, policy, core);
	core->event.nr_runnable = core->nr_runnable;
	rq->saakm.nr_running++;
	add_nr_running(rq, 1);
	saakm_server_start(rq);
}

static void saakm_account_dequeue(struct rq *rq, struct task_struct *p)
{
	struct saakm_policy *policy = p->saakm.policy;
	struct saakm_core *core = saakm_core(policy, cpu_of(rq));

	p->saakm.on_rq = false;
	__list_del_entry(&p->saakm.rq_node);
	if (!--core->nr_runnable)
		saakm_deactivate(rq, policy);
	core->event.nr_runnable = core->nr_runnable;
	rq->saakm.nr_running--;
	sub_nr_running(rq, 1);
}

/* Events of threads */

/* A policy that has not placed its thread shall not lose it. */
static __always_inline void saakm_place_event(struct rq *rq, struct task_struct *p,
					      enum saakm_handler handler, saakm_thread_fn call)
{
	saakm_thread_event(rq, p, handler, call);
	if (likely(p->saakm.state == SAAKM_READY))
		return;
	saakm_not_placed(p, handler);
	saakm_set_state(rq, p, SAAKM_READY);
	saakm_link_orphan(rq, p);
}

static __always_inline void saakm_place(struct rq *rq, struct task_struct *p, bool new)
{
	struct saakm_task *st = &p->saakm;
	const struct saakm_module_routines *ops = READ_ONCE(st->policy->ops);

	/* Nobody was asked for a CPU. */
	if (!(st->event.flags & (SAAKM_EV_CHOICE | SAAKM_EV_OUSTED))) {
		st->event.prev_cpu = cpu_of(rq);
		st->event.waker_cpu = smp_processor_id();
	}
	if (new) {
		saakm_place_event(rq, p, SAAKM_H_new_place, ops->new_place);
		saakm_thread_event(rq, p, SAAKM_H_new_end, ops->new_end);
	} else {
		saakm_place_event(rq, p, SAAKM_H_unblock_place, ops->unblock_place);
		saakm_thread_event(rq, p, SAAKM_H_unblock_end, ops->unblock_end);
	}
	/* The flags stay for wakeup_preempt, until the thread runs. */
}

/* READY again on another CPU, without having run: the wait goes on. */
static void saakm_resume_wait(struct task_struct *p)
{
	if (p->saakm.wait_ns)
		p->saakm.since_ns = p->saakm.wait_ns;
	p->saakm.wait_ns = 0;
}

static __always_inline void saakm_block(struct rq *rq, struct task_struct *p)
{
	struct saakm_task *st = &p->saakm;

	saakm_thread_event(rq, p, SAAKM_H_block, st->policy->ops->block);
	if (st->rq)
		saakm_rq_unlink(p);
	if (st->state != SAAKM_BLOCKED)
		saakm_set_state(rq, p, SAAKM_BLOCKED);
}

void saakm_terminate(struct rq *rq, struct task_struct *p)
{
	struct saakm_task *st = &p->saakm;

	if (st->rq)
		saakm_rq_unlink(p);
	saakm_thread_event(rq, p, SAAKM_H_terminate, st->policy->ops->terminate);
	if (st->state != SAAKM_TERMINATED)
		saakm_set_state(rq, p, SAAKM_TERMINATED);
}

static void saakm_requeue(struct rq *rq, struct task_struct *p)
{
	struct saakm_task *st = &p->saakm;
	const struct saakm_module_routines *ops = READ_ONCE(st->policy->ops);

	if (st->state == SAAKM_READY_TICK)
		st->event.flags |= SAAKM_EV_TICK;
	if (ops->requeue)
		saakm_place_event(rq, p, SAAKM_H_requeue, ops->requeue);
	else
		saakm_place_event(rq, p, SAAKM_H_unblock_place, ops->unblock_place);
	if (unlikely(st->in_kernel))
		saakm_floor_requeue(rq, p);
	else
		st->event.flags = 0;
}

static void wakeup_preempt_saakm(struct rq *rq, struct task_struct *p, int flags);

static noinline void saakm_enqueue_other(struct rq *rq, struct task_struct *p)
{
	struct saakm_task *st = &p->saakm;

	switch (st->state) {
	case SAAKM_NOT_QUEUED:
		saakm_place(rq, p, true);
		break;
	case SAAKM_MIGRATING:
		saakm_set_state(rq, p, SAAKM_READY);
		saakm_rq_link(st->move_to, p);
		saakm_resume_wait(p);
		break;
	default:	/* it was taken out for a change of parameters */
		if (st->rq)
			saakm_rq_resort(p);
		saakm_thread_event(rq, p, SAAKM_H_attr_changed, st->policy->ops->attr_changed);
	}
	if (READ_ONCE(st->in_kernel) == SAAKM_PREEMPTED && st->state == SAAKM_READY)
		saakm_floor_link(rq, p);
}

static void enqueue_task_saakm(struct rq *rq, struct task_struct *p, int flags)
{
	enum saakm_state state = p->saakm.state;
	bool came;

	saakm_account_enqueue(rq, p);
	if (likely(state == SAAKM_BLOCKED)) {
		saakm_place(rq, p, false);
		if (unlikely(p->saakm.event.flags & SAAKM_EV_OUSTED)) {
			saakm_resume_wait(p);
			if (p->saakm.in_kernel == SAAKM_PREEMPTED)
				saakm_floor_link(rq, p);
		}
		return;
	}
	came = p->saakm.event.flags & SAAKM_EV_CAME;
	p->saakm.event.flags &= ~SAAKM_EV_CAME;
	saakm_enqueue_other(rq, p);
	/* Threads of the policy that a running thread has left may go first now. */
	if (came) {
		if (p == saakm_rq_curr(rq))
			resched_curr(rq);
		else
			wakeup_preempt_saakm(rq, p, 0);
	}
}

static noinline void saakm_migrate(struct rq *rq, struct task_struct *p)
{
	struct saakm_task *st = &p->saakm;

	st->wait_ns = st->state == SAAKM_READY ? saakm_wait_start(p) : 0;
	if (st->move_to) {
		saakm_rq_unlink(p);
		saakm_set_state(rq, p, SAAKM_MIGRATING);
	} else {
		st->event.flags = SAAKM_EV_OUSTED;
		st->event.prev_cpu = cpu_of(rq);
		saakm_block(rq, p);
	}
}

static bool dequeue_task_saakm(struct rq *rq, struct task_struct *p, int flags)
{
	struct saakm_task *st = &p->saakm;

	if (task_current(rq, p))
		update_curr_saakm(rq);
	saakm_account_dequeue(rq, p);

	if (flags & DEQUEUE_SLEEP) {
		if (unlikely(READ_ONCE(p->__state) == TASK_DEAD))
			saakm_terminate(rq, p);
		else
			saakm_block(rq, p);
		st->event.flags = 0;
		return true;
	}
	if (unlikely(st->in_kernel == SAAKM_PREEMPTED_LISTED))
		saakm_floor_unlink(rq, p);
	if (task_on_rq_migrating(p))
		saakm_migrate(rq, p);
	return true;
}

static void yield_task_saakm(struct rq *rq)
{
	struct task_struct *curr = saakm_rq_curr(rq);
	struct saakm_policy *policy = curr->saakm.policy;

	curr->saakm.event.flags |= SAAKM_EV_YIELD;
	if (!policy->ops->yield)
		return;
	update_rq_clock(rq);
	update_curr_saakm(rq);
	rq_clock_skip_update(rq);
	saakm_thread_event(rq, curr, SAAKM_H_yield, policy->ops->yield);
}

static noinline void saakm_ask_preempt(struct rq *rq, struct task_struct *p,
				       struct task_struct *curr, int flags,
				       const struct saakm_module_routines *ops)
{
	struct saakm_policy *policy = p->saakm.policy;
	bool preempt;

	/* A thread that may use one CPU only was not asked for another. */
	if (flags & WF_SYNC)
		p->saakm.event.flags |= SAAKM_EV_SYNC;
	update_curr_saakm(rq);
	saakm_enter(p, SAAKM_H_wakeup_preempt);
	preempt = ops->wakeup_preempt(policy, curr, p);
	saakm_leave();
	if (preempt)
		resched_curr(rq);
}

static void wakeup_preempt_saakm(struct rq *rq, struct task_struct *p, int flags)
{
	struct task_struct *curr = saakm_rq_curr(rq);
	struct saakm_policy *policy = p->saakm.policy;
	const struct saakm_module_routines *ops = READ_ONCE(policy->ops);

	if (!task_on_saakm(curr))
		return;
	if (policy != curr->saakm.policy) {
		if (saakm_policy_before(policy, curr->saakm.policy))
			resched_curr(rq);
		return;
	}
	if (ops->wakeup_preempt && curr->saakm.on_rq)
		saakm_ask_preempt(rq, p, curr, flags, ops);
}

/* Election */

static __always_inline struct task_struct *saakm_ask(struct rq *rq,
						     struct saakm_policy *policy,
						     struct task_struct *curr)
{
	struct saakm_core *core = saakm_core(policy, cpu_of(rq));
	struct task_struct *next;

	if (curr && curr->saakm.policy != policy)
		curr = NULL;
	core->event.curr = curr;
	saakm_enter_core(policy, core, SAAKM_H_schedule);
	next = policy->ops->schedule(policy, &core->event);
	if (!next)
		next = curr;
	else if (next != curr && !saakm_electable(rq, policy, next))
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
	return saakm_floor_force(rq);
}

/* A forced turn that goes on; what the policies have lost; the policy that is owed the CPU. */
static noinline struct task_struct *saakm_elect_special(struct rq *rq, struct task_struct *curr)
{
	struct task_struct *next;

	if (curr && saakm_floor_keeps(rq, curr))
		return curr;
	if (rq->saakm.orphans.nr_tasks)
		return saakm_rq_first(&rq->saakm.orphans);
	next = saakm_floor_elect(rq, curr);
	if (!rq->saakm.owed)
		rq->saakm.special = false;
	return next;
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

/*
 * May be called several times for one switch, and from another CPU (core
 * scheduling): nothing is final here.
 */
struct task_struct *saakm_pick_task(struct rq *rq)
{
	struct task_struct *curr = saakm_rq_curr(rq);

	if (!rq->saakm.first)
		return NULL;
	if (task_on_saakm(curr) && curr->saakm.on_rq)
		update_curr_saakm(rq);
	else
		curr = NULL;	/* not ours, or it blocks */
	return saakm_elect(rq, curr);
}

void __saakm_goes_on(struct rq *rq, struct task_struct *p)
{
	if (!p->saakm.on_rq)
		return;
	if (unlikely(p->saakm.in_kernel))
		saakm_floor_goes_on(rq, p);
	else
		p->saakm.event.flags = 0;
	if (p->saakm.state == SAAKM_READY_TICK)
		saakm_set_state(rq, p, SAAKM_RUNNING);
}

static void put_prev_task_saakm(struct rq *rq, struct task_struct *p, struct task_struct *next)
{
	if (!p->saakm.on_rq)
		return;
	update_curr_saakm(rq);
	saakm_core(p->saakm.policy, cpu_of(rq))->idle_since_ns = rq->clock;
	if (likely(p->saakm.state != SAAKM_READY))
		saakm_requeue(rq, p);
}

static noinline void saakm_tell_running(struct rq *rq, struct task_struct *p)
{
	saakm_rq_unlink(p);
	saakm_set_state(rq, p, SAAKM_RUNNING);
	saakm_thread_event(rq, p, SAAKM_H_running, p->saakm.policy->ops->running);
}

static noinline void saakm_run_preempted(struct rq *rq, struct task_struct *p)
{
	saakm_floor_runs(rq, p);
	saakm_tell_running(rq, p);
}

static void set_next_task_saakm(struct rq *rq, struct task_struct *p, bool first)
{
	struct saakm_policy *policy = p->saakm.policy;

	p->se.exec_start = rq_clock_task(rq);
	if (!p->saakm.on_rq || p->saakm.state != SAAKM_READY)
		return;

	saakm_core(policy, cpu_of(rq))->switches++;
	if (unlikely(p->saakm.in_kernel)) {
		saakm_run_preempted(rq, p);
		return;
	}
	p->saakm.event.flags = 0;
	if (policy->ops->running || static_branch_unlikely(&saakm_observed)) {
		saakm_tell_running(rq, p);
		return;
	}
	p->saakm.state = SAAKM_RUNNING;
	p->saakm.since_ns = rq->clock;
	saakm_rq_unlink(p);
}

static void task_tick_saakm(struct rq *rq, struct task_struct *p, int queued)
{
	struct saakm_policy *policy = p->saakm.policy;

	update_curr_saakm(rq);
	if (!p->saakm.on_rq)
		return;
	saakm_floor_tick(rq, p);
	/* Core scheduling has picked it again, without asking us. */
	if (p->saakm.state == SAAKM_READY_TICK && !test_tsk_need_resched(p))
		saakm_set_state(rq, p, SAAKM_RUNNING);
	if (p->saakm.state == SAAKM_RUNNING)
		saakm_thread_event(rq, p, SAAKM_H_tick, policy->ops->tick);
#ifdef CONFIG_SCHED_CORE
	/* A sibling must idle because of @p: let the core choose anew. */
	if (sched_core_enabled(rq) && rq->core->core_forceidle_count)
		resched_curr(rq);
#endif
}

/*
 * Core scheduling: which of two threads on siblings goes first. Within a policy
 * one that waits before one that runs, then the one that has done so longer.
 */
bool saakm_prio_less(const struct task_struct *a, const struct task_struct *b)
{
	const struct saakm_policy *pa = a->saakm.policy, *pb = b->saakm.policy;

	if (pa != pb)
		return saakm_policy_before(pb, pa);
	if (a->saakm.state != b->saakm.state)
		return b->saakm.state == SAAKM_READY;
	return (s64)(a->saakm.since_ns - b->saakm.since_ns) > 0;
}

/* One thread alone needs no slices. Others on this CPU are not our business. */
bool saakm_can_stop_tick(struct rq *rq)
{
	return rq->saakm.nr_running <= 1;
}

/* Placement */

/* @cpu: where it stays unless the policy names another that will do. */
static int saakm_prepare(struct task_struct *p, struct process_event *event, int cpu,
			 enum saakm_handler handler)
{
	struct saakm_policy *policy = p->saakm.policy;
	int (*prepare)(struct saakm_policy *policy, struct process_event *event);
	int wanted;

	prepare = handler == SAAKM_H_new_prepare ?
		READ_ONCE(policy->ops)->new_prepare : READ_ONCE(policy->ops)->unblock_prepare;
	if (!prepare)
		return cpu;
	saakm_enter(p, handler);
	wanted = prepare(policy, event);
	saakm_leave();
	return saakm_cpu_usable(p, handler, wanted, cpu) ? wanted : cpu;
}

static int select_task_rq_saakm(struct task_struct *p, int cpu, int flags)
{
	struct process_event *event = &p->saakm.event;

	if (flags & WF_EXEC) {
		struct process_event exec = *event;

		if (p->nr_cpus_allowed == 1 || is_migration_disabled(p))
			return cpu;
		exec.flags = SAAKM_EV_CHOICE | SAAKM_EV_EXEC;
		exec.prev_cpu = cpu;
		return saakm_prepare(p, &exec, cpu, SAAKM_H_unblock_prepare);
	}
	event->flags = SAAKM_EV_CHOICE;
	if (flags & WF_SYNC)
		event->flags |= SAAKM_EV_SYNC;
	if (flags & WF_FORK)
		event->flags |= SAAKM_EV_FORK;
	event->prev_cpu = cpu;
	event->waker_cpu = smp_processor_id();
	return saakm_prepare(p, event, cpu, p->saakm.state == SAAKM_NOT_QUEUED ?
			     SAAKM_H_new_prepare : SAAKM_H_unblock_prepare);
}

/* Changes of class and priority */

/* Still ours by policy: boosted by priority inheritance. */
static void switched_from_saakm(struct rq *rq, struct task_struct *p)
{
	if (p->saakm.policy && p->saakm.state != SAAKM_BLOCKED &&
	    p->saakm.state != SAAKM_NOT_QUEUED) {
		saakm_block(rq, p);
		p->saakm.event.flags = 0;
	}
}

static void prio_changed_saakm(struct rq *rq, struct task_struct *p, int oldprio)
{
	if (!task_on_rq_queued(p))
		return;
	if (!task_current(rq, p))
		wakeup_preempt(rq, p, 0);
	else if (rq->nr_running > 1)
		resched_curr(rq);
}

/* In the class that it comes from nobody has noted whether it was preempted in the kernel. */
static void switched_to_saakm(struct rq *rq, struct task_struct *p)
{
	if (p->saakm.on_rq && p->saakm.state == SAAKM_READY && !task_current(rq, p) &&
	    p->saakm.in_kernel != SAAKM_PREEMPTED_LISTED)
		saakm_floor_link(rq, p);
	prio_changed_saakm(rq, p, p->prio);
}

/* Idle, and CPU hotplug: rq_online also fires when domains are rebuilt. */

void __saakm_enter_idle(struct rq *rq)
{
	struct saakm_policy *policy;

	for_each_saakm_policy(policy)
		saakm_core_event(policy, cpu_of(rq), SAAKM_H_enter_idle,
				 policy->ops->enter_idle);
}

void saakm_exit_idle(struct rq *rq, struct task_struct *idle)
{
	struct saakm_policy *policy;

	WRITE_ONCE(rq->saakm.idled, true);
	saakm_server_idle_time(rq, rq_clock_task(rq) - idle->se.exec_start);
	if (!READ_ONCE(saakm_watching_idle))
		return;
	for_each_saakm_policy(policy)
		saakm_core_event(policy, cpu_of(rq), SAAKM_H_exit_idle, policy->ops->exit_idle);
}

/* There is no caller who could take a refusal of the server's bandwidth. */
void saakm_rq_activate(struct rq *rq)
{
	struct saakm_policy *policy;

	if (list_empty(&saakm_policies))
		return;
	if (saakm_server_apply(rq, saakm_server_runtime_us, saakm_server_period_us))
		pr_warn("saakm: CPU %d: no bandwidth for the deadline server\n", cpu_of(rq));
	guard(rq_lock_irqsave)(rq);
	for_each_saakm_policy(policy)
		saakm_core_event(policy, cpu_of(rq), SAAKM_H_core_entry,
				 policy->ops->core_entry);
}

/*
 * The CPU is still active: its bandwidth must be returned while it counts.
 * Without runtime the server does not start any more.
 */
void saakm_rq_deactivate(struct rq *rq)
{
	struct saakm_policy *policy;

	/* The last policy may have gone, and not yet returned what this CPU holds for it. */
	if (list_empty(&saakm_policies) && !rq->saakm.server.dl_runtime)
		return;
	saakm_server_apply(rq, 0, saakm_server_period_us);
	guard(rq_lock_irqsave)(rq);
	for_each_saakm_policy(policy)
		saakm_core_event(policy, cpu_of(rq), SAAKM_H_core_exit, policy->ops->core_exit);
}

static int balance_saakm(struct rq *rq, struct task_struct *prev, struct rq_flags *rf)
{
	return saakm_enabled() && (rq->saakm.nr_running || saakm_newly_idle(rq, rf));
}

DEFINE_SCHED_CLASS(saakm) = {
	.enqueue_task		= enqueue_task_saakm,
	.dequeue_task		= dequeue_task_saakm,
	.yield_task		= yield_task_saakm,

	.wakeup_preempt		= wakeup_preempt_saakm,

	.balance		= balance_saakm,
	.pick_task		= saakm_pick_task,
	.put_prev_task		= put_prev_task_saakm,
	.set_next_task		= set_next_task_saakm,

	.select_task_rq		= select_task_rq_saakm,
	.set_cpus_allowed	= set_cpus_allowed_common,

	.task_tick		= task_tick_saakm,

	.switched_from		= switched_from_saakm,
	.switched_to		= switched_to_saakm,
	.prio_changed		= prio_changed_saakm,

	.update_curr		= update_curr_saakm,
};

static void saakm_kick_work(struct irq_work *work)
{
	struct rq *rq = container_of(work, struct rq, saakm.kick);

	guard(rq_lock_irqsave)(rq);
	WRITE_ONCE(rq->saakm.kicks, rq->saakm.kicks + 1);
	WRITE_ONCE(rq->saakm.tick_work, true);
	/* Else an idle CPU would see that nothing is runnable, and go on idling. */
	rq->saakm.kicked = is_idle_task(saakm_rq_curr(rq));
	/* The server stops where policies hold all threads back; they may be free to run now. */
	if (rq->saakm.nr_running && !dl_server_active(&rq->saakm.server)) {
		update_rq_clock(rq);
		saakm_server_start(rq);
	}
	if (rq->saakm.resched_owed ||
	    !sched_class_above(saakm_rq_curr(rq)->sched_class, &saakm_sched_class))
		resched_curr(rq);
	rq->saakm.resched_owed = false;
}

void __init saakm_init_rq(struct rq *rq)
{
	INIT_LIST_HEAD(&rq->saakm.threads);
	INIT_LIST_HEAD(&rq->saakm.preempted);
	saakm_runqueue_init(&rq->saakm.orphans, cpu_of(rq), SAAKM_RQ_FIFO, NULL);
	init_dl_entity(&rq->saakm.server);
	dl_server_init(&rq->saakm.server, rq, saakm_server_pick);
	init_irq_work(&rq->saakm.kick, saakm_kick_work);
	saakm_watchdog_init_rq(rq);
	saakm_misuse_init_rq(rq);
}
