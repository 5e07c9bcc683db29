// SPDX-License-Identifier: GPL-2.0
/* How threads join and leave policies: sched_setattr(), fork, exit, removal. */

/*
 * A fork from sched_fork() to sched_post_fork() is a reader: while a policy is
 * being removed, no child may be on its way into it unseen.
 */
DEFINE_STATIC_PERCPU_RWSEM(saakm_fork_rwsem);

/* Under RCU or saakm_mutex. */
static struct saakm_policy *saakm_policy_by_id(u32 id)
{
	struct saakm_policy *policy;

	for_each_saakm_policy(policy) {
		if (policy->own->id == id)
			return policy;
	}
	return NULL;
}

/* The policy that a thread gets by @id: it may have been replaced. */
static struct saakm_policy *saakm_joinable(u32 id)
{
	struct saakm_policy *policy = saakm_policy_by_id(id), *successor;

	while (policy && (successor = READ_ONCE(policy->successor)))
		policy = successor;
	return policy;
}

/*
 * The policy is marked: dying, or with a successor. When this returns nobody
 * joins it any more. Whoever has passed saakm_setsched_check() holds a runqueue
 * lock until he is a member.
 */
static void saakm_wait_joiners(void)
{
	synchronize_rcu();
	percpu_down_write(&saakm_fork_rwsem);
	percpu_up_write(&saakm_fork_rwsem);
}

static int saakm_alloc_data(const struct saakm_policy *policy, struct saakm_data **data)
{
	*data = NULL;
	if (!policy->own->task_size)
		return 0;
	*data = kzalloc(struct_size(*data, bytes, policy->own->task_size), GFP_KERNEL_ACCOUNT);
	return *data ? 0 : -ENOMEM;
}

/* RCU: handlers of the policy may still be looking on other CPUs. */
static void saakm_free_data(struct saakm_data *data)
{
	if (data)
		kfree_rcu(data, rcu);
}

static __always_inline void saakm_set_membership(struct task_struct *p,
						 struct saakm_policy *policy,
						 struct saakm_data *data,
						 struct saakm_process *process)
{
	struct saakm_task *st = &p->saakm;

	st->state = SAAKM_NOT_QUEUED;
	/* Nobody knows where a thread that waits was preempted. */
	st->in_kernel = task_on_rq_queued(p) && !task_current(task_rq(p), p) ?
		SAAKM_PREEMPTED : SAAKM_NOT_PREEMPTED;
	st->since_ns = task_rq(p)->clock;
	st->wait_ns = 0;
	st->slice_ns = 0;
	st->slice_end_ns = 0;
	st->holds_lock = false;
	st->data = data;
	st->process = process;		/* until saakm_join_process() */
	st->process_data = NULL;
	st->event = (struct process_event) {
		.task		= p,
		.data		= data ? data->bytes : NULL,
		.prev_cpu	= task_cpu(p),
		.waker_cpu	= task_cpu(p),
	};
	WRITE_ONCE(st->id, policy->own->id);
	WRITE_ONCE(st->policy, policy);
}

/* Under the runqueue lock. */
static __always_inline void saakm_list_member(struct task_struct *p)
{
	struct saakm_policy *policy = p->saakm.policy;

	guard(raw_spinlock)(&policy->threads_lock);
	list_add_tail(&p->saakm.policy_node, &policy->threads);
	policy->nr_threads++;
	policy->nr_new++;
	if (p->saakm.process)
		saakm_join_process(p);
}

/* Others see @p before its fork is over: now it belongs to a process. */
static noinline void saakm_list_child(struct task_struct *p)
{
	if (p->saakm.forking && p->saakm.policy && list_empty(&p->saakm.policy_node))
		saakm_list_member(p);
}

static __always_inline void saakm_terminate(struct rq *rq, struct task_struct *p)
{
	struct saakm_task *st = &p->saakm;

	if (st->rq)
		saakm_rq_unlink(p);
	saakm_thread_event(rq, p, SAAKM_H_terminate, st->policy->ops->terminate);
	if (st->state != SAAKM_TERMINATED)
		saakm_set_state(rq, p, SAAKM_TERMINATED);
}

/*
 * @p leaves its policy, whatever its state. It must not be enqueued in our
 * class. The caller has it in none, or in another one, before the runqueue lock is
 * dropped, and frees what is returned afterwards.
 */
static struct saakm_data *saakm_leave_policy(struct rq *rq, struct task_struct *p)
{
	struct saakm_task *st = &p->saakm;
	struct saakm_policy *policy = st->policy;
	struct saakm_data *data = st->data;

	lockdep_assert_rq_held(rq);
	WARN_ON_ONCE(st->on_rq);

	if (st->state != SAAKM_NOT_QUEUED && st->state != SAAKM_TERMINATED)
		saakm_terminate(rq, p);
	if (unlikely(st->event.data != (data ? data->bytes : NULL)))
		saakm_foreign_data(p);

	scoped_guard(raw_spinlock, &policy->threads_lock) {
		/* A child may be sent away before saakm_post_fork(). */
		if (!list_empty(&st->policy_node)) {
			list_del_init(&st->policy_node);
			policy->nr_threads--;
			policy->nr_terminated++;
		}
		saakm_leave_process(p);
	}
	st->data = NULL;
	st->event.data = NULL;
	/* It has not been told that the thread leaves, and will be asked for a dump. */
	if (data && unlikely(saakm_exit_kind(policy))) {
		llist_add(&data->node, &policy->exit.data);
		return NULL;
	}
	return data;
}

/* It will be in none. st->id stays: it says that the thread has been in one. */
static struct saakm_data *saakm_detach(struct rq *rq, struct task_struct *p)
{
	struct saakm_data *data = saakm_leave_policy(rq, p);

	WRITE_ONCE(p->saakm.policy, NULL);
	p->saakm.by_cgroup = false;
	return data;
}

/* sched_setattr() */

/*
 * The policy that @p shall be in, held by saakm_get() so that it cannot go away;
 * NULL if @p keeps its policy and has just left it. An error leaves its sentence
 * in last_error.
 */
static struct saakm_policy *saakm_find_target(const struct saakm_setsched *s,
					      struct task_struct *p)
{
	struct saakm_policy *policy;

	guard(rcu)();
	if (s->keep) {
		/* Ejected, or being replaced: it does not join now. */
		policy = READ_ONCE(p->saakm.policy);
		if (policy)
			saakm_get(policy);
		return policy;
	}
	policy = saakm_joinable(s->id);
	if (policy && saakm_exit_kind(policy))
		return ERR_PTR(saakm_refuse(-EOWNERDEAD,
					    "sched_setattr: policy %s was ejected (%s): %s",
					    policy->own->name,
					    saakm_exit_names[saakm_exit_kind(policy)],
					    policy->exit.reason));
	if (!policy || READ_ONCE(policy->dying))
		return ERR_PTR(saakm_refuse(-ESRCH, "sched_setattr: no policy has the id %u",
					    s->id));
	saakm_get(policy);
	return policy;
}

/* In a function of its own: only few policies need the copy. */
static noinline int saakm_checkparam(const struct saakm_setsched *s, struct saakm_policy *policy,
				     const struct saakm_module_routines *ops,
				     const struct sched_attr *attr)
{
	struct sched_attr full = *attr;
	int ret;

	full.sched_saakm_policy = s->id;
	full.sched_saakm_param = s->param;
	ret = ops->checkparam_attr(policy, &full);
	if (ret)
		return saakm_refuse(ret < 0 ? ret : -EINVAL,
				    "sched_setattr: %s refused the parameters (%d)",
				    policy->own->name, ret);
	return 0;
}

static int saakm_may_join(const struct saakm_setsched *s, struct saakm_policy *policy,
			  struct task_struct *p, const struct sched_attr *attr, bool user)
{
	const struct saakm_module_routines *ops = READ_ONCE(policy->ops);

	if (user && policy->own->flags & SAAKM_POLICY_PRIVILEGED &&
	    READ_ONCE(p->saakm.policy) != policy && !capable(CAP_SYS_NICE))
		return saakm_refuse(-EPERM, "sched_setattr: policy %s takes CAP_SYS_NICE",
				    policy->own->name);
	return ops->checkparam_attr && !s->keep ? saakm_checkparam(s, policy, ops, attr) : 0;
}

static int saakm_setsched_target(struct saakm_setsched *s, struct task_struct *p,
				 const struct sched_attr *attr, bool user)
{
	struct saakm_policy *policy;
	int ret;

	/* The old calls name none: sched_getscheduler(), and later back to what it said. */
	s->same = s->keep || !attr->sched_saakm_policy;
	s->id = s->same ? READ_ONCE(p->saakm.id) : attr->sched_saakm_policy;
	s->param = s->same ? READ_ONCE(p->saakm.param) : attr->sched_saakm_param;
	policy = saakm_find_target(s, p);
	if (IS_ERR_OR_NULL(policy))
		return PTR_ERR_OR_ZERO(policy);
	s->held = policy;
	ret = saakm_may_join(s, policy, p, attr, user);
	if (ret)
		return ret;
	if (unlikely(!READ_ONCE(policy->used_once)))
		saakm_use(policy);
	s->target = policy;
	if (READ_ONCE(p->saakm.policy) == policy)
		return 0;
	ret = saakm_alloc_data(policy, &s->data);
	if (!ret && unlikely(policy->own->process_size))
		ret = saakm_alloc_process(policy, 0, &s->process);
	return ret;
}

/* Holds the policy until saakm_setsched_done(). */
int __saakm_setsched_prepare(struct saakm_setsched *s, struct task_struct *p,
			     const struct sched_attr *attr, int policy, bool user)
{
	if (unlikely(s->used)) {
		__saakm_setsched_done(s);
		*s = (struct saakm_setsched) {};
	}
	if (!saakm_sched_policy(policy))
		return 0;

	might_sleep();
	s->used = true;
	s->keep = (int)attr->sched_policy < 0;
	s->by_cgroup = !user;
	s->home = !user && fair_policy(p->policy) && !saakm_sched_policy(p->policy) ?
		p->policy : -1;
	return saakm_setsched_target(s, p, attr, user);
}

int __saakm_setsched_check(struct saakm_setsched *s, struct task_struct *p)
{
	struct saakm_policy *target = s->target;

	if (s->keep && p->saakm.policy != target)
		return -EAGAIN;
	if (!target)
		return 0;
	if (p->saakm.policy != target && (READ_ONCE(target->dying) || READ_ONCE(target->successor)))
		return -EAGAIN;
	/* A dead thread will not pass saakm_task_dead() again. */
	if (READ_ONCE(p->__state) == TASK_DEAD)
		return -ESRCH;
	if ((s->same && (p->saakm.id != s->id || p->saakm.param != s->param)) ||
	    (p->saakm.policy != target && ((target->own->task_size && !s->data) ||
					   (target->own->process_size && !s->process))))
		return -EAGAIN;
	return 0;
}

static noinline void saakm_setparam(const struct saakm_setsched *s, struct task_struct *p,
				    const struct saakm_module_routines *ops,
				    const struct sched_attr *attr)
{
	struct sched_attr full = *attr;

	full.sched_saakm_policy = s->target->own->id;
	full.sched_saakm_param = s->param;
	saakm_enter(p, SAAKM_H_setparam_attr);
	ops->setparam_attr(&p->saakm.event, &full);
	saakm_leave();
}

void __saakm_setsched_apply(struct saakm_setsched *s, struct rq *rq,
			    struct task_struct *p, const struct sched_attr *attr)
{
	struct saakm_task *st = &p->saakm;
	struct saakm_policy *target = s->target;
	const struct saakm_module_routines *ops;
	bool came = st->policy && st->policy != target;
	int home;

	if (!target) {
		if (came)
			s->old = saakm_detach(rq, p);
		return;
	}
	home = st->by_cgroup ? st->home : SCHED_NORMAL;
	if (st->policy != target) {
		/* In none it is at no moment: execve() and others look without the lock. */
		if (came)
			s->old = saakm_leave_policy(rq, p);
		saakm_set_membership(p, target, s->data, s->process);
		s->data = NULL;
		s->process = NULL;
		saakm_list_member(p);
	} else if (!s->keep) {
		saakm_list_child(p);
	}
	if (s->keep)
		return;
	st->by_cgroup = s->by_cgroup;
	st->home = s->home >= 0 ? s->home : home;
	st->param = s->param;
	ops = READ_ONCE(target->ops);
	if (ops->setparam_attr)
		saakm_setparam(s, p, ops, attr);
	if (came)	/* not before: a handler may overwrite the flags */
		st->event.flags |= SAAKM_EV_CAME;
}

void __saakm_setsched_done(struct saakm_setsched *s)
{
	saakm_free_data(s->old);
	if (unlikely(s->data))
		kfree(s->data);
	if (unlikely(s->process))
		kfree(s->process);
	if (s->held)
		saakm_put(s->held);
}

/* Under the lock @p stays in its policy, and keeps its data. */
void saakm_getattr(struct task_struct *p, struct sched_attr *attr)
{
	struct saakm_policy *policy;
	const struct saakm_module_routines *ops;

	if (!READ_ONCE(p->saakm.policy))
		return;
	CLASS(task_rq_lock, guard)(p);
	policy = p->saakm.policy;
	if (!policy)
		return;
	update_rq_clock(guard.rq);
	saakm_list_child(p);
	attr->sched_saakm_policy = policy->own->id;
	attr->sched_saakm_param = p->saakm.param;
	ops = READ_ONCE(policy->ops);
	if (ops->getparam_attr) {
		saakm_enter(p, SAAKM_H_getparam_attr);
		ops->getparam_attr(&p->saakm.event, attr);
		saakm_leave();
	}
}

/* Fork and exit */

/*
 * The child's struct saakm_task is a copy, made without locks, of what the
 * parent was at some moment, or at several: it is only of use where the parent has
 * never been in a policy. A policy that is going away takes no children.
 */
int saakm_fork(struct task_struct *p)
{
	const struct saakm_task *parent = &current->saakm;
	struct saakm_task *st = &p->saakm;
	struct saakm_policy *policy;
	struct saakm_process *process;
	struct saakm_data *data;
	bool by_cgroup = false;
	u32 id = 0, param = 0;
	u8 home = 0;
	int ret;

	/* All else of it is zero. The parent may be joining. */
	st->holds_lock = false;
	if (likely(!st->policy && !st->id && !st->process && !saakm_sched_policy(p->policy)))
		return 0;
	memset(st, 0, sizeof(*st));
	if (!saakm_sched_policy(p->policy))
		return 0;

	percpu_down_read(&saakm_fork_rwsem);
	scoped_guard(task_rq_lock, current) {
		id = parent->policy ? parent->id : 0;
		param = parent->param;
		by_cgroup = READ_ONCE(parent->by_cgroup);
		/* It may have been sent back a moment ago. */
		home = parent->policy ? parent->home :
			fair_policy(current->policy) && !saakm_sched_policy(current->policy) ?
			current->policy : SCHED_NORMAL;
	}
	scoped_guard(rcu)
		policy = saakm_joinable(id);
	if (!policy || READ_ONCE(policy->dying)) {
		percpu_up_read(&saakm_fork_rwsem);
		p->policy = by_cgroup || !id ? home : SCHED_NORMAL;
		set_load_weight(p, false);
		return 0;
	}
	ret = saakm_alloc_data(policy, &data);
	if (!ret)
		ret = saakm_alloc_process(policy, 0, &process);
	if (ret) {
		kfree(data);
		percpu_up_read(&saakm_fork_rwsem);
		return ret;
	}
	saakm_set_membership(p, policy, data, process);
	INIT_LIST_HEAD(&st->policy_node);	/* until saakm_list_child() */
	st->event.flags = SAAKM_EV_FORK;
	st->param = param;
	st->by_cgroup = by_cgroup;
	st->home = home;
	st->forking = true;
	return 0;
}

/*
 * Its parent may have come to a cgroup since saakm_fork(): its own choice does not count any
 * more. From here on neither changes cgroups before the child is born, and nobody can have
 * given the child a policy yet.
 */
static void task_fork_saakm(struct task_struct *p)
{
	if (READ_ONCE(current->saakm.by_cgroup))
		p->saakm.by_cgroup = true;
}

/* The child will not be; nobody has seen it. */
void saakm_cancel_fork(struct task_struct *p)
{
	if (!p->saakm.forking)
		return;
	kfree(p->saakm.data);
	kfree(p->saakm.process);
	memset(&p->saakm, 0, sizeof(p->saakm));
	percpu_up_read(&saakm_fork_rwsem);
}

/* Others can see the child already, and may have changed its policy. */
void saakm_post_fork(struct task_struct *p)
{
	if (!p->saakm.forking)
		return;
	scoped_guard(task_rq_lock, p) {
		saakm_list_child(p);
		p->saakm.forking = false;
	}
	percpu_up_read(&saakm_fork_rwsem);
}

/* execve() has succeeded: current is another program. */
void saakm_execve(void)
{
	struct saakm_policy *policy;

	scoped_guard(rcu) {
		policy = READ_ONCE(current->saakm.policy);
		if (likely(!policy || !READ_ONCE(policy->ops)->exec))
			return;
	}
	CLASS(task_rq_lock, guard)(current);
	policy = current->saakm.policy;
	if (!policy || current->saakm.state == SAAKM_NOT_QUEUED)
		return;
	update_rq_clock(guard.rq);
	if (current->saakm.on_rq)
		saakm_charge(guard.rq, current);
	saakm_thread_event(guard.rq, current, SAAKM_H_exec, READ_ONCE(policy->ops)->exec);
}

/* After the last switch away from @p, in whatever class it died. */
void saakm_task_dead(struct task_struct *p)
{
	struct saakm_data *data = NULL;
	struct rq_flags rf;
	struct rq *rq;

	/* It is in none, and has been in none. */
	if (!READ_ONCE(p->saakm.id))
		return;
	/* Who hands it over to another one ends before this, or sees that it has left. */
	rq = task_rq_lock(p, &rf);
	if (p->saakm.policy) {
		update_rq_clock(rq);
		data = saakm_detach(rq, p);
	}
	task_rq_unlock(rq, p, &rf);
	saakm_free_data(data);
}
