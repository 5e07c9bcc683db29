// SPDX-License-Identifier: GPL-2.0
/* Threads begin and end: kernel/fork.c, kernel/exit.c, and what the scheduler does then. */
#include <linux/err.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/slab.h>
#include "model.h"

LIST_HEAD(model_tasks);

/* Numbers: kernel/pid.c. None is used twice. */

static struct pid **pids;
static unsigned int nr_pids = 1, room_for_pids;

static struct pid *new_pid(struct task_struct *p)
{
	struct pid *pid = sim_alloc(sizeof(*pid)), **more;

	if (nr_pids >= room_for_pids) {
		more = sim_alloc((2 * room_for_pids + 64) * sizeof(*more));
		if (pids)
			memcpy(more, pids, nr_pids * sizeof(*more));
		sim_free(pids);
		pids = more;
		room_for_pids = 2 * room_for_pids + 64;
	}
	refcount_set(&pid->count, 1);
	pid->nr = nr_pids;
	pid->task = p;
	pids[nr_pids++] = pid;
	return pid;
}

struct pid_namespace init_pid_ns;

struct pid *find_vpid(pid_t nr)
{
	return nr > 0 && nr < nr_pids ? pids[nr] : NULL;
}

struct pid *find_pid_ns(int nr, struct pid_namespace *namespace)
{
	return find_vpid(nr);
}

struct pid *find_get_pid(pid_t nr)
{
	return get_pid(find_vpid(nr));
}

struct task_struct *pid_task(struct pid *pid, enum pid_type type)
{
	return pid ? pid->task : NULL;
}

struct task_struct *get_pid_task(struct pid *pid, enum pid_type type)
{
	struct task_struct *p;

	guard(rcu)();
	p = pid_task(pid, type);
	return p ? get_task_struct(p) : NULL;
}

struct pid *get_task_pid(struct task_struct *p, enum pid_type type)
{
	return get_pid(type == PIDTYPE_TGID ? p->group_leader->thread_pid : p->thread_pid);
}

void put_pid(struct pid *pid)
{
	if (pid && refcount_dec_and_test(&pid->count))
		sim_free(pid);
}

struct task_struct *find_task_by_vpid(pid_t nr)
{
	return pid_task(find_vpid(nr), PIDTYPE_PID);
}

/* Nobody finds it any more: kernel/exit.c, __unhash_process() */
static void unhash(struct task_struct *p)
{
	struct pid *pid = p->thread_pid;

	pid->task = NULL;
	pids[pid->nr] = NULL;
	put_pid(pid);
	list_del_rcu(&p->thread_node);
	list_del_rcu(&p->tasks);
	model_group_leave(p);
}

/* Memory */

static void put_signal(struct signal_struct *signal)
{
	if (signal && refcount_dec_and_test(&signal->sigcnt))
		kfree(signal);
}

/* kernel/fork.c, __put_task_struct() */
void __put_task_struct(struct task_struct *p)
{
	struct task_struct *leader = p->group_leader;

	WARN_ON_ONCE(!(p->exit_state & EXIT_DEAD));
	put_signal(p->signal);
	if (leader != p)
		put_task_struct(leader);
	kfree(p);
}

static void delayed_put(struct rcu_head *rcu)
{
	put_task_struct(container_of(rcu, struct task_struct, rcu));
}

void put_task_struct_rcu_user(struct task_struct *p)
{
	call_rcu(&p->rcu, delayed_put);
}

/* kernel/sched/core.c, __sched_fork() */
static void __sched_fork(struct task_struct *p)
{
	p->on_rq = 0;
	p->on_cpu = 0;
	p->need_resched = 0;
	p->se.on_rq = 0;
	p->se.exec_start = 0;
	p->se.sum_exec_runtime = 0;
	p->se.prev_sum_exec_runtime = 0;
	p->se.nr_migrations = 0;
	p->se.vruntime = 0;
	RB_CLEAR_NODE(&p->se.run_node);
	INIT_LIST_HEAD(&p->rt.run_list);
	p->rt.on_rq = 0;
	p->rt.time_slice = 0;
	p->migration_disabled = 0;
	p->migration_pending = NULL;
	p->cpus_ptr = model_cpus(p);
	p->pi_top_task = NULL;
	p->nvcsw = p->nivcsw = 0;
}

/* What no child has from its parent. */
static void init_own(struct task_struct *p)
{
	raw_spin_lock_init(&p->pi_lock);
	p->in_kernel = false;
	p->in_user = false;
	p->signalled = false;
	p->per_cpu = false;
	p->going_on = false;
	p->parked = false;
	p->burst_ns = 0;
	p->strand = NULL;
	p->step = NULL;
	p->model = NULL;
	p->load_group = NULL;
	p->spins = p->yields = false;
	p->since_ns = 0;
	p->worker_private = NULL;
	p->exit_state = 0;
	p->flags &= ~(PF_EXITING | PF_IDLE | PF_KTHREAD | PF_WQ_WORKER | PF_NO_SETAFFINITY);
	refcount_set(&p->usage, 1);	/* until it is dead */
	INIT_LIST_HEAD(&p->cg_list);
}

/* kernel/fork.c, copy_process(), where it holds tasklist_lock. Here nobody comes in between. */
static void hash(struct task_struct *p)
{
	p->thread_pid = new_pid(p);
	p->pid = p->thread_pid->nr;
	list_add_tail_rcu(&p->tasks, &model_tasks);
	list_add_tail_rcu(&p->thread_node, &p->signal->thread_head);
}

/* @signal: NULL, if there was no memory for it; only of a process of its own */
static bool join_process(struct task_struct *p, struct task_struct *parent,
			 struct signal_struct *signal)
{
	if (parent) {
		p->signal = parent->signal;
		refcount_inc(&p->signal->sigcnt);
		p->group_leader = get_task_struct(parent->group_leader);
		return true;
	}
	if (!signal)
		return false;
	p->signal = signal;
	refcount_set(&p->signal->sigcnt, 1);
	INIT_LIST_HEAD(&p->signal->thread_head);
	p->group_leader = p;
	return true;
}

/* Threads that no other thread forks. Asleep, of the fair class. @leader: NULL: it is one */
static struct task_struct *new_task(const char *comm, struct task_struct *leader)
{
	struct task_struct *p = sim_alloc(sizeof(*p));

	init_own(p);
	__sched_fork(p);
	p->policy = SCHED_NORMAL;
	p->static_prio = p->normal_prio = p->prio = DEFAULT_PRIO;
	p->sched_class = &fair_sched_class;
	set_load_weight(p, false);
	cpumask_copy(&p->cpus_mask, cpu_possible_mask);
	p->cpus_ptr = model_cpus(p);
	p->nr_cpus_allowed = cpumask_weight(cpu_possible_mask);
	p->sched_task_group = &root_task_group;
	set_task_comm(p, comm);
	p->ran_on = raw_smp_processor_id();
	__set_task_cpu(p, p->ran_on);
	p->__state = TASK_UNINTERRUPTIBLE;
	/* In the kernel they are there before any allocation fails on purpose. */
	join_process(p, leader, leader ? NULL : sim_alloc(sizeof(*p->signal)));
	hash(p);
	p->tgid = p->group_leader->pid;
	model_group_join(p);
	return p;
}

/* The kernel's, and the first */
struct task_struct *model_new_task(const char *comm)
{
	return new_task(comm, NULL);
}

/* kernel/sched/core.c, init_idle(). Numbered 0, and in no list. */
struct task_struct *model_new_idle(int cpu)
{
	struct task_struct *p = sim_alloc(sizeof(*p));

	init_own(p);
	__sched_fork(p);
	p->flags = PF_IDLE | PF_KTHREAD | PF_NO_SETAFFINITY;
	p->in_kernel = true;
	p->per_cpu = true;
	p->policy = SCHED_NORMAL;
	p->static_prio = p->normal_prio = DEFAULT_PRIO;
	p->prio = MAX_PRIO;
	p->sched_class = &idle_sched_class;
	set_load_weight(p, false);
	cpumask_set_cpu(cpu, &p->cpus_mask);
	p->cpus_ptr = model_cpus(p);
	p->nr_cpus_allowed = 1;
	p->sched_task_group = &root_task_group;
	snprintf(p->comm, sizeof(p->comm), "swapper/%d", cpu);
	p->on_rq = TASK_ON_RQ_QUEUED;
	p->on_cpu = 1;
	p->group_leader = p;
	INIT_LIST_HEAD(&p->thread_node);
	__set_task_cpu(p, cpu);
	return p;
}

struct task_struct *model_kthread_new(int (*fn)(void *arg), void *arg, const char *comm)
{
	struct task_struct *p = model_new_task(comm);

	p->flags |= PF_KTHREAD;
	p->in_kernel = true;
	p->entry = fn;
	p->entry_arg = arg;
	return p;
}

struct task_struct *model_user_thread_new(int (*fn)(void *arg), void *arg, const char *comm,
					  struct task_struct *leader)
{
	struct task_struct *p = new_task(comm, leader);

	p->in_kernel = true;
	p->entry = fn;
	p->entry_arg = arg;
	return p;
}

/* Forks */

/* kernel/sched/core.c, sched_fork(): unless they shall be handed on. */
static void reset_on_fork(struct task_struct *p)
{
	if (rt_policy(p->policy) || saakm_sched_policy(p->policy)) {
		p->policy = SCHED_NORMAL;
		p->static_prio = NICE_TO_PRIO(0);
		p->rt_priority = 0;
	} else if (PRIO_TO_NICE(p->static_prio) < 0) {
		p->static_prio = NICE_TO_PRIO(0);
	}
	p->prio = p->normal_prio = p->static_prio;
	set_load_weight(p, false);
	p->sched_reset_on_fork = 0;
}

/* kernel/sched/core.c, sched_fork() */
static int sched_fork(struct task_struct *p)
{
	int ret;

	__sched_fork(p);
	p->__state = TASK_NEW;
	p->prio = current->normal_prio;
	if (unlikely(p->sched_reset_on_fork))
		reset_on_fork(p);
	ret = saakm_fork(p);
	if (ret)
		return ret;
	if (rt_prio(p->prio))
		p->sched_class = &rt_sched_class;
	else if (saakm_sched_policy(p->policy))
		p->sched_class = &saakm_sched_class;
	else
		p->sched_class = &fair_sched_class;
	return 0;
}

/* kernel/sched/core.c, sched_cgroup_fork() */
static void sched_cgroup_fork(struct task_struct *p)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&p->pi_lock, flags);
	p->sched_task_group = current->sched_task_group;
	__set_task_cpu(p, smp_processor_id());
	if (p->sched_class->task_fork)
		p->sched_class->task_fork(p);
	raw_spin_unlock_irqrestore(&p->pi_lock, flags);
}

/* kernel/sched/core.c, sched_cancel_fork() */
static void sched_cancel_fork(struct task_struct *p)
{
	saakm_cancel_fork(p);
}

/* kernel/sched/core.c, sched_post_fork() */
static void sched_post_fork(struct task_struct *p)
{
	saakm_post_fork(p);
}

/* kernel/fork.c, dup_task_struct() */
static struct task_struct *dup_task_struct(struct task_struct *parent)
{
	struct task_struct *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return NULL;
	*p = *parent;
	init_own(p);
	return p;
}

/*
 * kernel/fork.c, copy_process(), from where threads are known to others; cgroup_post_fork() puts
 * it into the list of its group, and calls cpu_cgrp_subsys.fork at last.
 */
static void publish(struct task_struct *p)
{
	hash(p);
	p->tgid = p->group_leader->pid;
	sched_post_fork(p);
	model_group_join(p);
	saakm_cgroup_fork(p);
}

/* kernel/fork.c, kernel_clone() and copy_process() */
struct task_struct *model_fork(const char *comm, bool process, struct model_thread *model)
{
	struct task_struct *p = dup_task_struct(current);
	int ret = -ENOMEM;

	if (!p)
		return ERR_PTR(-ENOMEM);
	ret = sched_fork(p);
	if (ret)
		goto free;
	if (!join_process(p, process ? NULL : current,
			  process ? kzalloc(sizeof(*p->signal), GFP_KERNEL) : NULL)) {
		ret = -ENOMEM;
		goto cancel;
	}
	if (process)
		rcu_assign_pointer(p->real_parent, current->group_leader);
	if (comm)
		set_task_comm(p, comm);
	p->step = model_load_next;
	p->model = model;
	model_group_fork_begin();
	sched_cgroup_fork(p);
	publish(p);
	model_group_fork_end();
	model_stats.forks++;
	if (unlikely(model_tracing))
		model_trace_fork(current, p);
	return get_task_struct(p);

cancel:
	sched_cancel_fork(p);
free:
	kfree(p);
	return ERR_PTR(ret);
}

/* kernel/sched/core.c, wake_up_new_task() */
void wake_up_new_task(struct task_struct *p)
{
	int wake_flags = WF_FORK;
	unsigned long flags;
	struct rq_flags rf;
	struct rq *rq;

	raw_spin_lock_irqsave(&p->pi_lock, flags);
	WRITE_ONCE(p->__state, TASK_RUNNING);
	p->recent_used_cpu = task_cpu(p);
	__set_task_cpu(p, select_task_rq(p, task_cpu(p), &wake_flags));
	rq = __task_rq_lock(p, &rf);
	update_rq_clock(rq);
	activate_task(rq, p, ENQUEUE_NOCLOCK | ENQUEUE_INITIAL);
	if (unlikely(model_tracing))
		model_trace_wakeup_new(p);
	wakeup_preempt(rq, p, wake_flags);
	if (p->model)
		model_load_woken(rq, p);
	if (p->sched_class->task_woken) {
		rq_unpin_lock(rq, &rf);
		p->sched_class->task_woken(rq, p);
		rq_repin_lock(rq, &rf);
	}
	__task_rq_unlock(rq, &rf);
	raw_spin_unlock_irqrestore(&p->pi_lock, flags);
}

/* Ends, and other programs */

/* kernel/exit.c, do_exit(), of a thread that nobody waits for; do_task_dead() */
void model_exit_begin(void)
{
	struct task_struct *p = current;

	model_charge(MODEL_COST_EXIT);
	/* exit_signals(): whoever is moved to another cgroup now is so before it exits. */
	model_group_fork_begin();
	p->flags |= PF_EXITING;
	model_group_fork_end();
	if (unlikely(model_tracing))
		model_trace_exit(p);
	model_group_exit(p);
}

void model_exit(void)
{
	struct task_struct *p = current;

	if (!(p->flags & PF_EXITING))
		model_exit_begin();
	unhash(p);
	p->exit_state = EXIT_DEAD;
	set_special_state(TASK_DEAD);
	__schedule(SM_NONE);
}

void __noreturn model_kthread_exit(int code)
{
	current->exit_code = code;
	model_exit();
	model_task_exit();
	/* The stack is lost: nobody will ask for it. */
	for (;;)
		sim_park();
}

/* fs/exec.c, bprm_execve() */
void model_exec(const char *comm)
{
	char old[TASK_COMM_LEN];

	sched_exec();
	memcpy(old, current->comm, sizeof(old));
	if (comm)
		set_task_comm(current, comm);
	if (unlikely(model_tracing))
		model_trace_exec(current, old);
	saakm_execve();
}
