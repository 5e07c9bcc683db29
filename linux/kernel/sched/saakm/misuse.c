// SPDX-License-Identifier: GPL-2.0
/* What a policy can get wrong, and what keeps it from doing harm. */

/* At load */

/* A routine that is missing or of no use without another, or NULL. */
static const char *saakm_inconsistent(const struct saakm_policy *policy)
{
	const struct saakm_module_routines *routines = policy->routines;

	if (!routines)
		return "routines is missing";
	if (!routines->schedule)
		return "schedule is missing";
	if (!routines->new_place)
		return "new_place is missing";
	if (!routines->unblock_place)
		return "unblock_place is missing";
	if (!routines->balancing_select && policy->balance_interval_ms)
		return "balancing_select is missing, for a balance_interval_ms is given";
	if (routines->free_metadata && !routines->init)
		return "init is missing, for there is a free_metadata";
	return NULL;
}

static bool saakm_name_ok(const char *name)
{
	return name[0] && strnlen(name, SAAKM_NAME_LEN) < SAAKM_NAME_LEN &&
		!strpbrk(name, " \t\n/\"\\");
}

/* @old: the policy that it replaces, if there is one. */
int saakm_validate(const struct saakm_policy *policy, const struct saakm_policy *old)
{
	const struct saakm_policy *other;
	const char *fault;

	if (!saakm_name_ok(policy->name))
		return saakm_refuse(-EINVAL,
				    "load: a name has 1 to %d characters, no blanks or quotes",
				    SAAKM_NAME_LEN - 1);
	fault = saakm_inconsistent(policy);
	if (fault)
		return saakm_refuse(-EINVAL, "load %s: the routine %s", policy->name, fault);
	if (policy->task_size > SAAKM_MAX_TASK_SIZE)
		return saakm_refuse(-E2BIG, "load %s: task_size %u is more than %lu", policy->name,
				    policy->task_size, SAAKM_MAX_TASK_SIZE);
	if (policy->replaces && !old)
		return saakm_refuse(-ESRCH, "load %s: no policy is called %s, to be replaced",
				    policy->name, policy->replaces);
	list_for_each_entry(other, &saakm_policies, node) {
		if (other != old && !strcmp(other->name, policy->name))
			return saakm_refuse(-EEXIST, "load %s: a policy of this name is %s",
					    policy->name, saakm_exit_kind(other) ?
					    "ejected but not unloaded" : "loaded");
	}
	if (!~saakm_masks)
		return saakm_refuse(-ENOSPC, "load %s: 64 policies are loaded", policy->name);
	return 0;
}

/**
 * saakm_set_options() - what the one who loads a policy may overrule
 * @policy: not added yet
 * @replaces: name of the policy to take the threads of, or NULL
 * @timeout_ms: negative to leave it, 0 for no watchdog
 * @on_violation: NULL to leave it, or "warn", "eject", "panic"
 *
 * Return: 0, or -EINVAL with the sentence in last_error.
 */
int saakm_set_options(struct saakm_policy *policy, const char *replaces, int timeout_ms,
		      const char *on_violation)
{
	int reaction;

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
EXPORT_SYMBOL_GPL(saakm_set_options);

/*
 * A module that goes away with a policy registered: its init failed after
 * saakm_add_policy(), or its exit forgot saakm_remove_policy().
 */
static int saakm_module_notify(struct notifier_block *nb, unsigned long state, void *module)
{
	struct saakm_policy *policy, *next;

	if (state != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	guard(mutex)(&saakm_mutex);
	list_for_each_entry_safe(policy, next, &saakm_policies, node) {
		if (policy->owner != module)
			continue;
		pr_err("saakm: module of policy %s went away without saakm_remove_policy()\n",
		       policy->name);
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
void saakm_wrong_cpu(struct task_struct *p, const struct process_event *event,
		     enum saakm_handler handler, int cpu)
{
	struct saakm_policy *policy = p->saakm.policy;
	const char *name = saakm_handler_names[handler];

	if (cpu == event->prev_cpu)
		return;
	if ((unsigned int)cpu >= nr_cpu_ids)
		saakm_violation(SAAKM_EXIT_REFUSED_PLACEMENT, policy, p,
				"%s returned %d, which is no CPU", name, cpu);
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

/* @handler has just returned. */
void saakm_not_placed(struct task_struct *p, enum saakm_handler handler)
{
	__this_cpu_write(saakm_context.handler, handler);
	saakm_violation(SAAKM_EXIT_NOT_PLACED, p->saakm.policy, p,
			"%s returned without change_state(SAAKM_READY)",
			saakm_handler_names[handler]);
	saakm_leave();
}

/* The queue that @p was in knows nothing of it: it was initialised again, or overwritten. */
void saakm_lost_queue(struct task_struct *p)
{
	saakm_violation(SAAKM_EXIT_LOST_QUEUE, p->saakm.policy, p,
			"the runqueue that holds the thread says that it is empty");
}

/*
 * schedule() was called in a handler. To obey would deadlock on the runqueue
 * lock, or leave with the lock held; so the call returns at once, as if the
 * thread had been woken. An election that was due is asked for anew.
 */
void saakm_slept_in_handler(void)
{
	saakm_violation(SAAKM_EXIT_SLEEP, NULL, current, "%s slept",
			saakm_handler_names[raw_cpu_read(saakm_context.handler)]);
	__set_current_state(TASK_RUNNING);
	if (need_resched()) {
		clear_tsk_need_resched(current);
		clear_preempt_need_resched();
		irq_work_queue(&this_rq()->saakm.kick);
	}
}
