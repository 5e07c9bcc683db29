/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The runqueue and what the scheduler core offers to its classes, under the name of the
 * kernel's kernel/sched/sched.h. The class includes it as "../sched.h".
 */
#ifndef _KERNEL_SCHED_SCHED_H
#define _KERNEL_SCHED_SCHED_H

#include <linux/cgroup.h>
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/jump_label.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <sim/host.h>

struct rq;
struct rq_flags;

#define TASK_ON_RQ_QUEUED	1
#define TASK_ON_RQ_MIGRATING	2

#define NICE_0_LOAD		(1UL << 20)
#define SCHED_FIXEDPOINT_SHIFT	10
#define WEIGHT_IDLEPRIO		3
#define WMULT_IDLEPRIO		1431655765
#define RUNTIME_INF		((u64)~0ULL)
#define BW_SHIFT		20

/* As on 64-bit machines. */
#define scale_load(w)		((w) << SCHED_FIXEDPOINT_SHIFT)
#define scale_load_down(w)					\
({								\
	unsigned long __w = (w);				\
	if (__w)						\
		__w = max(2UL, __w >> SCHED_FIXEDPOINT_SHIFT);	\
	__w;							\
})

static inline unsigned long sched_weight_from_cgroup(unsigned long cgrp_weight)
{
	return DIV_ROUND_CLOSEST_ULL(cgrp_weight * 1024, CGROUP_WEIGHT_DFL);
}

static inline unsigned long sched_weight_to_cgroup(unsigned long weight)
{
	return clamp_t(unsigned long, DIV_ROUND_CLOSEST_ULL(weight * CGROUP_WEIGHT_DFL, 1024),
		       CGROUP_WEIGHT_MIN, CGROUP_WEIGHT_MAX);
}

static inline int idle_policy(int policy)
{
	return policy == SCHED_IDLE;
}

static inline int normal_policy(int policy)
{
	return policy == SCHED_NORMAL || policy == SCHED_EXT || policy == SCHED_SAAKM;
}

static inline int fair_policy(int policy)
{
	return normal_policy(policy) || policy == SCHED_BATCH;
}

static inline int rt_policy(int policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

static inline int dl_policy(int policy)
{
	return policy == SCHED_DEADLINE;
}

static inline bool valid_policy(int policy)
{
	return idle_policy(policy) || fair_policy(policy) || rt_policy(policy);
}

/* Groups: sim/core/group.c */

struct task_group {
	struct cgroup_subsys_state css;
	u32			saakm_policy;	/* id; 0: the parent's */
	u64			saakm_inverse;	/* of its weight; 0: 1.0 */
	unsigned long		shares;		/* to be shown; fair does not go by it */
	int			idle;
	struct task_group	*parent;
	struct list_head	list;
	struct list_head	threads;	/* model: of the group itself, by css_set_lock */
};

extern struct list_head task_groups;
extern struct task_group root_task_group;

static inline struct task_group *task_group(struct task_struct *p)
{
	return p->sched_task_group;
}

/* Deadline servers: server.c. */

struct sched_dl_entity {
	struct rb_node		rb_node;
	u64			dl_runtime, dl_deadline, dl_period;
	u64			dl_bw, dl_density;
	s64			runtime;
	u64			deadline;
	unsigned int		flags;
	unsigned int		dl_throttled		: 1;
	unsigned int		dl_yielded		: 1;
	unsigned int		dl_non_contending	: 1;
	unsigned int		dl_overrun		: 1;
	unsigned int		dl_server		: 1;
	unsigned int		dl_server_active	: 1;
	unsigned int		dl_defer		: 1;
	unsigned int		dl_defer_armed		: 1;
	unsigned int		dl_defer_running	: 1;
	struct hrtimer		dl_timer;
	struct hrtimer		inactive_timer;
	struct rq		*rq;
	dl_server_pick_f	server_pick_task;
};

struct dl_rq {
	unsigned int		dl_nr_running;
	struct rb_root_cached	root;
	u64			this_bw, running_bw;
};

struct dl_bw {
	raw_spinlock_t		lock;
	u64			bw, total_bw;
};

#define dl_server(dl_se)	((dl_se)->dl_server)
#define dl_server_active(dl_se)	((dl_se)->dl_server_active)

void init_dl_entity(struct sched_dl_entity *dl_se);
void dl_server_init(struct sched_dl_entity *dl_se, struct rq *rq, dl_server_pick_f pick_task);
void dl_server_start(struct sched_dl_entity *dl_se);
void dl_server_stop(struct sched_dl_entity *dl_se);
void dl_server_update(struct sched_dl_entity *dl_se, s64 delta_exec);
void dl_server_update_idle_time(struct rq *rq, struct task_struct *p);
int dl_server_apply_params(struct sched_dl_entity *dl_se, u64 runtime, u64 period, bool init);
void __dl_server_attach_root(struct sched_dl_entity *dl_se, struct rq *rq);
void fair_server_init(struct rq *rq);

/* Queues of the other classes. */

struct cfs_rq {
	unsigned int		h_nr_queued, h_nr_delayed;
	u64			min_vruntime;
	struct rb_root_cached	timeline;
};

struct rt_rq {
	unsigned int		rt_nr_running;
	DECLARE_BITMAP(bitmap, MAX_RT_PRIO);
	struct list_head	queue[MAX_RT_PRIO];
};

struct balance_callback {
	struct balance_callback	*next;
	void (*func)(struct rq *rq);
};

struct root_domain {
	struct dl_bw		dl_bw;
	struct rcu_head		rcu;
	struct cpumask		span;
};

extern struct root_domain def_root_domain;

/* Domains: domains.c */

#define SD_SHARE_CPUCAPACITY	0x0001
#define SD_CLUSTER		0x0002
#define SD_SHARE_LLC		0x0004
#define SD_NUMA			0x0008

struct sched_domain {
	struct sched_domain __rcu *parent;	/* wider, or NULL */
	struct sched_domain __rcu *child;
	int			flags;
	int			level;
	const char		*name;
	unsigned int		span_weight;
	struct rcu_head		rcu;
	struct cpumask		span;
};

#define sched_domain_span(sd)	(&(sd)->span)

extern struct mutex sched_domains_mutex;

/* Fields of SaaKM that are embedded below. */
#include "saakm/rq.h"

/*
 * What each wakeup and switch touches is in front, in as few lines of a cache as can be: see
 * sim/core/fetch.c.
 */
struct rq {
	raw_spinlock_t		__lock;
	unsigned int		nr_running;
	unsigned int		clock_update_flags;
	int			cpu;
	union {
		struct task_struct __rcu *donor;
		struct task_struct __rcu *curr;
	};
	struct task_struct	*idle;
	u64			clock, clock_task;

	/* model: see sim/core/model.h */
	struct sim_event	burst;		/* curr has computed what it had to */
	u64			burst_from_ns;	/* when curr computes, after what is charged */
	u64			charged_ns;	/* cost that the CPU has still to pay */
	bool			burst_stale;	/* curr is another one: set it anew */
	bool			nohz_kicked;	/* nohz_csd is on its way */
	bool			idle_balance;	/* nohz: this CPU idles, and may balance */
	bool			tick_stopped;
	bool			nohz_tick_stopped;	/* is in nohz.idle_cpus_mask */
	bool			online;
	bool			stop_queued;
	u64			nr_switches;

	u64			irq_ns, prev_irq_ns;	/* of interrupts; known to clock_task */
	s64			skew_ns;	/* of this CPU's clock */
	u64			idle_since_ns;
	u64			idle_stamp;
	struct balance_callback	*balance_callback;
	struct sched_dl_entity	*dl_server;	/* that has elected */
	struct task_struct	*stop;

	struct sim_event	tick;
	struct cfs_rq		cfs;

	struct dl_rq		dl;
	struct rt_rq		rt;
	struct saakm_cpu	saakm ____cacheline_aligned;

	/* the rest */
	struct sim_event	ipi;
	struct sched_dl_entity	fair_server;
	u64			idle_ns;
	unsigned int		nr_pinned;
	struct sched_domain __rcu *sd;
	struct root_domain	*rd;
	struct model_stopper	*stopper;		/* move.c */
	void			*calls;			/* ipi.c: smp calls that wait */
};

DECLARE_PER_CPU(struct rq, runqueues);

#define cpu_rq(cpu)		(&per_cpu(runqueues, (cpu)))
#define this_rq()		this_cpu_ptr(&runqueues)
#define task_rq(p)		cpu_rq(task_cpu(p))
#define cpu_curr(cpu)		(cpu_rq(cpu)->curr)
#define raw_rq()		raw_cpu_ptr(&runqueues)

static inline int cpu_of(struct rq *rq)
{
	return rq->cpu;
}

#define for_each_domain(cpu, __sd)					\
	for (__sd = rcu_dereference_check(cpu_rq(cpu)->sd, true); __sd;	\
	     __sd = rcu_dereference_check(__sd->parent, true))

/* Locks */

static inline raw_spinlock_t *rq_lockp(struct rq *rq)
{
	return &rq->__lock;
}

#define __rq_lockp(rq)		rq_lockp(rq)

static __always_inline bool __sim_rq_held(const struct rq *rq)
{
	return lockdep_is_held(&rq->__lock);
}

#define lockdep_assert_rq_held(rq)	lockdep_assert(__sim_rq_held(rq))
#ifdef SIM_REPLAY
#include "../replay/locks.h"	/* when each lock was taken is known: sim/replay/ */
#else
#define raw_spin_rq_lock_nested(rq, subclass)	raw_spin_lock_nested(&(rq)->__lock, (subclass))
#define raw_spin_rq_lock(rq)	raw_spin_lock(&(rq)->__lock)
#define raw_spin_rq_unlock(rq)	raw_spin_unlock(&(rq)->__lock)
#define raw_spin_rq_trylock(rq)	raw_spin_trylock(&(rq)->__lock)
#endif

static inline void raw_spin_rq_lock_irq(struct rq *rq)
{
	local_irq_disable();
	raw_spin_rq_lock(rq);
}

static inline void raw_spin_rq_unlock_irq(struct rq *rq)
{
	raw_spin_rq_unlock(rq);
	local_irq_enable();
}

/* Clocks. The flags are those of the kernel with CONFIG_SCHED_DEBUG. */

#define RQCF_REQ_SKIP		0x01
#define RQCF_ACT_SKIP		0x02
#define RQCF_UPDATED		0x04

struct rq_flags {
	unsigned long		flags;
	unsigned int		clock_update_flags;
};

void update_rq_clock(struct rq *rq);
s64 update_curr_common(struct rq *rq);

static inline void assert_clock_updated(struct rq *rq)
{
	WARN_ON_ONCE(rq->clock_update_flags < RQCF_ACT_SKIP);
}

static inline u64 rq_clock(struct rq *rq)
{
	lockdep_assert_rq_held(rq);
	assert_clock_updated(rq);
	return rq->clock;
}

static inline u64 rq_clock_task(struct rq *rq)
{
	lockdep_assert_rq_held(rq);
	assert_clock_updated(rq);
	return rq->clock_task;
}

static inline void rq_clock_skip_update(struct rq *rq)
{
	lockdep_assert_rq_held(rq);
	rq->clock_update_flags |= RQCF_REQ_SKIP;
}

static inline void rq_clock_cancel_skipupdate(struct rq *rq)
{
	lockdep_assert_rq_held(rq);
	rq->clock_update_flags &= ~RQCF_REQ_SKIP;
}

static inline void rq_pin_lock(struct rq *rq, struct rq_flags *rf)
{
	rq->clock_update_flags &= RQCF_REQ_SKIP | RQCF_ACT_SKIP;
	rf->clock_update_flags = 0;
}

static inline void rq_unpin_lock(struct rq *rq, struct rq_flags *rf)
{
	if (rq->clock_update_flags > RQCF_ACT_SKIP)
		rf->clock_update_flags = RQCF_UPDATED;
}

static inline void rq_repin_lock(struct rq *rq, struct rq_flags *rf)
{
	rq->clock_update_flags |= rf->clock_update_flags;
}

static inline void rq_lock(struct rq *rq, struct rq_flags *rf)
{
	raw_spin_rq_lock(rq);
	rq_pin_lock(rq, rf);
}

static inline void rq_unlock(struct rq *rq, struct rq_flags *rf)
{
	rq_unpin_lock(rq, rf);
	raw_spin_rq_unlock(rq);
}

static inline void rq_lock_irq(struct rq *rq, struct rq_flags *rf)
{
	local_irq_disable();
	rq_lock(rq, rf);
}

static inline void rq_unlock_irq(struct rq *rq, struct rq_flags *rf)
{
	rq_unlock(rq, rf);
	local_irq_enable();
}

static inline void rq_lock_irqsave(struct rq *rq, struct rq_flags *rf)
{
	local_irq_save(rf->flags);
	rq_lock(rq, rf);
}

static inline void rq_unlock_irqrestore(struct rq *rq, struct rq_flags *rf)
{
	rq_unlock(rq, rf);
	local_irq_restore(rf->flags);
}

DEFINE_LOCK_GUARD_1(rq_lock, struct rq, rq_lock(_T->lock, &_T->rf), rq_unlock(_T->lock, &_T->rf),
		    struct rq_flags rf)
DEFINE_LOCK_GUARD_1(rq_lock_irq, struct rq, rq_lock_irq(_T->lock, &_T->rf),
		    rq_unlock_irq(_T->lock, &_T->rf), struct rq_flags rf)
DEFINE_LOCK_GUARD_1(rq_lock_irqsave, struct rq, rq_lock_irqsave(_T->lock, &_T->rf),
		    rq_unlock_irqrestore(_T->lock, &_T->rf), struct rq_flags rf)

struct rq *__task_rq_lock(struct task_struct *p, struct rq_flags *rf);
struct rq *task_rq_lock(struct task_struct *p, struct rq_flags *rf);

static inline void __task_rq_unlock(struct rq *rq, struct rq_flags *rf)
{
	rq_unpin_lock(rq, rf);
	raw_spin_rq_unlock(rq);
}

static inline void task_rq_unlock(struct rq *rq, struct task_struct *p, struct rq_flags *rf)
{
	rq_unpin_lock(rq, rf);
	raw_spin_rq_unlock(rq);
	raw_spin_unlock_irqrestore(&p->pi_lock, rf->flags);
}

DEFINE_LOCK_GUARD_1(task_rq_lock, struct task_struct, _T->rq = task_rq_lock(_T->lock, &_T->rf),
		    task_rq_unlock(_T->rq, _T->lock, &_T->rf), struct rq *rq; struct rq_flags rf)

void double_rq_lock(struct rq *rq1, struct rq *rq2);
void double_rq_unlock(struct rq *rq1, struct rq *rq2);
void double_rq_clock_clear_update(struct rq *rq1, struct rq *rq2);
/* As with CONFIG_PREEMPTION: the lock of @this_rq is dropped in any case. */
int double_lock_balance(struct rq *this_rq, struct rq *busiest);
void double_unlock_balance(struct rq *this_rq, struct rq *busiest);

/* Classes */

#define WF_EXEC			0x02
#define WF_FORK			0x04
#define WF_TTWU			0x08
#define WF_SYNC			0x10
#define WF_MIGRATED		0x20
#define WF_CURRENT_CPU		0x40
#define WF_RQ_SELECTED		0x80

#define DEQUEUE_SLEEP		0x01
#define DEQUEUE_SAVE		0x02
#define DEQUEUE_MOVE		0x04
#define DEQUEUE_NOCLOCK		0x08
#define DEQUEUE_SPECIAL		0x10
#define DEQUEUE_MIGRATING	0x100
#define DEQUEUE_DELAYED		0x200

#define ENQUEUE_WAKEUP		0x01
#define ENQUEUE_RESTORE		0x02
#define ENQUEUE_MOVE		0x04
#define ENQUEUE_NOCLOCK		0x08
#define ENQUEUE_HEAD		0x10
#define ENQUEUE_REPLENISH	0x20
#define ENQUEUE_MIGRATED	0x40
#define ENQUEUE_INITIAL		0x80
#define ENQUEUE_MIGRATING	0x100
#define ENQUEUE_DELAYED		0x200
#define ENQUEUE_RQ_SELECTED	0x400

#define SCA_CHECK		0x01
#define SCA_MIGRATE_DISABLE	0x02
#define SCA_MIGRATE_ENABLE	0x04

struct affinity_context {
	const struct cpumask	*new_mask;
	unsigned int		flags;
};

struct sched_class {
	void (*enqueue_task)(struct rq *rq, struct task_struct *p, int flags);
	bool (*dequeue_task)(struct rq *rq, struct task_struct *p, int flags);
	void (*yield_task)(struct rq *rq);
	void (*wakeup_preempt)(struct rq *rq, struct task_struct *p, int flags);
	int (*balance)(struct rq *rq, struct task_struct *prev, struct rq_flags *rf);
	struct task_struct *(*pick_task)(struct rq *rq);
	struct task_struct *(*pick_next_task)(struct rq *rq, struct task_struct *prev);
	void (*put_prev_task)(struct rq *rq, struct task_struct *p, struct task_struct *next);
	void (*set_next_task)(struct rq *rq, struct task_struct *p, bool first);
	int (*select_task_rq)(struct task_struct *p, int task_cpu, int flags);
	void (*migrate_task_rq)(struct task_struct *p, int new_cpu);
	void (*task_woken)(struct rq *this_rq, struct task_struct *task);
	void (*set_cpus_allowed)(struct task_struct *p, struct affinity_context *ctx);
	void (*rq_online)(struct rq *rq);
	void (*rq_offline)(struct rq *rq);
	void (*task_tick)(struct rq *rq, struct task_struct *p, int queued);
	void (*task_fork)(struct task_struct *p);
	void (*task_dead)(struct task_struct *p);
	void (*switching_to)(struct rq *this_rq, struct task_struct *task);
	void (*switched_from)(struct rq *this_rq, struct task_struct *task);
	void (*switched_to)(struct rq *this_rq, struct task_struct *task);
	void (*reweight_task)(struct rq *this_rq, struct task_struct *task,
			      const struct load_weight *lw);
	void (*prio_changed)(struct rq *this_rq, struct task_struct *task, int oldprio);
	unsigned int (*get_rr_interval)(struct rq *rq, struct task_struct *task);
	void (*update_curr)(struct rq *rq);
};

/* sim/order.ld puts them into their order: stop, dl, rt, fair, saakm, idle. */
#define DEFINE_SCHED_CLASS(name)					\
const struct sched_class name##_sched_class				\
	__aligned(__alignof__(struct sched_class))			\
	__section("__" #name "_sched_class")

extern struct sched_class __sched_class_highest[];
extern struct sched_class __sched_class_lowest[];

#define for_class_range(class, _from, _to) \
	for (class = (_from); class < (_to); class++)
#define for_each_class(class) \
	for_class_range(class, __sched_class_highest, __sched_class_lowest)

extern const struct sched_class stop_sched_class;
extern const struct sched_class dl_sched_class;
extern const struct sched_class rt_sched_class;
extern const struct sched_class fair_sched_class;
extern const struct sched_class idle_sched_class;

#define sched_class_above(_a, _b)	((_a) < (_b))

#include <sim/handler.h>
#include "saakm/hooks.h"

static inline int task_current(struct rq *rq, struct task_struct *p)
{
	return rq->curr == p;
}

static inline int task_current_donor(struct rq *rq, struct task_struct *p)
{
	return rq->donor == p;
}

static inline int task_on_cpu(struct rq *rq, struct task_struct *p)
{
	return READ_ONCE(p->on_cpu);
}

static inline int task_on_rq_queued(const struct task_struct *p)
{
	return READ_ONCE(p->on_rq) == TASK_ON_RQ_QUEUED;
}

static inline int task_on_rq_migrating(const struct task_struct *p)
{
	return READ_ONCE(p->on_rq) == TASK_ON_RQ_MIGRATING;
}

static inline bool is_migration_disabled(const struct task_struct *p)
{
	return p->migration_disabled;
}

static inline void put_prev_task(struct rq *rq, struct task_struct *prev)
{
	WARN_ON_ONCE(rq->donor != prev);
	prev->sched_class->put_prev_task(rq, prev, NULL);
}

static inline void set_next_task(struct rq *rq, struct task_struct *next)
{
	next->sched_class->set_next_task(rq, next, false);
}

static inline void add_nr_running(struct rq *rq, unsigned int count)
{
	if (!rq->nr_running && rq->curr == rq->idle)
		__cpumask_clear_cpu(rq->cpu, &model_idle_mask);
	rq->nr_running += count;
}

static inline void sub_nr_running(struct rq *rq, unsigned int count)
{
	rq->nr_running -= count;
	if (!rq->nr_running && rq->curr == rq->idle)
		__cpumask_set_cpu(rq->cpu, &model_idle_mask);
}

void resched_curr(struct rq *rq);
void resched_cpu(int cpu);
void enqueue_task(struct rq *rq, struct task_struct *p, int flags);
bool dequeue_task(struct rq *rq, struct task_struct *p, int flags);
void activate_task(struct rq *rq, struct task_struct *p, int flags);
/* kernel/sched/sched.h: from here on a wakeup may take @p elsewhere. */
static inline void __block_task(struct rq *rq, struct task_struct *p)
{
	smp_store_release(&p->on_rq, 0);
}

void deactivate_task(struct rq *rq, struct task_struct *p, int flags);
void wakeup_preempt(struct rq *rq, struct task_struct *p, int flags);
void set_task_cpu(struct task_struct *p, unsigned int cpu);
void set_cpus_allowed_common(struct task_struct *p, struct affinity_context *ctx);
void set_load_weight(struct task_struct *p, bool update_load);
const struct sched_class *__setscheduler_class(int policy, int prio);
void check_class_changing(struct rq *rq, struct task_struct *p,
			  const struct sched_class *prev_class);
void check_class_changed(struct rq *rq, struct task_struct *p,
			 const struct sched_class *prev_class, int oldprio);
void sched_move_task(struct task_struct *tsk, bool for_autogroup);

extern const int sched_prio_to_weight[40];
extern const u32 sched_prio_to_wmult[40];

struct sched_enq_and_set_ctx {
	struct task_struct	*p;
	int			queue_flags;
	bool			queued;
	bool			running;
};

void sched_deq_and_put_task(struct task_struct *p, int queue_flags,
			    struct sched_enq_and_set_ctx *ctx);
void sched_enq_and_set_task(struct sched_enq_and_set_ctx *ctx);

#endif /* _KERNEL_SCHED_SCHED_H */
