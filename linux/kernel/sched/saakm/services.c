// SPDX-License-Identifier: GPL-2.0
/* What handlers ask: clocks, weights, which CPU is idle. */

u64 saakm_clock_ns(const struct core_event *core)
{
	struct rq *rq = cpu_rq(container_of(core, struct saakm_core, event)->cpu);

	lockdep_assert_rq_held(rq);
	return rq_clock_task(rq);
}
EXPORT_SYMBOL_NS_GPL(saakm_clock_ns, SAAKM);

u64 saakm_now_ns(const struct core_event *core)
{
	struct rq *rq = cpu_rq(container_of(core, struct saakm_core, event)->cpu);

	lockdep_assert_rq_held(rq);
	return rq_clock(rq);
}
EXPORT_SYMBOL_NS_GPL(saakm_now_ns, SAAKM);

bool saakm_cpu_idle(int cpu)
{
	return available_idle_cpu(cpu);
}
EXPORT_SYMBOL_NS_GPL(saakm_cpu_idle, SAAKM);

struct task_struct *saakm_running_on(const struct saakm_policy *policy, int cpu)
{
	struct task_struct *curr;

	if ((unsigned int)cpu >= nr_cpu_ids)
		return NULL;
	curr = rcu_dereference_sched(cpu_rq(cpu)->curr);
	return task_on_saakm(curr) && READ_ONCE(curr->saakm.policy) == policy ? curr : NULL;
}
EXPORT_SYMBOL_NS_GPL(saakm_running_on, SAAKM);

int saakm_running_prio(int cpu)
{
	struct rq *rq = cpu_rq(cpu);
	struct task_struct *curr = rcu_dereference_sched(rq->curr);

	return curr == rq->idle ? MAX_PRIO : READ_ONCE(curr->prio);
}
EXPORT_SYMBOL_NS_GPL(saakm_running_prio, SAAKM);

u64 saakm_slice_left_ns(const struct task_struct *p)
{
	u64 end_ns = p ? READ_ONCE(p->saakm.slice_end_ns) : 0, used_ns;
	struct rq *rq;

	if (!end_ns)
		return U64_MAX;
	rq = task_rq(p);
	used_ns = READ_ONCE(p->se.sum_exec_runtime);
	/* Elsewhere it has been charged at its last tick, or event. */
	if (rcu_access_pointer(rq->curr) == p)
		used_ns += max_t(s64, READ_ONCE(rq->clock_task) - READ_ONCE(p->se.exec_start), 0) +
			   max_t(s64, sched_clock_cpu(cpu_of(rq)) - READ_ONCE(rq->clock), 0);
	return saakm_before(used_ns, end_ns) ? end_ns - used_ns : 0;
}
EXPORT_SYMBOL_NS_GPL(saakm_slice_left_ns, SAAKM);

/* Elsewhere the runqueue may be locked by nobody, or the wrong one: it would be corrupted. */
void saakm_charge_now(struct task_struct *running)
{
	const struct task_struct *woken = raw_cpu_read(saakm_context.subject);
	enum saakm_handler handler = raw_cpu_read(saakm_context.handler);
	struct rq *rq;

	if (handler != SAAKM_H_wakeup_preempt) {
		saakm_violation(SAAKM_EXIT_POLICY_ERROR, NULL, NULL,
				"%s called in %s", __func__, saakm_handler_names[handler]);
		return;
	}
	rq = task_rq(woken);
	lockdep_assert_rq_held(rq);
	if (running != saakm_rq_curr(rq)) {
		saakm_violation(SAAKM_EXIT_POLICY_ERROR, NULL, NULL,
				"%s called for a thread that does not run on CPU %d", __func__,
				cpu_of(rq));
		return;
	}
	saakm_charge(rq, running);
	__this_cpu_write(saakm_context.subject, woken);
	__this_cpu_write(saakm_context.handler, SAAKM_H_wakeup_preempt);
}
EXPORT_SYMBOL_NS_GPL(saakm_charge_now, SAAKM);

void saakm_notifier_work(struct irq_work *work)
{
	/* A handler has enabled interrupts, with the lock held. */
	if (saakm_ticks_in_handler())
		return;
	wake_up_all(&container_of(work, struct saakm_notifier, work)->wait);
}
EXPORT_SYMBOL_NS_GPL(saakm_notifier_work, SAAKM);

/*
 * A CPU that goes offline wakes threads after it has done its interrupt work for the last time.
 * What it queued then would keep it from all of its own when it is back, see
 * __irq_work_queue_local().
 */
void saakm_queue_work(struct irq_work *work)
{
	guard(preempt)();
	if (likely(cpu_online(smp_processor_id())))
		irq_work_queue(work);
	else
		irq_work_queue_on(work, cpumask_any(cpu_online_mask));
}

void saakm_notify(struct saakm_notifier *notifier)
{
	if (!WARN_ON_ONCE(!notifier->work.func))
		saakm_queue_work(&notifier->work);
}
EXPORT_SYMBOL_NS_GPL(saakm_notify, SAAKM);

unsigned int saakm_task_weight(const struct task_struct *p)
{
	return scale_load_down(p->se.load.weight);
}
EXPORT_SYMBOL_NS_GPL(saakm_task_weight, SAAKM);

u32 saakm_task_inverse(const struct task_struct *p)
{
	return p->se.load.inv_weight;
}
EXPORT_SYMBOL_NS_GPL(saakm_task_inverse, SAAKM);

/* The core keeps it as it does for the fair class: __setscheduler_params(), sched_fork() */
u64 saakm_task_slice_ns(const struct task_struct *p)
{
	return p->se.custom_slice ? p->se.slice : 0;
}
EXPORT_SYMBOL_NS_GPL(saakm_task_slice_ns, SAAKM);

/* sched_prio_to_wmult[] of nice 0: 2^32 / 1024 */
#define NICE_0_INVERSE_SHIFT	22
#define NICE_0_INVERSE		BIT(NICE_0_INVERSE_SHIFT)

u64 saakm_weighted_ns(const struct task_struct *p, u64 ns)
{
	u32 inverse = p->se.load.inv_weight;
	bool used = ns;

	if (inverse != NICE_0_INVERSE)
		ns = mul_u64_u32_shr(ns, inverse, NICE_0_INVERSE_SHIFT);
	return saakm_cgroup_weighted(p, ns) ?: used;	/* it does not stand still */
}
EXPORT_SYMBOL_NS_GPL(saakm_weighted_ns, SAAKM);

int saakm_usable_cpu(const struct task_struct *task, int cpu)
{
	int other;

	if ((unsigned int)cpu >= nr_cpu_ids)
		cpu = task_cpu(task);
	for_each_cpu_wrap(other, task->cpus_ptr, cpu) {
		if (cpu_active(other))
			return other;
	}
	return cpu;
}
EXPORT_SYMBOL_NS_GPL(saakm_usable_cpu, SAAKM);
