// SPDX-License-Identifier: GPL-2.0
/*
 * What follows when a policy does what it must not: a report, and as the case may
 * be the loss of its handlers, at once. Its threads are moved later: eject.c.
 */

/* What an author should look at. */
static const char * const saakm_advice[SAAKM_NR_EXITS] = {
	[SAAKM_EXIT_STALL] =
		"a thread that waits must be elected in time; see the transitions below",
	[SAAKM_EXIT_OVERRUN] =
		"bound its loops; leave long work to a kthread or workqueue",
	[SAAKM_EXIT_SLEEP] =
		"only handlers marked [S] in saakm.h may sleep: no mutex, no GFP_KERNEL in others",
	[SAAKM_EXIT_WRONG_TRANSITION] =
		"the table in Documentation/scheduler/saakm.rst says who may move what where",
	[SAAKM_EXIT_NOT_PLACED] =
		"call change_state(task, SAAKM_READY, core->id, queue of core->id) on every path",
	[SAAKM_EXIT_REFUSED_PLACEMENT] =
		"return a CPU of task->cpus_ptr that is online, or event->prev_cpu: also where saakm_idle_cpu_near() finds none, -1",
	[SAAKM_EXIT_WRONG_ELECTION] =
		"return core->curr, or what saakm_rq_first() gives for a queue of core->id",
	[SAAKM_EXIT_WRONG_MOVE] =
		"move threads to other cores in newly_idle and balancing_select only, to a queue of the CPU that you name; between queues of a core in a handler marked [R], for a READY thread of that core",
	[SAAKM_EXIT_LOST_QUEUE] =
		"initialise a queue once, in init, and do not free or overwrite it",
};

/* Usually under a runqueue lock: no console output from here. */
static void saakm_report(enum saakm_exit_kind kind, const struct saakm_policy *policy,
			 const struct task_struct *p, const char *what, struct va_format *vaf)
{
	enum saakm_handler handler = raw_cpu_read(saakm_context.handler);

	guard(preempt)();
	printk_deferred_enter();
	pr_err("saakm: policy %s%s (%s) in %s: %pV\n", policy ? policy->own->name : "?", what,
	       saakm_exit_names[kind], saakm_handler_names[handler], vaf);
	if (p && p->saakm.policy)
		pr_err("saakm: thread %s/%d is %s on CPU %d, this is CPU %d\n", p->comm, p->pid,
		       saakm_state_names[p->saakm.state], task_cpu(p), raw_smp_processor_id());
	if (saakm_advice[kind])
		pr_err("saakm: to fix it: %s\n", saakm_advice[kind]);
	if (p)
		saakm_history_print(p);
	if (handler != SAAKM_H_none)
		dump_stack();
	printk_deferred_exit();
	saakm_queue_work(&saakm_eject_kick);
}

void saakm_veject(struct saakm_policy *policy, enum saakm_exit_kind kind,
		  const struct task_struct *p, struct va_format *vaf)
{
	struct saakm_exit *exit = &policy->exit;
	char *c;

	if (atomic_xchg(&exit->claimed, true))
		return;		/* the first reason counts */
	exit->handler = raw_cpu_read(saakm_context.handler);
	exit->cpu = raw_smp_processor_id();
	exit->time_ns = local_clock();
	if (p) {
		exit->pid = p->pid;
		memcpy(exit->comm, p->comm, sizeof(exit->comm));
	}
	snprintf(exit->reason, sizeof(exit->reason), "%pV", vaf);
	/* A thread may call itself anything. */
	for (c = exit->reason; *c; c++) {
		if (iscntrl(*c))
			*c = '_';
	}
	/* Who sees the kind sees the rest. */
	smp_store_release(&exit->kind, kind);
	WRITE_ONCE(policy->dying, true);
	WRITE_ONCE(policy->ops, &saakm_fallback);
	saakm_report(kind, policy, p, " ejected", vaf);
}

void __saakm_eject(struct saakm_policy *policy, enum saakm_exit_kind kind,
		   const struct task_struct *p, const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	va_start(args, fmt);
	vaf.va = &args;
	saakm_veject(policy, kind, p, &vaf);
	va_end(args);
}

/* Reaction */

static atomic_t saakm_violations = ATOMIC_INIT(0);
static bool saakm_log_violations;
static enum saakm_reaction saakm_on_violation =
	IS_ENABLED(CONFIG_SAAKM_PANIC_ON_BAD_TRANSITION) ? SAAKM_REACT_PANIC : SAAKM_REACT_EJECT;

/* Once for each kind and state of a policy; with log_violations ten in 5 s. */
static bool saakm_report_due(enum saakm_exit_kind kind, struct saakm_policy *policy,
			     const struct task_struct *p)
{
	static DEFINE_RATELIMIT_STATE(limit, 5 * HZ, 10);

	if (READ_ONCE(saakm_log_violations) || !policy)
		return __ratelimit(&limit);
	return !test_and_set_bit(kind * SAAKM_NR_STATES + (p ? p->saakm.state : 0),
				 policy->reported);
}

/* The policy whose handler this CPU is in, or NULL. */
struct saakm_policy *saakm_calling(void)
{
	enum saakm_handler handler = raw_cpu_read(saakm_context.handler);
	const void *subject;

	/*
	 * Between any two reads an interrupt may leave its own subject, and no handler;
	 * what it does itself is none of the balancer's doing.
	 */
	if (handler == SAAKM_H_none || saakm_is_balancing(handler))
		return raw_cpu_read(saakm_context.balancing) && !in_hardirq() ?
			raw_cpu_read(saakm_context.balancer) : NULL;
	subject = raw_cpu_read(saakm_context.subject);
	if (saakm_is_core_event(handler))
		return (struct saakm_policy *)subject;
	return ((const struct task_struct *)subject)->saakm.policy;
}

/*
 * A policy, the calling one or else @policy, has done what it must not. The
 * caller has made sure that nothing is lost.
 */
void saakm_violation(enum saakm_exit_kind kind, struct saakm_policy *policy,
		     const struct task_struct *p, const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	enum saakm_reaction reaction;
	va_list args;

	/* The watchdog knows whom it means, wherever its timer came in between. */
	if (kind != SAAKM_EXIT_STALL && kind != SAAKM_EXIT_OVERRUN)
		policy = saakm_calling() ?: policy ?: saakm_being_loaded();
	atomic_inc(&saakm_violations);
	if (policy && saakm_exit_kind(policy))
		return;		/* a handler that was still at work */
	reaction = policy ? policy->own->reaction : SAAKM_REACT_WARN;
	if (reaction == SAAKM_REACT_DEFAULT)
		reaction = READ_ONCE(saakm_on_violation);

	va_start(args, fmt);
	vaf.va = &args;
	if (reaction == SAAKM_REACT_PANIC)
		panic("saakm: policy %s (%s): %pV", policy->own->name, saakm_exit_names[kind],
		      &vaf);
	if (reaction == SAAKM_REACT_EJECT)
		saakm_veject(policy, kind, p, &vaf);
	else if (saakm_report_due(kind, policy, p))
		saakm_report(kind, policy, p, " is at fault", &vaf);
	va_end(args);
}
