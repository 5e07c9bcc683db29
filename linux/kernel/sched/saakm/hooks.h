/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the scheduler core calls in SaaKM beside the sched_class callbacks.
 * Where a hook is on a hot path its caller tests saakm_enabled() first, which
 * is false while no policy is loaded; without CONFIG_SCHED_CLASS_SAAKM it is a
 * constant and the compiler drops the call.
 */
#ifndef _KERNEL_SCHED_SAAKM_HOOKS_H
#define _KERNEL_SCHED_SAAKM_HOOKS_H

extern const struct sched_class saakm_sched_class;

static inline bool saakm_sched_policy(int policy)
{
	return IS_ENABLED(CONFIG_SCHED_CLASS_SAAKM) && policy == SCHED_SAAKM;
}

static inline bool task_on_saakm(const struct task_struct *p)
{
	return IS_ENABLED(CONFIG_SCHED_CLASS_SAAKM) && p->sched_class == &saakm_sched_class;
}

/* State of one __sched_setscheduler() call. */
struct saakm_setsched {
	struct saakm_policy	*target;	/* to be in afterwards, or NULL */
	struct saakm_data	*data;		/* for joining @target */
	struct saakm_process	*process;	/* likewise */
	struct saakm_data	*old;		/* to free */
	struct saakm_policy	*held;		/* so that it stays: saakm_get() */
	u32			id, param;	/* of sched_attr, or as @p had them */
	bool			used;		/* the new policy is SCHED_SAAKM */
	bool			keep;		/* SETPARAM_POLICY */
	bool			same;		/* @keep, or none is named */
	bool			by_cgroup;
	int			home;		/* by_cgroup: SCHED_* to come back to, or -1 */
};

/* With saakm_enabled() only */
bool __saakm_newly_idle(struct rq *rq, struct rq_flags *rf);
void __saakm_refill(struct rq *rq, struct rq_flags *rf);
struct task_struct *saakm_pick_shared(struct rq *rq);
struct task_struct *saakm_pick_task(struct rq *rq);
void __saakm_goes_on(struct rq *rq, struct task_struct *p);
bool saakm_prio_less(const struct task_struct *a, const struct task_struct *b);
bool saakm_can_stop_tick(struct rq *rq);
void saakm_trigger_balance(struct rq *rq);
void saakm_nohz_kick(struct rq *rq);
void saakm_count_kicks_anew(struct rq *rq);
void __saakm_enter_idle(struct rq *rq);
void saakm_exit_idle(struct rq *rq, struct task_struct *idle);
void __saakm_note_forced_idle(struct rq *rq, bool forced);

#ifdef CONFIG_SCHED_CLASS_SAAKM

#include "context.h"

DECLARE_STATIC_KEY_FALSE(__saakm_enabled);
#define saakm_enabled()		static_branch_unlikely(&__saakm_enabled)

/* On while a policy with a shared queue, or a handler `refill`, has threads. */
DECLARE_STATIC_KEY_FALSE(saakm_refilling);

/*
 * Only our threads are runnable here and the previous one is not above us: no
 * need to ask the other classes.
 */
static inline bool saakm_alone(struct rq *rq)
{
	return saakm_enabled() && rq->saakm.nr_running &&
	       rq->nr_running == rq->saakm.nr_running &&
	       !sched_class_above(rq->donor->sched_class, &saakm_sched_class);
}

static inline struct task_struct *saakm_pick_alone(struct rq *rq, struct rq_flags *rf)
{
	struct task_struct *p;

	if (!saakm_alone(rq))
		return NULL;
	if (static_branch_unlikely(&saakm_refilling)) {
		p = saakm_pick_shared(rq);
		if (p)
			return p;
		__saakm_refill(rq, rf);
		if (!saakm_alone(rq))
			return NULL;
	}
	return saakm_pick_task(rq);
}

/* Masks of the policies in use that have such handlers: idle CPUs ask no others. */
extern u64 saakm_pulling, saakm_watching_idle;

/* sched_ext has been asked, and has nobody to run here: its scheduler holds them back. */
static inline unsigned int saakm_held_by_ext(struct rq *rq)
{
#ifdef CONFIG_SCHED_CLASS_EXT
	if (scx_enabled() && !rq->scx.local_dsq.nr &&
	    !(rq->scx.flags & (SCX_RQ_BAL_KEEP | SCX_RQ_BAL_PENDING)))
		return rq->scx.nr_running;
#endif
	return 0;
}

/*
 * No thread of a class above is runnable, whatever nr_running says: it counts fair threads
 * that sleep until they are elected (delayed dequeue), and deadline servers until they find
 * nobody.
 */
static inline bool saakm_nothing_above(struct rq *rq)
{
	unsigned int others = rq->nr_running - rq->saakm.nr_running;

	return !others ||
	       others == saakm_held_by_ext(rq) + rq->cfs.h_nr_delayed +
			 !RB_EMPTY_NODE(&rq->fair_server.rb_node) +
			 !RB_EMPTY_NODE(&rq->saakm.server.rb_node);
}

/*
 * Before each election. The lock of @rq may be dropped meanwhile. Behind a class above a
 * thread would be out of reach for the cores that share its queue.
 */
static inline void saakm_refill(struct rq *rq, struct rq_flags *rf)
{
	if (static_branch_unlikely(&saakm_refilling) && saakm_nothing_above(rq))
		__saakm_refill(rq, rf);
}

static inline bool saakm_nothing_to_run(struct rq *rq)
{
	return !rq->saakm.nr_running && saakm_nothing_above(rq);
}

/*
 * The core is about to idle. Called where the runqueue lock may be dropped;
 * true if there is something to run now.
 */
static inline bool saakm_newly_idle(struct rq *rq, struct rq_flags *rf)
{
	rq->saakm.kicked = false;
	saakm_refill(rq, rf);
	if (!saakm_nothing_to_run(rq))
		return true;
	return READ_ONCE(saakm_pulling) && __saakm_newly_idle(rq, rf);
}

/* A class above ended the balancing, although it has nobody to run. */
static inline void saakm_balance_late(struct rq *rq, struct rq_flags *rf)
{
	if (!saakm_nothing_above(rq))
		return;
	if (rq->saakm.nr_running)
		saakm_refill(rq, rf);
	else
		saakm_newly_idle(rq, rf);
}

static inline void saakm_enter_idle(struct rq *rq)
{
	rq->saakm.idle_since_ns = rq_clock_task(rq);
	if (READ_ONCE(saakm_watching_idle))
		__saakm_enter_idle(rq);
	if (rq->saakm.kicks)
		saakm_count_kicks_anew(rq);
}

/* Core scheduling has chosen for @rq. @forced: to idle, although it has somebody to run. */
static inline void saakm_note_forced_idle(struct rq *rq, bool forced)
{
	if (saakm_enabled() && (forced || rq->saakm.forced_idle))
		__saakm_note_forced_idle(rq, forced);
}

/* Policies must be asked although nothing is runnable: saakm_kick(). */
static inline bool saakm_kicked(struct rq *rq)
{
	return saakm_enabled() && rq->saakm.kicked;
}

/* How a thread that stays runnable left the CPU: struct saakm_task.in_kernel */
enum saakm_preempted {
	SAAKM_NOT_PREEMPTED,		/* it was on its way to user mode, or yielded */
	SAAKM_PREEMPTED,		/* in the kernel: it may hold locks, or block RCU */
	SAAKM_PREEMPTED_LISTED,		/* and is in rq->saakm.preempted */
	SAAKM_FORCED_TURN,		/* it has the CPU again: see floor.c */
};

/* The current thread is about to be preempted in the kernel. */
static inline void saakm_note_preemption(void)
{
	if (saakm_enabled() && task_on_saakm(current))
		WRITE_ONCE(current->saakm.in_kernel, SAAKM_PREEMPTED);
}

/* After the election: a handler may have slept, with @prev as current. */
static inline void saakm_elected(struct task_struct *prev)
{
	if (saakm_enabled() && unlikely(raw_cpu_read(saakm_context.slept)))
		saakm_restore_state(prev);
}

/* @prev has been elected again: its marks end here, set_next_task is not called. */
static inline void saakm_goes_on(struct rq *rq, struct task_struct *prev)
{
	if (saakm_enabled() && task_on_saakm(prev))
		__saakm_goes_on(rq, prev);
}

/* @prev blocks. A handler that sleeps would overwrite its state. */
static inline void saakm_note_state(struct task_struct *prev, unsigned int state)
{
	if (!saakm_enabled())
		return;
	__this_cpu_write(saakm_context.blocks, prev);
	__this_cpu_write(saakm_context.state, state);
}

/* Policies are loaded, whether they are in use or not. */
void saakm_rq_activate(struct rq *rq);
void saakm_rq_deactivate(struct rq *rq);
void saakm_init_rq(struct rq *rq);
u64 saakm_server_bw(const struct cpumask *cpus);
void saakm_server_attach_root(struct rq *rq);
void saakm_update_topology(void);
int saakm_fork(struct task_struct *p);
void saakm_cancel_fork(struct task_struct *p);
void saakm_post_fork(struct task_struct *p);
void saakm_task_dead(struct task_struct *p);
int __saakm_setsched_prepare(struct saakm_setsched *s, struct task_struct *p,
			     const struct sched_attr *attr, int policy, bool user);
int __saakm_setsched_check(struct saakm_setsched *s, struct task_struct *p);
void __saakm_setsched_apply(struct saakm_setsched *s, struct rq *rq,
			    struct task_struct *p, const struct sched_attr *attr);
void __saakm_setsched_done(struct saakm_setsched *s);
void saakm_getattr(struct task_struct *p, struct sched_attr *attr);

/* Before any lock is taken. May be called again for another try. */
static inline int saakm_setsched_prepare(struct saakm_setsched *s, struct task_struct *p,
					 const struct sched_attr *attr, int policy, bool user)
{
	if (!s->used && !saakm_sched_policy(policy))
		return 0;
	return __saakm_setsched_prepare(s, p, attr, policy, user);
}

/* With the locks: -EAGAIN if @p has changed its policy since, or the target has. */
static inline int saakm_setsched_check(struct saakm_setsched *s, struct task_struct *p)
{
	return s->used ? __saakm_setsched_check(s, p) : 0;
}

/* Is @p about to leave its policy for another one of the class? */
static inline bool saakm_setsched_leaves(const struct saakm_setsched *s,
					 const struct task_struct *p)
{
	return s->used && p->saakm.policy != s->target;
}

/* @p is dequeued and has its new parameters, p->policy among them. */
static inline void saakm_setsched_apply(struct saakm_setsched *s, struct rq *rq,
					struct task_struct *p, const struct sched_attr *attr)
{
	if (s->used || p->saakm.policy)
		__saakm_setsched_apply(s, rq, p, attr);
}

static inline void saakm_setsched_done(struct saakm_setsched *s)
{
	if (s->used || s->old)
		__saakm_setsched_done(s);
}

#ifdef CONFIG_CGROUP_SCHED
void saakm_cgroup_attach(struct task_struct *p);
void saakm_cgroup_fork(struct task_struct *p);
void saakm_cgroup_online(struct cgroup_subsys_state *css);
void saakm_cgroup_weight(struct cgroup_subsys_state *css);
int saakm_cgroup_show(struct seq_file *m, void *v);
ssize_t saakm_cgroup_write(struct kernfs_open_file *of, char *buf, size_t nbytes, loff_t off);
#endif

#else /* !CONFIG_SCHED_CLASS_SAAKM */

#define saakm_enabled()		false

static inline bool saakm_sleeps_in_handler(void) { return false; }
static inline bool saakm_ticks_in_handler(void) { return false; }
static inline struct task_struct *saakm_pick_alone(struct rq *rq, struct rq_flags *rf)
{ return NULL; }
static inline void saakm_refill(struct rq *rq, struct rq_flags *rf) { }
static inline bool saakm_nothing_to_run(struct rq *rq) { return false; }
static inline bool saakm_newly_idle(struct rq *rq, struct rq_flags *rf) { return false; }
static inline void saakm_balance_late(struct rq *rq, struct rq_flags *rf) { }
static inline void saakm_enter_idle(struct rq *rq) { }
static inline void saakm_note_forced_idle(struct rq *rq, bool forced) { }
static inline bool saakm_kicked(struct rq *rq) { return false; }
static inline void saakm_elected(struct task_struct *prev) { }
static inline void saakm_goes_on(struct rq *rq, struct task_struct *prev) { }
static inline void saakm_note_state(struct task_struct *prev, unsigned int state) { }
static inline void saakm_note_preemption(void) { }
static inline void saakm_rq_activate(struct rq *rq) { }
static inline void saakm_rq_deactivate(struct rq *rq) { }
static inline void saakm_init_rq(struct rq *rq) { }
static inline u64 saakm_server_bw(const struct cpumask *cpus) { return 0; }
static inline void saakm_server_attach_root(struct rq *rq) { }
static inline void saakm_update_topology(void) { }
static inline int saakm_fork(struct task_struct *p) { return 0; }
static inline void saakm_cancel_fork(struct task_struct *p) { }
static inline void saakm_post_fork(struct task_struct *p) { }
static inline void saakm_task_dead(struct task_struct *p) { }
static inline int saakm_setsched_prepare(struct saakm_setsched *s, struct task_struct *p,
					 const struct sched_attr *attr, int policy, bool user)
{ return 0; }
static inline bool saakm_setsched_leaves(const struct saakm_setsched *s,
					 const struct task_struct *p)
{
	return false;
}

static inline int saakm_setsched_check(struct saakm_setsched *s, struct task_struct *p)
{ return 0; }
static inline void saakm_setsched_apply(struct saakm_setsched *s, struct rq *rq,
					struct task_struct *p, const struct sched_attr *attr) { }
static inline void saakm_setsched_done(struct saakm_setsched *s) { }
static inline void saakm_getattr(struct task_struct *p, struct sched_attr *attr) { }
static inline void saakm_cgroup_attach(struct task_struct *p) { }
static inline void saakm_cgroup_online(struct cgroup_subsys_state *css) { }
static inline void saakm_cgroup_weight(struct cgroup_subsys_state *css) { }

#endif /* CONFIG_SCHED_CLASS_SAAKM */

#endif /* _KERNEL_SCHED_SAAKM_HOOKS_H */
