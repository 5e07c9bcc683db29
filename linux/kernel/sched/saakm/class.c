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

/* For kernel/locking */
bool saakm_in_use(void)
{
	return saakm_enabled();
}

/* Accounts of the runqueue */

static void saakm_activate(struct rq *rq, struct saakm_policy *policy, struct saakm_core *core)
{
	rq->saakm.active |= policy->own->mask;
	core->idle_since_ns = rq->clock;
	if (!rq->saakm.first || saakm_policy_before(policy, rq->saakm.first))
		rq->saakm.first = policy;
}

static void saakm_deactivate(struct rq *rq, struct saakm_policy *policy)
{
	rq->saakm.active &= ~policy->own->mask;
	if (rq->saakm.first == policy)
		rq->saakm.first = rq->saakm.active ? saakm_next_active(rq, policy) : NULL;
}

static __always_inline void saakm_account_enqueue(struct rq *rq, struct task_struct *p,
						  struct saakm_core *core)
{
	p->saakm.on_rq = true;
	list_add_tail(&p->saakm.rq_node, &rq->saakm.threads);
	if (!core->nr_runnable++)
		saakm_activate(rq, p->saakm.policy, core);
	core->event.nr_runnable = core->nr_runnable;
	rq->saakm.nr_running++;
	add_nr_running(rq, 1);
	saakm_server_start(rq);
	if (unlikely(rq->saakm.slice == SAAKM_SLICE_ALONE))
		saakm_slice_contend(rq);
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

static noinline void saakm_place_tree(struct rq *rq, struct task_struct *p,
				      struct saakm_core *core)
{
	p->saakm.state = SAAKM_READY;
	p->saakm.since_ns = rq->clock;
	saakm_rq_link_sorted(&core->event.rq, p, SAAKM_RQ_RBTREE);
}

static void saakm_place_shared(struct rq *rq, struct task_struct *p, struct saakm_core *core)
{
	p->saakm.state = SAAKM_READY;
	p->saakm.since_ns = rq->clock;
	saakm_shared_link(core->shared, p);
}

/* Also for a policy that has no queue here, or has overwritten it: its thread is not lost. */
static noinline void saakm_place_slow(struct rq *rq, struct task_struct *p,
				      struct saakm_core *core, enum saakm_handler handler)
{
	struct saakm_rq *srq = core->queue == SAAKM_RQ_SHARED ? core->shared : &core->event.rq;

	if (unlikely(srq->owner != core->policy ||
		     saakm_rq_kind(srq) != core->policy->own->queue)) {
		saakm_not_placed(p, handler);
		saakm_set_state(rq, p, SAAKM_READY);
		saakm_link_orphan(rq, p);
		return;
	}
	/* For those who watch. */
	__this_cpu_write(saakm_context.subject, p);
	__this_cpu_write(saakm_context.handler, handler);
	saakm_set_state(rq, p, SAAKM_READY);
	saakm_leave();
	saakm_rq_link(srq, p);
}

/* Where the handler, if there is one, has not placed the thread, it goes to core->rq. */
static __always_inline void saakm_place_event(struct rq *rq, struct task_struct *p,
					      struct saakm_core *core,
					      enum saakm_handler handler, saakm_thread_fn call)
{
	if (call) {
		saakm_enter(p, handler);
		call(&p->saakm.event, &core->event);
		saakm_leave();
		if (p->saakm.state == SAAKM_READY)
			return;
	}
	if (static_branch_unlikely(&saakm_observed)) {
		saakm_place_slow(rq, p, core, handler);
		return;
	}
	/* A list that was overwritten with zeros is none; for a tree that means empty. */
	if (unlikely(core->queue > SAAKM_RQ_LIST || !core->event.rq.head.prev)) {
		if (core->queue == SAAKM_RQ_RBTREE && core->event.rq.key)
			saakm_place_tree(rq, p, core);
		else if (core->queue == SAAKM_RQ_SHARED)
			saakm_place_shared(rq, p, core);
		else
			saakm_place_slow(rq, p, core, handler);
		return;
	}
	p->saakm.state = SAAKM_READY;
	p->saakm.since_ns = rq->clock;
	if (likely(core->queue == SAAKM_RQ_FIFO))
		saakm_rq_link_fifo(&core->event.rq, p);
	else
		saakm_rq_link_sorted(&core->event.rq, p, SAAKM_RQ_LIST);
}

static void saakm_place_new(struct rq *rq, struct task_struct *p, struct saakm_core *core)
{
	const struct saakm_module_routines *ops = READ_ONCE(p->saakm.policy->ops);

	saakm_place_event(rq, p, core, SAAKM_H_new_place, ops->new_place);
	saakm_thread_event(rq, p, SAAKM_H_new_end, ops->new_end);
}

/* The flags stay for wakeup_preempt, until the thread runs. */
static __always_inline void saakm_place_woken(struct rq *rq, struct task_struct *p,
					      struct saakm_core *core)
{
	const struct saakm_module_routines *ops = READ_ONCE(p->saakm.policy->ops);

	saakm_place_event(rq, p, core, SAAKM_H_unblock_place, ops->unblock_place);
	saakm_thread_event(rq, p, SAAKM_H_unblock_end, ops->unblock_end);
}

/* Nobody was asked for a CPU. */
static __always_inline void saakm_note_waker(struct rq *rq, struct task_struct *p)
{
	if (p->saakm.event.flags & (SAAKM_EV_CHOICE | SAAKM_EV_OUSTED))
		return;
	p->saakm.event.prev_cpu = cpu_of(rq);
	p->saakm.event.waker_cpu = smp_processor_id();
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

static void saakm_requeue(struct rq *rq, struct task_struct *p)
{
	struct saakm_task *st = &p->saakm;
	const struct saakm_module_routines *ops = READ_ONCE(st->policy->ops);

	if (st->state == SAAKM_READY_TICK)
		st->event.flags |= SAAKM_EV_TICK;
	saakm_place_event(rq, p, saakm_core(st->policy, cpu_of(rq)), SAAKM_H_requeue, ops->requeue);
	if (unlikely(st->in_kernel))
		saakm_floor_requeue(rq, p);
	else
		st->event.flags = 0;
}

static noinline void saakm_enqueue_other(struct rq *rq, struct task_struct *p)
{
	struct saakm_task *st = &p->saakm;

	switch (st->state) {
	case SAAKM_NOT_QUEUED:
		saakm_note_waker(rq, p);
		saakm_place_new(rq, p, saakm_core(st->policy, cpu_of(rq)));
		break;
	case SAAKM_MIGRATING:
		saakm_set_state(rq, p, SAAKM_READY);
		saakm_rq_link(st->move_to, p);
		saakm_resume_wait(p);
		break;
	default:	/* it was taken out for a change of parameters */
		if (st->rq && st->rq->key)
			saakm_rq_resort(p);
		if (st->rq)
			saakm_shared_recall(p);
		saakm_thread_event(rq, p, SAAKM_H_attr_changed, st->policy->ops->attr_changed);
		if (st->rq && st->rq->key)	/* the handler may have changed it */
			saakm_rq_resort(p);
	}
	if (READ_ONCE(st->in_kernel) == SAAKM_PREEMPTED && st->state == SAAKM_READY)
		saakm_floor_link(rq, p);
	if (p->se.sched_delayed)
		saakm_delayed_came(rq, p);
}

/* READY again on another CPU, without having run. */
static noinline void saakm_landed(struct rq *rq, struct task_struct *p)
{
	saakm_resume_wait(p);
	if (p->saakm.in_kernel == SAAKM_PREEMPTED)
		saakm_floor_link(rq, p);
	if (p->se.sched_delayed)
		saakm_delayed_came(rq, p);
}

/* Threads of the policy that a running thread has left may go first now. */
static noinline void saakm_enqueue_came(struct rq *rq, struct task_struct *p)
{
	p->saakm.event.flags &= ~SAAKM_EV_CAME;
	saakm_enqueue_other(rq, p);
	if (p == saakm_rq_curr(rq))
		resched_curr(rq);
	else
		wakeup_preempt(rq, p, 0);	/* the CPU may idle: it was held back */
}

static void enqueue_task_saakm(struct rq *rq, struct task_struct *p, int flags)
{
	struct saakm_core *core = saakm_core(p->saakm.policy, cpu_of(rq));

	if (unlikely(flags & ENQUEUE_DELAYED)) {
		saakm_wake_delayed(rq, p);
		return;
	}
	if (static_branch_unlikely(&saakm_charging))
		saakm_charge_curr(rq);
	saakm_account_enqueue(rq, p, core);
	if (unlikely(p->saakm.state != SAAKM_BLOCKED)) {
		if (p->saakm.event.flags & SAAKM_EV_CAME)
			saakm_enqueue_came(rq, p);
		else
			saakm_enqueue_other(rq, p);
		return;
	}
	saakm_note_waker(rq, p);
	saakm_place_woken(rq, p, core);
	/* It was ousted. The event's flags said so, too, but are the policy's to overwrite. */
	if (unlikely(task_on_rq_migrating(p)))
		saakm_landed(rq, p);
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
		saakm_charge(rq, p);
	else if (static_branch_unlikely(&saakm_charging))
		saakm_charge_curr(rq);
	if (static_branch_unlikely(&saakm_delaying) && flags & DEQUEUE_SLEEP &&
	    saakm_delay(rq, p, flags))
		return false;
	saakm_account_dequeue(rq, p);

	if (flags & DEQUEUE_SLEEP) {
		if (unlikely(READ_ONCE(p->__state) == TASK_DEAD))
			saakm_terminate(rq, p);
		else
			saakm_block(rq, p);
		st->event.flags = 0;
		if (unlikely(flags & DEQUEUE_DELAYED))
			saakm_delayed_left(rq, p);
		return true;
	}
	if (p->se.sched_delayed)
		rq->saakm.nr_delayed--;
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
	if (!policy->ops->yield || (rq->nr_running == 1 && policy->own->charge_late))
		return;
	update_rq_clock(rq);
	saakm_charge(rq, curr);
	rq_clock_skip_update(rq);
	saakm_thread_event(rq, curr, SAAKM_H_yield, policy->ops->yield);
}

static noinline void saakm_ask_preempt(struct rq *rq, struct task_struct *p,
				       struct task_struct *curr, int flags,
				       const struct saakm_module_routines *ops)
{
	bool preempt;

	/* A thread that may use one CPU only was not asked for another. */
	if (flags & WF_SYNC)
		p->saakm.event.flags |= SAAKM_EV_SYNC;
	if (!p->saakm.policy->own->charge_late)
		saakm_charge(rq, curr);
	saakm_enter(p, SAAKM_H_wakeup_preempt);
	/* Without an indirect call, what most policies with an order name. */
	preempt = ops->wakeup_preempt == saakm_preempt_by_order ?
		saakm_goes_before(p, curr) : ops->wakeup_preempt(curr, p);
	saakm_leave();
	if (preempt)
		resched_curr(rq);
}

static void wakeup_preempt_saakm(struct rq *rq, struct task_struct *p, int flags)
{
	struct task_struct *curr = saakm_rq_curr(rq);
	struct saakm_policy *policy = p->saakm.policy;
	const struct saakm_module_routines *ops = READ_ONCE(policy->ops);

	if (policy == curr->saakm.policy) {
		if (ops->wakeup_preempt && curr->saakm.on_rq)
			saakm_ask_preempt(rq, p, curr, flags, ops);
	} else if (curr->saakm.on_rq && saakm_policy_before(policy, curr->saakm.policy)) {
		resched_curr(rq);
	}
}

/* Does @p have a slice, or has it had one? */
static __always_inline bool saakm_sliced(const struct saakm_policy *policy,
					 const struct saakm_task *st)
{
	return READ_ONCE(policy->slice_us) | st->slice_end_ns;
}

/* It should have made way, but there is nobody else: its time begins anew. */
static void saakm_run_on(struct rq *rq, struct task_struct *p)
{
	saakm_set_state(rq, p, SAAKM_RUNNING);
	if (saakm_sliced(p->saakm.policy, &p->saakm))
		saakm_slice_begin(rq, p);
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
		saakm_run_on(rq, p);
}

static noinline void saakm_put_slow(struct rq *rq, struct task_struct *p,
				    struct task_struct *next)
{
	if (p->saakm.on_rq) {
		saakm_charge(rq, p);
		saakm_core(p->saakm.policy, cpu_of(rq))->idle_since_ns = rq->clock;
		if (unlikely(p->se.sched_delayed))
			saakm_put_delayed(rq, p);
		else if (likely(p->saakm.state != SAAKM_READY))
			saakm_requeue(rq, p);
	}
	/* One of ours begins a slice of its own; what it leaves of this one does no harm. */
	if (rq->saakm.slice && !(next && task_on_saakm(next)))
		saakm_slice_cancel(rq);
}

/* Mostly it has blocked. */
static void put_prev_task_saakm(struct rq *rq, struct task_struct *p, struct task_struct *next)
{
	if (unlikely(rq->saakm.slice) || p->saakm.on_rq)
		saakm_put_slow(rq, p, next);
}

static noinline void saakm_run_slow(struct rq *rq, struct task_struct *p)
{
	if (p->saakm.in_kernel)
		saakm_floor_runs(rq, p);
	else
		p->saakm.event.flags = 0;
	saakm_rq_unlink(p);
	saakm_set_state(rq, p, SAAKM_RUNNING);
	saakm_thread_event(rq, p, SAAKM_H_running, p->saakm.policy->ops->running);
	if (saakm_sliced(p->saakm.policy, &p->saakm))
		saakm_slice_begin(rq, p);
}

static void set_next_task_saakm(struct rq *rq, struct task_struct *p, bool first)
{
	struct saakm_task *st = &p->saakm;
	struct saakm_policy *policy = st->policy;

	p->se.exec_start = rq_clock_task(rq);
	if (unlikely(!st->on_rq))
		return;
	if (unlikely(st->state != SAAKM_READY)) {
		/* It was taken out for a change of parameters: its turn goes on. */
		if (st->slice_end_ns)
			saakm_slice_resume(rq, p);
		return;
	}

	saakm_core(policy, cpu_of(rq))->switches++;
	if (static_branch_unlikely(&saakm_charging))
		st->told_ns = p->se.sum_exec_runtime;
	if (static_branch_unlikely(&saakm_observed) ||
	    unlikely(st->in_kernel || policy->ops->running ||
		     (saakm_sliced(policy, st) && !saakm_slice_begins_long(rq, p)))) {
		saakm_run_slow(rq, p);
		return;
	}
	st->event.flags = 0;
	st->state = SAAKM_RUNNING;
	st->since_ns = rq->clock;
	saakm_rq_unlink(p);
}

/*
 * Where the class orders the queue and elects: does its first one go before the running
 * thread (negative), or after it (positive)? Zero as well if that is not known.
 */
static s64 saakm_first_differs(struct saakm_core *core, const struct task_struct *curr)
{
	const struct saakm_own *own = core->policy->own;
	struct task_struct *first = saakm_waiting_here(core);
	u64 key;

	if (!own->key || READ_ONCE(core->policy->ops)->schedule)
		return 0;
	if (first)
		key = first->saakm.key;
	else if (!core->shared || !saakm_shared_key(core->shared, &key))
		return 0;
	return key - saakm_ask_key(own->key, curr);
}

/* Is there somebody beside the running thread whom the policy could elect here? */
static bool saakm_others_wait(const struct saakm_core *core)
{
	return core->nr_runnable > 1 || saakm_shared_waits(core);
}

static void saakm_make_way(struct rq *rq, struct task_struct *p)
{
	saakm_set_state(rq, p, SAAKM_READY_TICK);
	resched_curr(rq);
}

/* The slice of the running thread is over. Who waits may still go after it. */
static void saakm_slice_end(struct rq *rq, struct task_struct *p)
{
	struct saakm_core *core = saakm_core(p->saakm.policy, cpu_of(rq));

	if (saakm_others_wait(core) && saakm_first_differs(core, p) <= 0)
		saakm_make_way(rq, p);
	else if (core->shared)
		saakm_slice_begin(rq, p);
	else if (saakm_slice_ns(p) < TICK_NSEC)
		rq->saakm.slice = SAAKM_SLICE_ALONE;
}

/* Others of SaaKM wait here, of this policy or of another one. */
static noinline void saakm_tick_contended(struct rq *rq, struct task_struct *p,
					  const struct saakm_module_routines *ops)
{
	struct saakm_core *core = saakm_core(p->saakm.policy, cpu_of(rq));

	saakm_floor_tick(rq, p);
	if (p->saakm.state != SAAKM_RUNNING || !saakm_others_wait(core))
		return;
	if (saakm_sliced(p->saakm.policy, &p->saakm) && saakm_slice_tick(rq, p))
		saakm_slice_end(rq, p);
	else if (!ops->tick && saakm_first_differs(core, p) < 0)
		saakm_make_way(rq, p);
}

static void task_tick_saakm(struct rq *rq, struct task_struct *p, int queued)
{
	const struct saakm_module_routines *ops;

	update_curr_saakm(rq);
	if (!p->saakm.on_rq)
		return;
	ops = READ_ONCE(p->saakm.policy->ops);
	if (static_branch_unlikely(&saakm_charging) && (ops->tick || rq->saakm.nr_running > 1))
		saakm_tell_used(rq, p);
	/* Core scheduling has picked it again, without asking us. */
	if (unlikely(p->saakm.state == SAAKM_READY_TICK) && !test_tsk_need_resched(p))
		saakm_run_on(rq, p);
	if (ops->tick && p->saakm.state == SAAKM_RUNNING)
		saakm_thread_event(rq, p, SAAKM_H_tick, ops->tick);
	if (rq->saakm.nr_running > 1 || static_branch_unlikely(&saakm_refilling))
		saakm_tick_contended(rq, p, ops);
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

/*
 * One thread alone needs no slices, unless others come into a queue that this core shares
 * without a sign here. Others on this CPU are not our business.
 */
bool saakm_can_stop_tick(struct rq *rq)
{
	return rq->saakm.nr_running <= 1 && !(rq->saakm.first && rq->saakm.first->own->refills);
}

/* Placement */

/* @cpu: where it stays unless the policy names another that will do. */
static int saakm_prepare(struct task_struct *p, struct process_event *event, int cpu,
			 enum saakm_handler handler)
{
	struct saakm_policy *policy = p->saakm.policy;
	int (*prepare)(struct process_event *event);
	int wanted;

	prepare = handler == SAAKM_H_new_prepare ?
		READ_ONCE(policy->ops)->new_prepare : READ_ONCE(policy->ops)->unblock_prepare;
	if (!prepare) {		/* not by what the event says, which the policy may have forged */
		wanted = saakm_idle_cpu_near(p, cpu);
		return wanted >= 0 ? wanted : cpu;
	}
	saakm_enter(p, handler);
	wanted = prepare(event);
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

/* Shall @p take the CPU, or, if it has it and is @weaker now, make way? */
static void saakm_reconsider(struct rq *rq, struct task_struct *p, bool weaker)
{
	if (!task_on_rq_queued(p))
		return;
	if (!task_current(rq, p))
		wakeup_preempt(rq, p, 0);
	else if (weaker && rq->nr_running > 1)
		resched_curr(rq);
}

/* As in the fair class. Where the order has changed, attr_changed asks for an election. */
static void prio_changed_saakm(struct rq *rq, struct task_struct *p, int oldprio)
{
	saakm_reconsider(rq, p, p->prio > oldprio);
}

/* In the class that it comes from nobody has noted whether it was preempted in the kernel. */
static void switched_to_saakm(struct rq *rq, struct task_struct *p)
{
	if (p->saakm.on_rq && p->saakm.state == SAAKM_READY && !task_current(rq, p) &&
	    p->saakm.in_kernel != SAAKM_PREEMPTED_LISTED)
		saakm_floor_link(rq, p);
	saakm_reconsider(rq, p, true);
}

/* CPU hotplug: rq_online also fires when domains are rebuilt. */

/* There is no caller who could take a refusal of the server's bandwidth. */
void saakm_rq_activate(struct rq *rq)
{
	struct saakm_policy *policy;

	/* What others have left in the list: saakm_queue_work() */
	scoped_guard(irqsave)
		irq_work_run();
	if (list_empty(&saakm_policies))
		return;
	if (saakm_server_apply(rq, saakm_server_runtime_us, saakm_server_period_us))
		pr_warn("saakm: CPU %d: no bandwidth for the deadline server\n", cpu_of(rq));
	guard(rq_lock_irqsave)(rq);
	update_rq_clock(rq);
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
	update_rq_clock(rq);
	for_each_saakm_policy(policy)
		saakm_core_event(policy, cpu_of(rq), SAAKM_H_core_exit, policy->ops->core_exit);
}

static int balance_saakm(struct rq *rq, struct task_struct *prev, struct rq_flags *rf)
{
	if (!saakm_enabled())
		return false;
	if (rq->saakm.nr_running)
		saakm_refill(rq, rf);
	/* Sleepers that merely stay queued shall not keep the CPU from looking for others. */
	if (unlikely(rq->saakm.nr_delayed) && rq->saakm.nr_delayed == rq->saakm.nr_running)
		saakm_pick_task(rq);
	return rq->saakm.nr_running || saakm_newly_idle(rq, rf);
}

/* Somebody asks for the CPU time of the running thread. */
static void saakm_update_curr(struct rq *rq)
{
	if (static_branch_unlikely(&saakm_charging))
		saakm_charge_curr(rq);
	else
		update_curr_saakm(rq);
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
	.task_fork		= task_fork_saakm,

	.switched_from		= switched_from_saakm,
	.switched_to		= switched_to_saakm,
	.prio_changed		= prio_changed_saakm,

	.update_curr		= saakm_update_curr,
};

static void saakm_kick_work(struct irq_work *work)
{
	struct rq *rq = container_of(work, struct rq, saakm.kick);

	if (saakm_put_off(rq, &rq->saakm.kick_owed))
		return;
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
	saakm_slice_init_rq(rq);
	saakm_watchdog_init_rq(rq);
	saakm_misuse_init_rq(rq);
}
