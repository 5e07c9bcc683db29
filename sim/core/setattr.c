// SPDX-License-Identifier: GPL-2.0
/* Policies and their parameters: kernel/sched/syscalls.c. SCHED_DEADLINE and _EXT are refused. */
#include <linux/capability.h>
#include "model.h"

/* All threads of a workload are root's. */
bool capable(int cap)
{
	return true;
}

/* kernel/sched/core.c: a step of nice is 10 % of CPU time, a factor of 1.25. */
const int sched_prio_to_weight[40] = {
	88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916,
	9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586, 1277,
	1024, 820, 655, 526, 423, 335, 272, 215, 172, 137,
	110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
};

/* 2^32 / weight */
const u32 sched_prio_to_wmult[40] = {
	48388, 59856, 76040, 92818, 118348, 147320, 184698, 229616, 287308, 360437,
	449829, 563644, 704093, 875809, 1099582, 1376151, 1717300, 2157191, 2708050, 3363326,
	4194304, 5237765, 6557202, 8165337, 10153587, 12820798, 15790321, 19976592, 24970740,
	31350126, 39045157, 49367440, 61356676, 76695844, 95443717, 119304647, 148102320,
	186737708, 238609294, 286331153,
};

/* kernel/sched/core.c, set_load_weight() */
void set_load_weight(struct task_struct *p, bool update_load)
{
	int prio = p->static_prio - MAX_RT_PRIO;
	struct load_weight lw;

	if (idle_policy(p->policy)) {
		lw.weight = scale_load(WEIGHT_IDLEPRIO);
		lw.inv_weight = WMULT_IDLEPRIO;
	} else {
		lw.weight = scale_load((unsigned long)sched_prio_to_weight[prio]);
		lw.inv_weight = sched_prio_to_wmult[prio];
	}
	if (update_load && p->sched_class->reweight_task)
		p->sched_class->reweight_task(task_rq(p), p, &lw);
	else
		p->se.load = lw;
}

/* kernel/sched/core.c, __setscheduler_class() */
const struct sched_class *__setscheduler_class(int policy, int prio)
{
	if (rt_prio(prio))
		return &rt_sched_class;
	if (saakm_sched_policy(policy))
		return &saakm_sched_class;
	return &fair_sched_class;
}

/* __normal_prio() */
static int __normal_prio(int policy, int rt_priority, int nice)
{
	return rt_policy(policy) ? MAX_RT_PRIO - 1 - rt_priority : NICE_TO_PRIO(nice);
}

/* effective_prio(): who is boosted stays so. */
static int effective_prio(struct task_struct *p)
{
	p->normal_prio = __normal_prio(p->policy, p->rt_priority, task_nice(p));
	return rt_prio(p->prio) ? p->prio : p->normal_prio;
}

#define SETPARAM_POLICY	(-1)

/* include/uapi/linux/sched.h; SCHED_FLAG_RECLAIM and DL_OVERRUN mean nothing without deadlines. */
#define FLAGS_CLAMP	(SCHED_FLAG_UTIL_CLAMP_MIN | SCHED_FLAG_UTIL_CLAMP_MAX)
#define FLAGS_KNOWN	(SCHED_FLAG_RESET_ON_FORK | SCHED_FLAG_RECLAIM | SCHED_FLAG_DL_OVERRUN | \
			 SCHED_FLAG_KEEP_POLICY | SCHED_FLAG_KEEP_PARAMS | FLAGS_CLAMP)

/* __setscheduler_params() */
static void __setscheduler_params(struct task_struct *p, const struct sched_attr *attr)
{
	int policy = attr->sched_policy;

	if (policy == SETPARAM_POLICY)
		policy = p->policy;
	p->policy = policy;
	if (fair_policy(policy)) {
		p->static_prio = NICE_TO_PRIO(attr->sched_nice);
		p->se.custom_slice = !!attr->sched_runtime;
		p->se.slice = clamp_t(u64, attr->sched_runtime, NSEC_PER_MSEC / 10,
				      NSEC_PER_MSEC * 100);
	}
	p->rt_priority = attr->sched_priority;
	p->normal_prio = __normal_prio(policy, p->rt_priority, task_nice(p));
	set_load_weight(p, true);
}

/* What __sched_setscheduler() refuses before it takes a lock, or 0. */
static int check_attr(const struct sched_attr *attr, int policy)
{
	if (dl_policy(policy) || policy == SCHED_EXT) {
		pr_warn_once("%s is not modelled: sched_setattr() refuses it\n",
			     dl_policy(policy) ? "SCHED_DEADLINE" : "SCHED_EXT");
		return -EINVAL;
	}
	if (!valid_policy(policy))
		return -EINVAL;
	if (attr->sched_flags & ~FLAGS_KNOWN)
		return -EINVAL;
	if (attr->sched_flags & FLAGS_CLAMP)
		return -EOPNOTSUPP;
	if (attr->sched_priority > MAX_RT_PRIO - 1 ||
	    rt_policy(policy) != (attr->sched_priority != 0))
		return -EINVAL;
	return 0;
}

/* __sched_setscheduler(): is there nothing to change but the reset at fork? */
static bool nothing_changes(const struct task_struct *p, const struct sched_attr *attr, int policy)
{
	if (policy != p->policy || saakm_sched_policy(policy))
		return false;
	if (fair_policy(policy) && attr->sched_nice != task_nice(p))
		return false;
	return !rt_policy(policy) || attr->sched_priority == p->rt_priority;
}

/* With both locks: kernel/sched/syscalls.c, __sched_setscheduler(), behind its label change. */
static void apply_attr(struct rq *rq, struct task_struct *p, const struct sched_attr *attr,
		       int policy, bool pi, struct saakm_setsched *saakm)
{
	int queue_flags = DEQUEUE_SAVE | DEQUEUE_MOVE | DEQUEUE_NOCLOCK;
	const struct sched_class *prev_class = p->sched_class, *next_class;
	int oldprio = p->prio, newprio;
	bool queued, running;

	newprio = __normal_prio(policy, attr->sched_priority, attr->sched_nice);
	if (pi) {
		newprio = p->pi_top_task ? min(newprio, p->pi_top_task->prio) : newprio;
		if (newprio == oldprio)
			queue_flags &= ~DEQUEUE_MOVE;
	}
	next_class = __setscheduler_class(policy, newprio);
	if ((prev_class != next_class || saakm_setsched_leaves(saakm, p)) && p->se.sched_delayed)
		dequeue_task(rq, p, DEQUEUE_SLEEP | DEQUEUE_DELAYED | DEQUEUE_NOCLOCK);
	queued = task_on_rq_queued(p);
	running = task_current(rq, p);
	if (queued)
		dequeue_task(rq, p, queue_flags);
	if (running)
		put_prev_task(rq, p);
	if (!(attr->sched_flags & SCHED_FLAG_KEEP_PARAMS)) {
		__setscheduler_params(p, attr);
		saakm_setsched_apply(saakm, rq, p, attr);
		p->sched_class = next_class;
		p->prio = newprio;
	}
	check_class_changing(rq, p, prev_class);
	if (queued) {
		if (oldprio < p->prio)
			queue_flags |= ENQUEUE_HEAD;
		enqueue_task(rq, p, queue_flags);
	}
	if (running)
		set_next_task(rq, p);
	check_class_changed(rq, p, prev_class, oldprio);
}

/* __sched_setscheduler(), what it does with the locks: -EAGAIN, if @p has changed meanwhile. */
static int try_setscheduler(struct task_struct *p, const struct sched_attr *attr, int policy,
			    int oldpolicy, bool pi, struct saakm_setsched *saakm)
{
	int reset_on_fork = oldpolicy >= 0 ? p->sched_reset_on_fork :
		!!(attr->sched_flags & SCHED_FLAG_RESET_ON_FORK);
	struct balance_callback *head;
	struct rq_flags rf;
	struct rq *rq;
	int ret = 0;

	rq = task_rq_lock(p, &rf);
	update_rq_clock(rq);
	if (p == rq->stop) {
		ret = -EINVAL;
		goto unlock;
	}
	ret = saakm_setsched_check(saakm, p);
	if (ret)
		goto unlock;
	if (oldpolicy != -1 && oldpolicy != p->policy) {
		ret = -EAGAIN;
		goto unlock;
	}
	p->sched_reset_on_fork = reset_on_fork;
	if (nothing_changes(p, attr, policy))
		goto unlock;
	apply_attr(rq, p, attr, policy, pi, saakm);
	preempt_disable();
	head = splice_balance_callbacks(rq);
	task_rq_unlock(rq, p, &rf);
	if (pi)
		rt_mutex_adjust_pi(p);
	balance_callbacks(rq, head);
	preempt_enable();
	return 0;
unlock:
	task_rq_unlock(rq, p, &rf);
	return ret;
}

/* kernel/sched/syscalls.c, __sched_setscheduler() */
static int __sched_setscheduler(struct task_struct *p, const struct sched_attr *attr, bool user,
				bool pi)
{
	struct saakm_setsched saakm __cleanup(saakm_setsched_done) = {};
	int policy, oldpolicy, ret;

	BUG_ON(pi && in_interrupt());
	do {
		policy = attr->sched_policy;
		oldpolicy = -1;
		if (policy < 0)
			policy = oldpolicy = p->policy;
		ret = check_attr(attr, policy);
		if (ret)
			return ret;
		ret = saakm_setsched_prepare(&saakm, p, attr, policy, user);
		if (ret)
			return ret;
		ret = try_setscheduler(p, attr, policy, oldpolicy, pi, &saakm);
	} while (ret == -EAGAIN);
	return ret;
}

int sched_setattr(struct task_struct *p, const struct sched_attr *attr)
{
	return __sched_setscheduler(p, attr, true, true);
}

int sched_setattr_nocheck(struct task_struct *p, const struct sched_attr *attr)
{
	return __sched_setscheduler(p, attr, false, true);
}

static int _sched_setscheduler(struct task_struct *p, int policy, const struct sched_param *param,
			       bool check)
{
	struct sched_attr attr = {
		.sched_policy	= policy,
		.sched_priority	= param->sched_priority,
		.sched_nice	= PRIO_TO_NICE(p->static_prio),
	};

	if (policy != SETPARAM_POLICY && policy & SCHED_RESET_ON_FORK) {
		attr.sched_flags |= SCHED_FLAG_RESET_ON_FORK;
		attr.sched_policy = policy & ~SCHED_RESET_ON_FORK;
	}
	return __sched_setscheduler(p, &attr, check, true);
}

int sched_setscheduler_nocheck(struct task_struct *p, int policy, const struct sched_param *param)
{
	return _sched_setscheduler(p, policy, param, false);
}

int sched_setscheduler(struct task_struct *p, int policy, const struct sched_param *param)
{
	return _sched_setscheduler(p, policy, param, true);
}

static void set_fifo(struct task_struct *p, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	WARN_ON_ONCE(sched_setscheduler_nocheck(p, SCHED_FIFO, &param) != 0);
}

void sched_set_fifo(struct task_struct *p)
{
	set_fifo(p, MAX_RT_PRIO / 2);
}

void sched_set_fifo_low(struct task_struct *p)
{
	set_fifo(p, 1);
}

void sched_set_normal(struct task_struct *p, int nice)
{
	struct sched_attr attr = { .sched_policy = SCHED_NORMAL, .sched_nice = nice };

	WARN_ON_ONCE(sched_setattr_nocheck(p, &attr) != 0);
}

/* kernel/sched/syscalls.c, set_user_nice() */
void set_user_nice(struct task_struct *p, long nice)
{
	bool queued, running;
	struct rq *rq;
	int old_prio;

	if (task_nice(p) == nice || nice < MIN_NICE || nice > MAX_NICE)
		return;
	CLASS(task_rq_lock, rq_guard)(p);
	rq = rq_guard.rq;
	update_rq_clock(rq);
	if (rt_policy(p->policy)) {
		p->static_prio = NICE_TO_PRIO(nice);
		return;
	}
	queued = task_on_rq_queued(p);
	running = task_current(rq, p);
	if (queued)
		dequeue_task(rq, p, DEQUEUE_SAVE | DEQUEUE_NOCLOCK);
	if (running)
		put_prev_task(rq, p);
	p->static_prio = NICE_TO_PRIO(nice);
	set_load_weight(p, true);
	old_prio = p->prio;
	p->prio = effective_prio(p);
	if (queued)
		enqueue_task(rq, p, ENQUEUE_RESTORE | ENQUEUE_NOCLOCK);
	if (running)
		set_next_task(rq, p);
	p->sched_class->prio_changed(rq, p, old_prio);
}

/* get_params() */
static void get_params(const struct task_struct *p, struct sched_attr *attr)
{
	if (rt_policy(p->policy))
		attr->sched_priority = p->rt_priority;
	else
		attr->sched_nice = task_nice(p);
}

/* sched_setattr(2) */
int model_setattr(struct task_struct *p, struct sched_attr *attr)
{
	model_charge(MODEL_COST_SETATTR);
	if ((int)attr->sched_policy < 0)
		return -EINVAL;
	if (attr->sched_flags & SCHED_FLAG_KEEP_POLICY)
		attr->sched_policy = SETPARAM_POLICY;
	if (attr->sched_flags & SCHED_FLAG_KEEP_PARAMS)
		get_params(p, attr);
	attr->sched_nice = clamp(attr->sched_nice, MIN_NICE, MAX_NICE);
	return sched_setattr(p, attr);
}

/* sched_getattr(2) */
void model_getattr(struct task_struct *p, struct sched_attr *attr)
{
	*attr = (struct sched_attr) { .size = sizeof(*attr), .sched_policy = p->policy };
	if (p->sched_reset_on_fork)
		attr->sched_flags |= SCHED_FLAG_RESET_ON_FORK;
	get_params(p, attr);
	saakm_getattr(p, attr);
}

/* setpriority(2) */
int model_setnice(struct task_struct *p, int nice)
{
	model_charge(MODEL_COST_SETATTR);
	set_user_nice(p, clamp(nice, MIN_NICE, MAX_NICE));
	return 0;
}
