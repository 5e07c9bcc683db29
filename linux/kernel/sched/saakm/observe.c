// SPDX-License-Identifier: GPL-2.0
/* What can be watched: tracepoints, logs and checks of calls and transitions. */

#define CREATE_TRACE_POINTS
#include <trace/events/saakm.h>

DEFINE_STATIC_KEY_FALSE(saakm_observed);

/* Switches of /sys/kernel/saakm. Each that is on holds saakm_observed. */
static bool saakm_check_transitions;
static bool saakm_log_transitions;
static bool saakm_log_calls;

int saakm_trace_on(void)
{
	static_branch_inc(&saakm_observed);
	return 0;
}

void saakm_trace_off(void)
{
	static_branch_dec(&saakm_observed);
}

/*
 * Keeps the static keys on, for emulators that do not get along with code that
 * changes under running CPUs: QEMU 7.2 with a thread per CPU then and now
 * executes a breakpoint that is gone.
 */
static int __init saakm_keep_patched(char *arg)
{
	static_branch_inc(&__saakm_enabled);
	static_branch_inc(&saakm_observed);
	static_branch_inc(&saakm_charging);
	static_branch_inc(&saakm_delaying);
	return 0;
}
early_param("saakm_keep_patched", saakm_keep_patched);

void saakm_observe_call(const struct saakm_policy *policy,
			enum saakm_handler handler,
			const struct task_struct *p, int cpu)
{
	trace_saakm_call(policy->own->id, saakm_handler_names[handler], p, cpu);
	if (READ_ONCE(saakm_log_calls))
		printk_deferred("saakm: policy %s: %s pid %d cpu %d\n",
				policy->own->name, saakm_handler_names[handler],
				p ? p->pid : 0, cpu);
}

void saakm_observe_transition(struct task_struct *p, enum saakm_state next)
{
	const char *handler = saakm_handler_names[raw_cpu_read(saakm_context.handler)];
	struct saakm_policy *policy = p->saakm.policy;
	enum saakm_state prev = p->saakm.state;
	int cpu = task_cpu(p);

	saakm_history_add(p, next);
	trace_saakm_transition(p, policy->own->id, next, cpu, handler);
	if (READ_ONCE(saakm_log_transitions))
		printk_deferred("saakm: policy %s: %s/%d %s -> %s cpu %d in %s\n",
				policy->own->name, p->comm, p->pid,
				saakm_state_names[prev],
				saakm_state_names[next], cpu, handler);
	if (!READ_ONCE(saakm_check_transitions))
		return;
	if (!saakm_transition_allowed(prev, next))
		saakm_violation(SAAKM_EXIT_BAD_STATE, policy, p, "transition to %s",
				saakm_state_names[next]);
	if (!raw_spin_is_locked(rq_lockp(task_rq(p))))
		saakm_violation(SAAKM_EXIT_NO_LOCK, policy, p,
				"transition to %s without the runqueue lock",
				saakm_state_names[next]);
	if (p->saakm.rq && !saakm_serves(p->saakm.rq, cpu))
		saakm_violation(SAAKM_EXIT_FOREIGN_QUEUE, policy, p, "queued on CPU %d",
				p->saakm.rq->cpu);
}
