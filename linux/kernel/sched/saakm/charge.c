// SPDX-License-Identifier: GPL-2.0
/* CPU time: charged to the running thread and to the deadline server, and told to policies. */

DEFINE_STATIC_KEY_FALSE(saakm_charging);

static __always_inline void update_curr_saakm(struct rq *rq)
{
	s64 delta_ns;

	if (rq_clock_task(rq) == rq->donor->se.exec_start)
		return;		/* charged already */
	delta_ns = update_curr_common(rq);
	if (delta_ns > 0)
		saakm_server_charge(rq, delta_ns);
}

static noinline void saakm_tell_used(struct rq *rq, struct task_struct *p)
{
	u64 used_ns = p->se.sum_exec_runtime - p->saakm.told_ns;
	struct saakm_policy *policy = p->saakm.policy;
	const struct saakm_module_routines *ops = READ_ONCE(policy->ops);

	if (!used_ns || !ops->used)
		return;
	p->saakm.told_ns = p->se.sum_exec_runtime;
	saakm_enter(p, SAAKM_H_used);
	ops->used(&p->saakm.event, &saakm_core(policy, cpu_of(rq))->event, used_ns);
	saakm_leave();
}

/* The running thread's time is brought up to date, for an event that could depend on it. */
static __always_inline void saakm_charge(struct rq *rq, struct task_struct *p)
{
	update_curr_saakm(rq);
	if (static_branch_unlikely(&saakm_charging) && p->se.sum_exec_runtime != p->saakm.told_ns)
		saakm_tell_used(rq, p);
}

/* Somebody comes or goes beside the running thread; or somebody asks for its CPU time. */
static noinline void saakm_charge_curr(struct rq *rq)
{
	struct task_struct *curr = saakm_rq_curr(rq);

	if (curr->saakm.on_rq)
		saakm_charge(rq, curr);
}
