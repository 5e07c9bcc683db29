// SPDX-License-Identifier: GPL-2.0
/* Threads here follow those of the kernel: their parameters, and whether they are fair's. */
#include "fair.h"

#define KERNEL_NEED_RESCHED	BIT(3)	/* _TIF_NEED_RESCHED of x86 */

struct saakm_policy *fair_policy_here;

static bool is_fair(const struct fair_object *o)
{
	return replay_class(fair_there(o, "class")) == &fair_sched_class;
}

static bool is_member(const struct task_struct *p)
{
	return p->saakm.policy == fair_policy_here;
}

/* A slice that was asked for by sched_setattr(), or 0. */
static u64 slice_of(const struct fair_object *o)
{
	return fair_there(o, "custom_slice") ? fair_there(o, "slice") : 0;
}

/* What of fair's is a policy, SCHED_NORMAL, BATCH or IDLE, is a parameter of ours. */
static void tell(struct fair_object *o, struct rq *rq)
{
	struct task_struct *p = o->here;
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = SCHED_SAAKM,
		.sched_nice = PRIO_TO_NICE(p->static_prio),
		.sched_runtime = slice_of(o),
		.sched_saakm_policy = fair_policy_here->own->id,
		.sched_saakm_param = fair_there(o, "policy"),
	};
	struct saakm_setsched s = {};
	int error;

	error = __saakm_setsched_prepare(&s, p, &attr, SCHED_SAAKM, true);
	raw_spin_lock_irq(&rq->__lock);
	if (!error)
		error = __saakm_setsched_check(&s, p);
	WARN(error, "the policy does not take thread %d: %d\n", p->pid, error);
	if (!error) {
		p->policy = SCHED_SAAKM;
		p->sched_class = &saakm_sched_class;
		p->se.custom_slice = !!attr.sched_runtime;
		p->se.slice = attr.sched_runtime;
		__saakm_setsched_apply(&s, rq, p, &attr);
	}
	raw_spin_unlock_irq(&rq->__lock);
	__saakm_setsched_done(&s);
	o->told_policy = fair_there(o, "policy");
	o->told_slice = slice_of(o);
}

/* It is a thread of another class from now on, and stays so. */
static void leave(struct fair_object *o, struct rq *rq)
{
	struct sched_attr attr = { .size = sizeof(attr), .sched_policy = SCHED_FIFO };
	struct saakm_setsched s = {};
	struct task_struct *p = o->here;

	raw_spin_lock_irq(&rq->__lock);
	p->policy = fair_there(o, "policy");
	__saakm_setsched_apply(&s, rq, p, &attr);
	raw_spin_unlock_irq(&rq->__lock);
	__saakm_setsched_done(&s);
}

void fair_follow(struct fair_call *call)
{
	struct fair_object *o = call->task;
	struct task_struct *p = call->p;

	if (is_fair(o)) {
		if (!is_member(p) || o->told_policy != fair_there(o, "policy") ||
		    o->told_slice != slice_of(o)) {
			WARN(p->saakm.on_rq, "thread %d changes while it is queued\n", p->pid);
			tell(o, call->rq);
		}
		p->sched_class = &saakm_sched_class;
		return;
	}
	if (is_member(p) && !fair_policy(fair_there(o, "policy")) &&
	    !idle_policy(fair_there(o, "policy")))
		leave(o, call->rq);
	p->sched_class = replay_class(fair_there(o, "class"));
}

bool fair_resched(const struct fair_object *o)
{
	return fair_there(o, "thread_flags") & KERNEL_NEED_RESCHED;
}

void fair_note_resched(struct fair_call *call)
{
	u64 address = fair_there(fair_rq_object(call->rq->cpu), "curr");
	struct fair_object *o = fair_object_at(REPLAY_TASK, address);

	if (o)
		o->resched = fair_resched(o);
}

static void set_thread(struct fair_object *o)
{
	bool resched = fair_resched(o);
	struct task_struct *p = fair_task(o->address);
	u64 comm = fair_there(o, "comm");

	if (is_idle_task(p))
		return;
	p->pid = fair_there(o, "pid");
	p->tgid = fair_there(o, "tgid");
	memcpy(p->comm, &comm, sizeof(comm));
	p->flags = fair_there(o, "flags");
	p->__state = fair_there(o, "run_state");
	p->on_rq = fair_there(o, "on_rq");
	p->on_cpu = fair_there(o, "on_cpu");
	p->prio = fair_there(o, "prio");
	p->static_prio = fair_there(o, "static_prio");
	p->normal_prio = fair_there(o, "normal_prio");
	p->rt_priority = fair_there(o, "rt_priority");
	p->nr_cpus_allowed = fair_there(o, "nr_cpus_allowed");
	*cpumask_bits(&p->cpus_mask) = fair_there(o, "cpus_mask");
	__set_task_cpu(p, fair_there(o, "cpu"));
	/* Others than fair change it between calls; what this class has asked for stays. */
	if (resched != o->resched)
		p->need_resched = resched;
	o->resched = resched;
}

static void set_runqueue(struct rq *rq)
{
	struct fair_object *o = fair_rq_object(rq->cpu);
	struct task_struct *curr = fair_task(fair_there(o, "curr"));

	rq->curr = curr ?: rq->idle;
	per_cpu(current_task, rq->cpu) = rq->curr;
	rq->nr_running = fair_there(o, "nr_running");
	rq->clock_update_flags |= RQCF_UPDATED;
	if (rq->curr == rq->idle && !rq->nr_running)
		cpumask_set_cpu(rq->cpu, &model_idle_mask);
	else
		cpumask_clear_cpu(rq->cpu, &model_idle_mask);
}

static void set_if_known(u64 address)
{
	struct fair_object *o = fair_object_at(REPLAY_TASK, address);

	if (o)
		set_thread(o);
}

void fair_set(struct fair_call *call)
{
	set_if_known(call->begin.current_task);
	set_if_known(fair_there(fair_rq_object(call->rq->cpu), "curr"));
	if (call->task) {
		set_thread(call->task);
		call->p = call->task->here;
	}
	set_runqueue(call->rq);
	if (call->rq != cpu_rq(call->begin.cpu))
		set_runqueue(cpu_rq(call->begin.cpu));
}

/*
 * As sched_fork() and what follows it. A child has what its parent was told; whose parent is none of
 * fair's joins by itself.
 */
void fair_fork(struct fair_call *call)
{
	struct fair_object *o = call->task, *parent;
	struct task_struct *p = call->p;

	p->se.slice = fair_there(o, "slice");
	p->se.custom_slice = fair_there(o, "custom_slice");
	set_load_weight(p, false);
	parent = fair_object_at(REPLAY_TASK, call->begin.current_task);
	if (parent && parent->here && is_member(parent->here)) {
		p->policy = SCHED_SAAKM;
		if (saakm_fork(p) || !is_member(p)) {
			WARN(1, "thread %d cannot be forked here\n", p->pid);
			return;
		}
		p->sched_class = &saakm_sched_class;
		saakm_sched_class.task_fork(p);
		saakm_post_fork(p);
		o->told_policy = parent->told_policy;
		o->told_slice = parent->told_slice;
		if (o->told_policy != fair_there(o, "policy") || o->told_slice != slice_of(o))
			tell(o, call->rq);
		return;
	}
	tell(o, call->rq);
	p->saakm.event.flags |= SAAKM_EV_FORK;
}

/* Its memory may be another one's soon. */
void fair_dead(struct fair_call *call)
{
	saakm_task_dead(call->p);
	call->task->here = NULL;
}
