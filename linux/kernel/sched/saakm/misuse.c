// SPDX-License-Identifier: GPL-2.0
/* What a policy can get wrong, and what keeps it from doing harm. */

/* At load */

/* What attributes and handlers say of the queues that contradicts itself, or NULL. */
static const char *saakm_inconsistent_queue(const struct saakm_policy *policy)
{
	bool ordered = policy->queue == SAAKM_RQ_LIST || policy->queue == SAAKM_RQ_RBTREE;

	if ((unsigned int)policy->queue > SAAKM_RQ_NONE)
		return "queue is no enum saakm_rq_type";
	if (ordered && !policy->key)
		return "key is missing, for the queue is a LIST or RBTREE";
	if (policy->bound && policy->queue != SAAKM_RQ_RBTREE)
		return "bound is of no use: the queue is no RBTREE";
	if (!ordered && policy->key)
		return policy->queue == SAAKM_RQ_FIFO ?
			"key is of no use: the queue is a FIFO" :
			"key is of no use: queue is SAAKM_RQ_NONE";
	if (policy->queue != SAAKM_RQ_NONE)
		return NULL;
	if (!policy->schedule)
		return "schedule is missing, for queue is SAAKM_RQ_NONE";
	if (policy->block_delay)
		return "block_delay is of no use: queue is SAAKM_RQ_NONE";
	if (!policy->place && !(policy->new_place && policy->unblock_place))
		return "place is missing, for queue is SAAKM_RQ_NONE";
	return NULL;
}

static const char *saakm_inconsistent(const struct saakm_policy *policy)
{
	if (policy->place && policy->new_place && policy->unblock_place)
		return "place is of no use beside new_place and unblock_place";
	if (policy->prepare && policy->new_prepare && policy->unblock_prepare)
		return "prepare is of no use beside new_prepare and unblock_prepare";
	if (!policy->balancing_select && policy->balance_interval_ms)
		return "balancing_select is missing, for a balance_interval_ms is given";
	if (policy->balancing_select && !policy->balance_interval_ms)
		return "balance_interval_ms is missing, for there is a balancing_select";
	if (policy->free_metadata && !policy->init)
		return "init is missing, for there is a free_metadata";
	return saakm_inconsistent_queue(policy);
}

/* Names are words of commands and files, beside numbers and these. */
static const char * const saakm_reserved[] = { "none", "all", "fair", "other" };

/* What is wrong with the name, or NULL. */
static const char *saakm_bad_name(const char *name)
{
	const char *c;
	long number;

	if (!name[0] || strnlen(name, SAAKM_NAME_LEN) == SAAKM_NAME_LEN)
		return "has 1 to 31 characters";
	for (c = name; *c; c++) {
		if (!isascii(*c) || !isgraph(*c) || strchr("/\"\\", *c))
			return "has no blanks, quotes, slashes or what cannot be printed";
	}
	if (name[0] == '-' || name[0] == '.')
		return "does not begin with - or .";
	if (!kstrtol(name, 0, &number) || !kstrtol(name, 10, &number))
		return "is no number: an id would be meant";
	if (match_string(saakm_reserved, ARRAY_SIZE(saakm_reserved), name) >= 0)
		return "is not none, all, fair or other";
	return NULL;
}

/* Memory that is gone before the policy is. */
static bool saakm_short_lived(const void *object, size_t size, const struct module *owner)
{
	if (object_is_on_stack(object))
		return true;
	return owner && (within_module_init((unsigned long)object, owner) ||
			 within_module_init((unsigned long)object + size - 1, owner));
}

/* The pointers in struct saakm_module_routines, whatever their types. */
static bool saakm_routine_short_lived(const struct saakm_policy *policy)
{
	const unsigned long *routine = (const unsigned long *)&policy->routines;
	size_t i;

	for (i = 0; i < sizeof(policy->routines) / sizeof(*routine); i++) {
		/* init is called while that memory is there. */
		if (policy->owner && within_module_init(routine[i], policy->owner) &&
		    routine[i] != (unsigned long)policy->init)
			return true;
	}
	return policy->owner && (within_module_init((unsigned long)policy->key, policy->owner) ||
				 within_module_init((unsigned long)policy->bound, policy->owner));
}

static bool saakm_not_owners(const struct saakm_policy *policy)
{
	const struct module *module;

	guard(preempt)();
	module = __module_address((unsigned long)policy);
	return module && module != policy->owner;
}

static int saakm_validate_memory(const struct saakm_policy *policy)
{
	if (saakm_not_owners(policy))
		return saakm_refuse(-EINVAL,
				    "load: owner must be THIS_MODULE: the policy lies in that module's memory");
	if (saakm_short_lived(policy, sizeof(*policy), policy->owner))
		return saakm_refuse(-EINVAL,
				    "load: the struct saakm_policy is on the stack or __initdata: it must live until it is removed");
	if (saakm_routine_short_lived(policy))
		return saakm_refuse(-EINVAL, "load: a handler other than init is __init");
	return 0;
}

/* Under saakm_mutex. @old: the policy that it replaces, if there is one. */
int saakm_validate(const struct saakm_policy *policy, struct saakm_policy **old)
{
	const struct saakm_policy *other;
	const char *fault;
	bool replaces;
	int ret;

	list_for_each_entry(other, &saakm_policies, node) {
		if (other == policy)
			return saakm_refuse(-EEXIST, "load %s: it is loaded already",
					    other->own->name);
	}
	ret = saakm_validate_memory(policy);
	if (ret)
		return ret;
	fault = saakm_bad_name(policy->name);
	if (fault)
		return saakm_refuse(-EINVAL, "load: the name of a policy %s", fault);
	fault = saakm_inconsistent(policy);
	if (fault)
		return saakm_refuse(-EINVAL, "load %s: %s", policy->name, fault);
	if (policy->task_size > SAAKM_MAX_TASK_SIZE)
		return saakm_refuse(-E2BIG, "load %s: task_size %u is more than %lu", policy->name,
				    policy->task_size, SAAKM_MAX_TASK_SIZE);
	if (policy->process_size > SAAKM_MAX_TASK_SIZE)
		return saakm_refuse(-E2BIG, "load %s: process_size %u is more than %lu",
				    policy->name, policy->process_size, SAAKM_MAX_TASK_SIZE);
	if (policy->core_size > SAAKM_MAX_CORE_SIZE)
		return saakm_refuse(-E2BIG, "load %s: core_size %u is more than %lu", policy->name,
				    policy->core_size, SAAKM_MAX_CORE_SIZE);
	replaces = policy->replaces && policy->replaces[0];
	*old = replaces ? saakm_policy_called(policy->replaces) : NULL;
	if (replaces && !*old)
		return saakm_refuse(-ESRCH, "load %s: no policy is called %s, to be replaced",
				    policy->name, policy->replaces);
	list_for_each_entry(other, &saakm_policies, node) {
		if (other != *old && !strcmp(other->own->name, policy->name))
			return saakm_refuse(-EEXIST, "load %s: a policy of this name is %s",
					    policy->name, saakm_exit_kind(other) ?
					    "ejected but not unloaded" : "loaded");
	}
	if (!~saakm_masks)
		return saakm_refuse(-ENOSPC, "load %s: 64 policies are loaded", policy->name);
	return 0;
}

int saakm_set_options(struct saakm_policy *policy, const char *replaces, int timeout_ms,
		      const char *on_violation)
{
	int reaction;

	if (replaces)
		policy->replaces = replaces;
	if (timeout_ms >= 0)
		policy->timeout_ms = timeout_ms ?: SAAKM_NO_TIMEOUT;
	if (!on_violation)
		return 0;
	reaction = match_string(saakm_reaction_names, ARRAY_SIZE(saakm_reaction_names),
				on_violation);
	if (reaction < 0)
		return saakm_refuse(-EINVAL,
				    "load %s: on_violation is default, warn, eject or panic",
				    policy->name);
	policy->reaction = reaction;
	return 0;
}
EXPORT_SYMBOL_NS_GPL(saakm_set_options, SAAKM);

/*
 * A module that goes away with a policy registered: its init failed after
 * saakm_add_policy(), or its exit forgot saakm_remove_policy().
 */
static struct saakm_policy *saakm_policy_of(const struct module *module)
{
	struct saakm_policy *policy;

	guard(mutex)(&saakm_mutex);
	list_for_each_entry(policy, &saakm_policies, node) {
		if (policy->own->owner == module && policy->remover != current)
			return policy;
	}
	return NULL;
}

static int saakm_module_notify(struct notifier_block *nb, unsigned long state, void *module)
{
	struct saakm_policy *policy;

	if (state != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	while ((policy = saakm_policy_of(module))) {
		pr_err("saakm: module of policy %s went away without saakm_remove_policy()\n",
		       policy->own->name);
		__saakm_remove_policy(policy);
	}
	return NOTIFY_OK;
}

static struct notifier_block saakm_module_nb = {
	.notifier_call = saakm_module_notify,
};

static int __init saakm_misuse_init(void)
{
	return register_module_notifier(&saakm_module_nb);
}
core_initcall(saakm_misuse_init);

/* While it works */

/* Why a call of change_state() is wrong, or NULL. */
static const char *saakm_explain(const struct task_struct *p, enum saakm_state next,
				 int cpu, const struct saakm_rq *srq)
{
	enum saakm_handler handler = raw_cpu_read(saakm_context.handler);

	if (!p->saakm.policy)
		return "the thread belongs to no policy";
	if (handler != SAAKM_H_none && raw_cpu_read(saakm_context.subject) != p)
		return "this event is about another thread";
	if ((unsigned int)next >= SAAKM_NR_STATES)
		return "there is no such state";
	if (!(saakm_handler_states[handler] & BIT(next)))
		return "this handler may not move a thread there";
	if (!saakm_transition_allowed(p->saakm.state, next))
		return "there is no such transition";
	if (cpu != task_cpu(p))
		return "the thread is on another CPU";
	if (!raw_spin_is_locked(rq_lockp(task_rq(p))))
		return "the runqueue lock is not held";
	if (next != SAAKM_READY)
		return srq ? "only READY takes a runqueue" : NULL;
	if (!srq)
		return "READY needs a runqueue";
	if (!saakm_serves(srq, cpu) || (!srq->head.next && saakm_rq_kind(srq) != SAAKM_RQ_RBTREE))
		return "the runqueue is not of this CPU, or not initialised";
	if (srq->owner != p->saakm.policy)
		return "the runqueue belongs to another policy";
	return NULL;
}

/* Inlined it would cost change_state() a stack frame. */
noinline int saakm_refuse_change(struct task_struct *p, enum saakm_state next, int cpu,
				 const struct saakm_rq *srq)
{
	saakm_violation(SAAKM_EXIT_WRONG_TRANSITION, p->saakm.policy, p,
			"change_state(%s, cpu %d): %s",
			(unsigned int)next < SAAKM_NR_STATES ? saakm_state_names[next] : "?",
			cpu, saakm_explain(p, next, cpu, srq));
	return -EINVAL;
}

/*
 * A CPU that is about to go offline is no fault: the policy may not know yet.
 * Nor is it to leave the thread where it was.
 */
void saakm_wrong_cpu(struct task_struct *p, enum saakm_handler handler, int cpu)
{
	struct saakm_policy *policy = p->saakm.policy;
	const char *name = saakm_handler_names[handler];

	if ((unsigned int)cpu >= nr_cpu_ids)
		saakm_violation(SAAKM_EXIT_REFUSED_PLACEMENT, policy, p,
				"%s returned %d, which is no CPU", name, cpu);
	else if (!cpumask_intersects(p->cpus_ptr, cpu_active_mask))
		return;		/* no answer would be right, and the core takes any CPU */
	else if (!cpumask_test_cpu(cpu, p->cpus_ptr))
		saakm_violation(SAAKM_EXIT_REFUSED_PLACEMENT, policy, p,
				"%s returned CPU %d, which the thread may not use (it may use %*pbl)",
				name, cpu, cpumask_pr_args(p->cpus_ptr));
	else if (!cpu_online(cpu))
		saakm_violation(SAAKM_EXIT_REFUSED_PLACEMENT, policy, p,
				"%s returned CPU %d, which is offline", name, cpu);
}

void saakm_wrong_election(struct rq *rq, struct saakm_policy *policy, struct task_struct *next)
{
	if (next->saakm.policy != policy)
		saakm_violation(SAAKM_EXIT_WRONG_ELECTION, policy, next,
				"schedule elected for CPU %d a thread that is not of this policy",
				cpu_of(rq));
	else
		saakm_violation(SAAKM_EXIT_WRONG_ELECTION, policy, next,
				"schedule elected a thread that is not READY on CPU %d",
				cpu_of(rq));
}

/* @handler has just returned, or would have been called; and there is no core->rq for @p. */
void saakm_not_placed(struct task_struct *p, enum saakm_handler handler)
{
	__this_cpu_write(saakm_context.subject, p);
	__this_cpu_write(saakm_context.handler, handler);
	if (p->saakm.policy->own->queue == SAAKM_RQ_NONE)
		saakm_violation(SAAKM_EXIT_NOT_PLACED, p->saakm.policy, p,
				"%s returned without change_state(SAAKM_READY)",
				saakm_handler_names[handler]);
	else
		saakm_violation(SAAKM_EXIT_LOST_QUEUE, p->saakm.policy, p,
				"core->rq was overwritten");
	saakm_leave();
}

/*
 * The queue that @p is in says that it is empty: it was initialised again, or
 * overwritten. Nothing in it can be trusted, so all that it held leaves it at
 * once, for the class's own queue; @p has left it already.
 */
void saakm_lost_queue(struct task_struct *p, struct saakm_rq *srq)
{
	struct saakm_policy *policy = p->saakm.policy;
	struct rq *rq = task_rq(p);
	struct task_struct *other;

	if (srq == &saakm_core(policy, cpu_of(rq))->event.rq)
		saakm_init_core_rq(srq, policy, cpu_of(rq));
	else
		__saakm_runqueue_init(srq, policy, cpu_of(rq), srq->type, srq->key);
	list_for_each_entry(other, &rq->saakm.threads, saakm.rq_node) {
		if (other->saakm.rq == srq)
			saakm_link_orphan(rq, other);
	}
	saakm_violation(SAAKM_EXIT_LOST_QUEUE, p->saakm.policy, p,
			"the runqueue that holds the thread says that it is empty");
}

/* What the class has allocated it keeps and frees, whatever the event says. */
void saakm_foreign_data(struct task_struct *p)
{
	saakm_violation(SAAKM_EXIT_POLICY_ERROR, p->saakm.policy, p,
			"event->data is not what the class allocated (task_size %u)",
			p->saakm.policy->own->task_size);
}

/* Does @policy belong to the caller, as far as can be known? @ip: its address. */
bool saakm_may_touch(const struct saakm_policy *policy, const char *what, unsigned long ip)
{
	struct saakm_policy *calling = saakm_calling() ?: saakm_being_loaded();
	const struct module *module;

	if (calling && calling != policy) {
		saakm_violation(SAAKM_EXIT_POLICY_ERROR, calling, NULL,
				"%s called for another policy", what);
		return false;
	}
	guard(preempt)();
	/* A call in tail position returns to the kernel, and says nothing. */
	module = __module_address(ip);
	if (calling || !module || !policy->own || policy->own->owner == module)
		return true;
	pr_err("saakm: module %s called %s for policy %s, which is not its own: ignored\n",
	       module->name, what, policy->own->name);
	return false;
}

/* Sleeping again and again: each look of a waiting loop. */
struct saakm_sleep_watch {
	const void	*subject;
	u64		switches;	/* of the CPU: in a loop there are none */
	u64		first_ns, last_ns;
};

static DEFINE_PER_CPU(struct saakm_sleep_watch, saakm_sleep_watch);

#define SAAKM_SLEEP_GAP_NS	(10 * NSEC_PER_MSEC)

/*
 * Who waits for time to pass, as msleep() does, looks at jiffies. With interrupts
 * off here, it may be that no CPU counts them. (Periodic ticks count them in
 * another way. At a leap second, whose worker needs the lock that is held here,
 * this would deadlock.)
 */
static void saakm_let_time_pass(void)
{
#ifdef CONFIG_TICK_ONESHOT
	guard(irqsave)();
	if (tick_get_tick_sched(smp_processor_id())->flags & (TS_FLAG_NOHZ | TS_FLAG_HIGHRES))
		tick_do_update_jiffies64(ktime_get());
#endif
}

/*
 * A handler that waits in a loop for what others do will never see it. Completions
 * enable interrupts; then one that wakes a thread of this CPU may deadlock before
 * the second is over.
 */
static bool saakm_waits_for_ever(void)
{
	struct saakm_sleep_watch *watch = raw_cpu_ptr(&saakm_sleep_watch);
	const void *subject = raw_cpu_read(saakm_context.subject);
	u64 now_ns = local_clock();

	if (watch->subject != subject || watch->switches != this_rq()->nr_switches ||
	    now_ns - watch->last_ns > SAAKM_SLEEP_GAP_NS) {
		watch->subject = subject;
		watch->switches = this_rq()->nr_switches;
		watch->first_ns = now_ns;
	}
	watch->last_ns = now_ns;
	return now_ns - watch->first_ns > NSEC_PER_SEC;
}

/*
 * schedule() was called in a handler. To obey would deadlock on the runqueue
 * lock, or leave with the lock held; so the call returns at once, as if the
 * thread had been woken. An election that was due is asked for anew. From a loop
 * that waits for something to happen (synchronize_rcu(), wait_event()) there is
 * no way out: rather than to hang without a word, say so and stop. (What is not
 * survived: a dying thread that is interrupted between its last state and its last
 * schedule() by the wakeup whose handler sleeps.)
 */
void saakm_slept_in_handler(void)
{
	struct saakm_policy *policy = saakm_calling();
	const char *handler = saakm_handler_names[raw_cpu_read(saakm_context.handler)];

	saakm_violation(SAAKM_EXIT_SLEEP, NULL, current, "%s slept", handler);
	if (saakm_waits_for_ever())
		panic("saakm: policy %s waits in a loop in %s, which must not sleep: the runqueue lock that it holds stops all others",
		      policy ? policy->own->name : "?", handler);
	saakm_let_time_pass();
	__set_current_state(TASK_RUNNING);
	__this_cpu_write(saakm_context.slept, true);
	if (need_resched()) {
		clear_tsk_need_resched(current);
		clear_preempt_need_resched();
		this_rq()->saakm.resched_owed = true;
		saakm_kick(smp_processor_id());
	}
}

/*
 * newly_idle, which must have them off, has enabled interrupts, as what waits does:
 * one that woke the thread which is leaving the CPU took it for running.
 */
void saakm_enabled_interrupts(struct saakm_policy *policy)
{
	local_irq_disable();
	if (!__this_cpu_read(saakm_context.slept))
		saakm_violation(SAAKM_EXIT_SLEEP, policy, NULL, "newly_idle enabled interrupts");
	__this_cpu_write(saakm_context.slept, true);
}

/*
 * A handler slept while @prev was leaving the CPU, and so @prev's state is lost:
 * as TASK_RUNNING nobody would wake it, or reap it. Whoever tried meanwhile has
 * seen that: it wakes once for nothing.
 */
void saakm_restore_state(struct task_struct *prev)
{
	unsigned int state = __this_cpu_read(saakm_context.state);
	struct rq *rq = this_rq();

	__this_cpu_write(saakm_context.slept, false);
	/* It goes on: it was preempted, or a signal keeps it from blocking. */
	if (__this_cpu_read(saakm_context.blocks) != prev ||
	    (prev->on_rq && !prev->se.sched_delayed) ||
	    READ_ONCE(prev->__state) != TASK_RUNNING)
		return;
	WRITE_ONCE(prev->__state, state);
	if (!(state & TASK_NORMAL) || rq->saakm.to_wake)
		return;
	rq->saakm.to_wake = get_task_struct(prev);
	saakm_queue_work(&rq->saakm.wake);
}

static void saakm_wake(struct irq_work *work)
{
	struct rq *rq = container_of(work, struct rq, saakm.wake);
	struct task_struct *p = xchg(&rq->saakm.to_wake, NULL);

	if (!p)
		return;
	wake_up_process(p);
	put_task_struct(p);
}

void saakm_misuse_init_rq(struct rq *rq)
{
	rq->saakm.wake = IRQ_WORK_INIT_HARD(saakm_wake);
}
