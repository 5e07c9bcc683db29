// SPDX-License-Identifier: GPL-2.0
/* Newly idle and periodic balancing, and moving threads between cores. */

/* Election */

void saakm_preempt(struct core_event *core)
{
	struct rq *rq = cpu_rq(container_of(core, struct saakm_core, event)->cpu);

	lockdep_assert_rq_held(rq);
	if (!sched_class_above(saakm_rq_curr(rq)->sched_class, &saakm_sched_class))
		resched_curr(rq);
}
EXPORT_SYMBOL_NS_GPL(saakm_preempt, SAAKM);

/*
 * Who kicks in each election would have nothing but elections: from some number
 * on the next tick does for all. An idle CPU keeps nobody waiting, and may have
 * no tick.
 */
#define SAAKM_KICKS	50	/* from tick to tick */

static bool saakm_tick_will_do(struct rq *rq)
{
	return READ_ONCE(rq->saakm.kicks) >= SAAKM_KICKS && READ_ONCE(rq->nr_running) &&
	       rcu_access_pointer(rq->curr) != rq->idle &&
	       !tick_nohz_tick_stopped_cpu(cpu_of(rq)) && !tick_nohz_full_cpu(cpu_of(rq));
}

void saakm_kick(int cpu)
{
	struct rq *rq;

	guard(preempt)();	/* it stays online */
	if ((unsigned int)cpu >= nr_cpu_ids || !cpu_online(cpu))
		return;
	rq = cpu_rq(cpu);
	if (saakm_tick_will_do(rq)) {
		WRITE_ONCE(rq->saakm.kick_owed, true);
		/* Pairs with saakm_tick_work(). */
		smp_store_release(&rq->saakm.tick_work, true);
		/*
		 * Pairs with saakm_count_kicks_anew() and __saakm_newly_idle(): a CPU that
		 * is about to idle sees why the caller kicks, and what it is owed, or we
		 * that it has begun to count anew, or that nothing runs there.
		 */
		smp_mb();
		if (saakm_tick_will_do(rq))
			return;
	}
	irq_work_queue_on(&rq->saakm.kick, cpu);
}
EXPORT_SYMBOL_NS_GPL(saakm_kick, SAAKM);

/* Moving */

/* Is the caller where it may take runqueue locks? */
static bool saakm_may_lock(const char *what)
{
	enum saakm_handler handler = raw_cpu_read(saakm_context.handler);

	if (handler == SAAKM_H_none || saakm_is_balancing(handler))
		return true;
	saakm_violation(SAAKM_EXIT_WRONG_MOVE, NULL, NULL, "%s called with a runqueue lock held",
			what);
	return false;
}

#define SAAKM_STEAL_LOOKS	32	/* as fair's SCHED_NR_MIGRATE_BREAK */

static bool saakm_may_run_on(struct task_struct *p, int cpu)
{
	return cpumask_test_cpu(cpu, p->cpus_ptr) && cpu_active(cpu) &&
	       !is_migration_disabled(p);
}

/* After handlers that were called in the middle of another one. */
static void saakm_return_to(const struct saakm_context *outer)
{
	bool slept = raw_cpu_read(saakm_context.slept);

	*raw_cpu_ptr(&saakm_context) = *outer;
	__this_cpu_write(saakm_context.slept, slept | outer->slept);
}

/* @p is in no queue. */
static void saakm_tell_moved(struct rq *src, struct rq *dst, struct task_struct *p)
{
	struct saakm_policy *policy = p->saakm.policy;
	const struct saakm_module_routines *ops = READ_ONCE(policy->ops);

	p->saakm.event.flags = 0;
	if (!ops->moved)
		return;
	saakm_enter(p, SAAKM_H_moved);
	ops->moved(&p->saakm.event, &saakm_core(policy, cpu_of(src))->event,
		   &saakm_core(policy, cpu_of(dst))->event);
	saakm_leave();
}

/* Both locks are held, @p is READY on @src. */
static void saakm_move_locked(struct rq *src, struct rq *dst,
			      struct task_struct *p, struct saakm_rq *to)
{
	struct saakm_context outer = *raw_cpu_ptr(&saakm_context);

	p->saakm.move_to = to;
	deactivate_task(src, p, DEQUEUE_NOCLOCK);
	set_task_cpu(p, cpu_of(dst));
	if (static_branch_unlikely(&saakm_charging))
		saakm_charge_curr(dst);
	saakm_tell_moved(src, dst, p);
	activate_task(dst, p, ENQUEUE_NOCLOCK);
	p->saakm.move_to = NULL;
	wakeup_preempt(dst, p, 0);
	saakm_return_to(&outer);
}

/* Of one CPU, whose lock is held, to another of its queues. */
static void saakm_change_queue(struct rq *rq, struct task_struct *p, struct saakm_rq *to)
{
	struct saakm_context outer = *raw_cpu_ptr(&saakm_context);

	saakm_rq_unlink(p);
	saakm_tell_moved(rq, rq, p);
	saakm_rq_link(to, p);
	wakeup_preempt(rq, p, 0);
	saakm_return_to(&outer);
}

/* With interrupts off. With @try, only if nobody else has the lock of @src. */
static bool saakm_lock_both(struct rq *src, struct rq *dst, bool try)
{
	bool both = true;

	/* For how long is the fault of who has them, perhaps in a handler of another policy. */
	raw_cpu_write(saakm_context.waits, true);
	if (!try) {
		double_rq_lock(src, dst);
	} else {
		raw_spin_rq_lock(dst);
		both = rq_lockp(src) == rq_lockp(dst) || raw_spin_rq_trylock(src);
	}
	raw_cpu_write(saakm_context.waits, false);
	if (!both) {
		raw_spin_rq_unlock(dst);
		return false;
	}
	if (try)
		double_rq_clock_clear_update(src, dst);
	update_rq_clock(src);
	if (src != dst)
		update_rq_clock(dst);
	return true;
}

/*
 * May the caller move threads of the owner of @to there? Who calls from outside
 * of a handler speaks for that policy.
 */
static bool saakm_may_move(const char *what, int cpu, const struct saakm_rq *to)
{
	struct saakm_policy *calling = saakm_calling();

	if ((unsigned int)cpu >= nr_cpu_ids || !to || to->cpu != cpu)
		saakm_violation(SAAKM_EXIT_WRONG_MOVE, to ? to->owner : NULL, NULL,
				"%s(cpu %d): the runqueue is not of this CPU", what, cpu);
	else if (!to->owner || (calling && calling != to->owner))
		saakm_violation(SAAKM_EXIT_WRONG_MOVE, NULL, NULL,
				"%s(cpu %d): the runqueue belongs to %s", what, cpu,
				to->owner ? to->owner->own->name : "no policy");
	else
		return true;
	return false;
}

/* The class has taken it over: it goes first, wherever it is wanted. */
static bool saakm_taken_over(const struct task_struct *p)
{
	return p->saakm.rq == &task_rq(p)->saakm.orphans;
}

/* With the locks of both, which may be one. */
static int saakm_move_if_ready(struct rq *src, struct rq *dst, struct task_struct *p,
			       struct saakm_rq *to, saakm_wanted_fn wanted, void *arg)
{
	if (p->saakm.policy && p->saakm.policy != to->owner)
		return -EINVAL;
	if (task_rq(p) != src || !p->saakm.on_rq || p->saakm.state != SAAKM_READY ||
	    !task_on_saakm(p) || p->saakm.rq == to)
		return -EAGAIN;
	if (src != dst && !saakm_may_run_on(p, cpu_of(dst)))
		return -EPERM;
	if (wanted && !wanted(p, arg))
		return -ECANCELED;
	if (src != dst)
		saakm_move_locked(src, dst, p, to);
	else if (!saakm_taken_over(p))
		saakm_change_queue(dst, p, to);
	return 0;
}

int saakm_move_task_if(struct task_struct *p, int cpu, struct saakm_rq *to,
		       saakm_wanted_fn wanted, void *arg)
{
	struct rq *src, *dst;
	int ret;

	if (!saakm_may_lock(__func__))
		return -EDEADLK;
	if (!saakm_may_move(__func__, cpu, to))
		return -EINVAL;
	if (!p) {
		saakm_violation(SAAKM_EXIT_WRONG_MOVE, to->owner, NULL, "%s(NULL)", __func__);
		return -EINVAL;
	}
	dst = cpu_rq(cpu);
	guard(irqsave)();
	src = task_rq(p);
	saakm_lock_both(src, dst, false);
	ret = saakm_move_if_ready(src, dst, p, to, wanted, arg);
	double_rq_unlock(src, dst);
	if (ret == -EINVAL && saakm_calling())
		saakm_violation(SAAKM_EXIT_WRONG_MOVE, to->owner, NULL,
				"%s(%s/%d, cpu %d): the thread is of another policy", __func__,
				p->comm, p->pid, cpu);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(saakm_move_task_if, SAAKM);

int saakm_move_task(struct task_struct *p, int cpu, struct saakm_rq *to)
{
	return saakm_move_task_if(p, cpu, to, NULL, NULL);
}
EXPORT_SYMBOL_NS_GPL(saakm_move_task, SAAKM);

/* The queues are two, and of one policy. */
static int saakm_steal_from(struct saakm_rq *from, struct saakm_rq *to, unsigned int max,
			    saakm_wanted_fn wanted, void *arg, bool try)
{
	unsigned int moved = 0, looks = SAAKM_STEAL_LOOKS;
	struct rq *src = cpu_rq(from->cpu), *dst = cpu_rq(to->cpu);
	struct task_struct *p, *next;

	guard(irqsave)();
	if (!saakm_lock_both(src, dst, try))
		return -EAGAIN;
	for (p = saakm_rq_first(from); p && moved < max && looks; p = next, looks--) {
		next = saakm_rq_next(from, p);
		/* The queue was found to be lost, and has been emptied. */
		if (unlikely(p->saakm.rq != from))
			break;
		if (p->saakm.state != SAAKM_READY || (wanted && !wanted(p, arg)) ||
		    (src != dst && !saakm_may_run_on(p, cpu_of(dst))))
			continue;
		if (src != dst)
			saakm_move_locked(src, dst, p, to);
		else
			saakm_change_queue(dst, p, to);
		moved++;
	}
	double_rq_unlock(src, dst);
	return moved;
}

int saakm_steal(struct saakm_rq *from, int cpu, struct saakm_rq *to, unsigned int max,
		saakm_wanted_fn wanted, void *arg)
{
	if (!saakm_may_lock(__func__))
		return -EDEADLK;
	if (!saakm_may_move(__func__, cpu, to))
		return -EINVAL;
	if (from == to || from->owner != to->owner || from->type & SAAKM_RQ_SHARED) {
		saakm_violation(SAAKM_EXIT_WRONG_MOVE, to->owner, NULL,
				"%s(cpu %d): from a runqueue %s", __func__, cpu,
				from == to ? "to itself" :
				from->owner != to->owner ? "of another policy" :
				"that cores share: saakm_take() does that");
		return -EINVAL;
	}
	return READ_ONCE(from->nr_tasks) ? saakm_steal_from(from, to, max, wanted, arg, false) : 0;
}
EXPORT_SYMBOL_NS_GPL(saakm_steal, SAAKM);

/* Without the lock of the queue, under RCU: who waits there may just have left. */
static struct task_struct *saakm_peek(struct saakm_rq *srq)
{
	struct list_head *pos;
	struct rb_node *rb;

	if (saakm_rq_kind(srq) == SAAKM_RQ_RBTREE) {
		rb = READ_ONCE(srq->root.rb_leftmost);
		return rb ? __node_2_task(rb) : NULL;
	}
	pos = READ_ONCE(srq->head.next);
	return pos != &srq->head ? __list_2_task(pos) : NULL;
}

/* Not for one that may not run on @cpu, or sleeps: two locks would be taken for nothing. */
static bool saakm_worth_locking(struct saakm_rq *from, unsigned int spare, int cpu)
{
	unsigned int nr_tasks = smp_load_acquire(&from->nr_tasks);	/* saakm_rq_unlink() */
	struct task_struct *p = nr_tasks == 1 ? saakm_peek(from) : NULL;

	return nr_tasks > spare &&
	       (!p || (saakm_may_run_on(p, cpu) && READ_ONCE(p->saakm.state) != SAAKM_DELAYED));
}

/* Who pulls, and what for. */
struct saakm_pull {
	const char		*what;
	struct saakm_core	*core;
	unsigned int		spare;
	struct saakm_rq		*passed;	/* its lock was taken */
};

/* One thread. True as well if the caller may not. */
static bool saakm_pull_from(int cpu, void *arg)
{
	struct saakm_pull *pull = arg;
	struct saakm_core *core = pull->core;
	struct saakm_rq *from = &saakm_core_of(core->policy, cpu)->rq;
	int ret;

	if (from->owner != core->policy || !saakm_worth_locking(from, pull->spare, core->cpu))
		return false;
	if (!saakm_may_lock(pull->what) || !saakm_may_move(pull->what, core->cpu, &core->event.rq))
		return true;
	ret = saakm_steal_from(from, &core->event.rq, 1, NULL, NULL, true);
	if (ret == -EAGAIN && !pull->passed)
		pull->passed = from;
	return ret > 0;
}

/*
 * One thread from the nearest core->rq with more than @spare, in one look at each core.
 * A core whose lock is taken is passed, unless no other one has any: who
 * holds it may just have placed the thread that this CPU was kicked for.
 */
static void saakm_pull(const char *what, struct core_event *event, unsigned int spare)
{
	struct saakm_core *core = container_of(event, struct saakm_core, event);
	struct saakm_pull pull = { .what = what, .core = core, .spare = spare };

	if (core->queue != SAAKM_RQ_NONE &&
	    saakm_search(core->cpu, saakm_pull_from, &pull) < 0 && pull.passed)
		saakm_steal_from(pull.passed, &event->rq, 1, NULL, NULL, false);
}

void saakm_pull_idle(struct core_event *core)
{
	saakm_pull(__func__, core, 0);
}
EXPORT_SYMBOL_NS_GPL(saakm_pull_idle, SAAKM);

void saakm_pull_busier(struct core_event *core)
{
	saakm_pull(__func__, core, READ_ONCE(core->nr_runnable));
}
EXPORT_SYMBOL_NS_GPL(saakm_pull_busier, SAAKM);

/* Why @p cannot go to @to by saakm_switch_queue(), or NULL. */
static const char *saakm_cannot_switch(const struct task_struct *p, const struct saakm_rq *to)
{
	enum saakm_handler handler = raw_cpu_read(saakm_context.handler);

	if (handler == SAAKM_H_key)
		return "a key function calls nothing of the class";
	if (!saakm_has_lock(handler))
		return "the runqueue lock is not held";
	if (saakm_calling() != p->saakm.policy)
		return "the thread is of another policy";
	if (__this_cpu_read(saakm_context.cpu) != task_cpu(p))
		return "the event is about another CPU";
	if (!p->saakm.rq)		/* nor RUNNING, nor BLOCKED */
		return "the thread is not READY in a queue";
	/* The class has taken it over: it stays there. */
	if (saakm_taken_over(p) && to == p->saakm.rq)
		return NULL;
	if (!to || !saakm_serves(to, task_cpu(p)) || to->owner != p->saakm.policy)
		return "the queue is not of this CPU and policy";
	return NULL;
}

/* True if it may. */
static bool saakm_check_switch(const char *what, struct task_struct *p, const struct saakm_rq *to)
{
	const char *fault;

	if (!p) {
		saakm_violation(SAAKM_EXIT_WRONG_MOVE, NULL, NULL, "%s(NULL): was the queue empty?",
				what);
		return false;
	}
	fault = saakm_cannot_switch(p, to);
	if (fault)
		saakm_violation(SAAKM_EXIT_WRONG_MOVE, p->saakm.policy, p, "%s(%s/%d): %s",
				what, p->comm, p->pid, fault);
	return !fault;
}

int saakm_switch_queue(struct task_struct *p, struct saakm_rq *to)
{
	if (!saakm_check_switch(__func__, p, to))
		return -EINVAL;
	if (saakm_taken_over(p))
		return 0;
	saakm_rq_unlink(p);
	saakm_rq_link(to, p);
	return 0;
}
EXPORT_SYMBOL_NS_GPL(saakm_switch_queue, SAAKM);

int saakm_to_head(struct task_struct *p)
{
	struct saakm_rq *srq = p ? p->saakm.rq : NULL;

	if (!saakm_check_switch(__func__, p, srq))
		return -EINVAL;
	if (saakm_taken_over(p))
		return 0;
	if (saakm_rq_kind(srq) != SAAKM_RQ_FIFO) {
		saakm_violation(SAAKM_EXIT_WRONG_MOVE, p->saakm.policy, p,
				"%s(%s/%d): the queue is sorted by key", __func__, p->comm, p->pid);
		return -EINVAL;
	}
	if (srq->type & SAAKM_RQ_SHARED)
		saakm_shared_to_head(srq, p);
	else
		list_move(&p->saakm.node.list, &srq->head);
	return 0;
}
EXPORT_SYMBOL_NS_GPL(saakm_to_head, SAAKM);

/* Newly idle */

/*
 * The lock was dropped. sched_ext has balanced before, and finds threads in queues of its
 * scheduler's own only by that. Who came meanwhile asked for a reschedule that ends with this.
 */
static void saakm_balance_ext(struct rq *rq, struct rq_flags *rf)
{
#ifdef CONFIG_SCHED_CLASS_EXT
	if (scx_enabled())
		ext_sched_class.balance(rq, saakm_rq_curr(rq), rf);
#endif
}

bool __saakm_newly_idle(struct rq *rq, struct rq_flags *rf)
{
	unsigned int nr_running = rq->nr_running;
	struct saakm_policy *policy;

	if (!cpu_active(cpu_of(rq)))
		return false;

	rq_unpin_lock(rq, rf);
	raw_spin_rq_unlock(rq);
	smp_mb();	/* saakm_kick() */
	rcu_read_lock();
	for_each_saakm_policy(policy) {
		if (READ_ONCE(policy->used_once))
			saakm_balance_event(policy, cpu_of(rq), SAAKM_H_newly_idle,
					    policy->ops->newly_idle);
		if (unlikely(!irqs_disabled()))
			saakm_enabled_interrupts(policy);
		if (READ_ONCE(rq->nr_running) != nr_running)
			break;
	}
	rcu_read_unlock();
	raw_spin_rq_lock(rq);
	smp_mb__after_spinlock();	/* saakm_kick() */
	rq_repin_lock(rq, rf);
	saakm_balance_ext(rq, rf);
	/* For fair the CPU does not idle, from where it began to look. */
	if (!saakm_nothing_to_run(rq))
		rq->idle_stamp = 0;
	return rq->nr_running;
}

/* Periodic */

static bool saakm_balance_due(const struct saakm_policy *policy, int cpu)
{
	return policy->own->balance_interval_ms && READ_ONCE(policy->used_once) &&
	       policy->ops->balancing_select &&
	       time_after_eq(jiffies, saakm_core(policy, cpu)->next_balance);
}

/*
 * At a tick, and before the CPU idles: it may have no tick then. Only this CPU counts its
 * kicks, with interrupts off as they are here.
 */
void saakm_count_kicks_anew(struct rq *rq)
{
	if (!cpu_online(cpu_of(rq)))
		return;		/* saakm_queue_work() */
	WRITE_ONCE(rq->saakm.kicks, 0);
	smp_mb();	/* saakm_kick() */
	if (READ_ONCE(rq->saakm.kick_owed) && xchg(&rq->saakm.kick_owed, false))
		irq_work_queue(&rq->saakm.kick);
	if (rq->saakm.eject_owed) {
		rq->saakm.eject_owed = false;
		irq_work_queue(&saakm_eject_kick);
	}
}

/* In an interrupt of @rq: a handler that holds its lock has enabled them. At a tick, then. */
bool saakm_put_off(struct rq *rq, bool *owed)
{
	if (!saakm_ticks_in_handler())
		return false;
	WRITE_ONCE(*owed, true);
	WRITE_ONCE(rq->saakm.kicks, rq->saakm.kicks + 1);	/* or before the CPU idles */
	smp_store_release(&rq->saakm.tick_work, true);
	return true;
}

/* Kicks since the last tick, and threads that were preempted in the kernel. */
static noinline void saakm_tick_work(struct rq *rq)
{
	/* Pairs with saakm_kick() and saakm_floor_link(): what they noted is seen below. */
	xchg(&rq->saakm.tick_work, false);
	saakm_count_kicks_anew(rq);
	saakm_floor_rescue(rq);
}

void saakm_trigger_balance(struct rq *rq)
{
	struct saakm_policy *policy;

	rq->saakm.ticks++;
	if (unlikely(READ_ONCE(rq->saakm.tick_work)))
		saakm_tick_work(rq);
	saakm_sample();
	for_each_saakm_policy(policy) {
		if (!saakm_balance_due(policy, cpu_of(rq)))
			continue;
		if (cpu_active(cpu_of(rq)))
			raise_softirq(SCHED_SOFTIRQ_SAAKM);
		return;
	}
}

/* The fair class found this idle CPU to balance for all that sleep tickless. */
void saakm_nohz_kick(struct rq *rq)
{
	rq->saakm.nohz_kicked = true;
	__raise_softirq_irqoff(SCHED_SOFTIRQ_SAAKM);
}

static void saakm_balance_core(int cpu)
{
	struct saakm_policy *policy;

	for_each_saakm_policy(policy) {
		struct saakm_core *core = saakm_core(policy, cpu);

		if (!saakm_balance_due(policy, cpu))
			continue;
		core->next_balance = jiffies + msecs_to_jiffies(policy->own->balance_interval_ms);
		saakm_balance_event(policy, cpu, SAAKM_H_balancing_select,
				    policy->ops->balancing_select);
	}
}

static void saakm_balance_softirq(void)
{
	struct rq *rq = this_rq();
	int cpu;

	guard(rcu)();
	if (xchg(&rq->saakm.nohz_kicked, false)) {
		for_each_cpu_wrap(cpu, cpu_active_mask, cpu_of(rq) + 1) {
			if (!need_resched() && idle_cpu(cpu) && tick_nohz_tick_stopped_cpu(cpu))
				saakm_balance_core(cpu);
		}
	}
	saakm_balance_core(cpu_of(rq));
}
