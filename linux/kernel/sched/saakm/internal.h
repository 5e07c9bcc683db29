/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of kernel/sched/saakm/ alone. */
#ifndef _KERNEL_SCHED_SAAKM_INTERNAL_H
#define _KERNEL_SCHED_SAAKM_INTERNAL_H

#include <linux/saakm.h>
#include <linux/seq_buf.h>
#include <linux/srcu.h>
#include <linux/sysrq.h>
#include "../sched.h"

/* Per-core data of a policy: as much as alloc_percpu() gives. */
#define SAAKM_MAX_CORE_SIZE	PCPU_MIN_UNIT_SIZE

/* Per-thread data of a policy, as process_event.data points into it. */
#define SAAKM_MAX_TASK_SIZE	(2 * PAGE_SIZE)

struct saakm_data {
	union {
		struct rcu_head		rcu;
		struct llist_node	node;	/* saakm_exit.data */
	};
	u8		bytes[] __aligned(8);
};

/*
 * What the class relies on, out of a policy's reach: copies of what its author
 * wrote into struct saakm_policy, made when it is loaded.
 */
struct saakm_own {
	struct saakm_module_routines	routines;
	struct saakm_module_routines	leaving;	/* while it is unloaded */
	char				name[SAAKM_NAME_LEN];
	struct module			*owner;
	u64				mask;		/* bit in rq->saakm.active */
	u32				id;
	int				priority;
	enum saakm_rq_type		queue;
	saakm_key_fn			key, bound;
	bool				yield_to_any;
	bool				charge_late;
	bool				refill_always;
	bool				refills;	/* shares queues, or has a handler */
	bool				refused;	/* by itself, in last_error */
	struct saakm_shared		*shared;
	unsigned int			task_size;
	unsigned int			process_size;
	unsigned int			flags;
	unsigned int			timeout_ms;
	unsigned int			balance_interval_ms;
	enum saakm_reaction		reaction;
	void __percpu			*core_data;
};

/* A queue that cores share: shared.c */
struct saakm_shared {
	struct saakm_rq		rq;
	raw_spinlock_t		lock;
	struct saakm_shared	*next;		/* saakm_own.shared */
	struct cpumask		cores;
	struct cpumask		idle;		/* saakm_call_for_rest() */
};

/* Behind the struct core_event that a policy sees. */
struct saakm_core {
	struct core_event	event;
	struct saakm_policy	*policy;
	unsigned int		queue;		/* own->queue, or SAAKM_RQ_SHARED */
	int			cpu;
	struct saakm_rq		*shared;	/* core->shared, or NULL */
	struct saakm_rq		*second;	/* core->second, or NULL */
	bool			picks_shared;	/* no handler refills from there, or elects */
	unsigned int		nr_runnable;
	u64			switches;
	unsigned long		next_balance;
	u64			idle_since_ns;	/* floor: when it last had the CPU */
	u64			held;		/* watchdog: samples, latest in bit 0 */
};

/* Order: events of threads, then of cores, then of policies. */
enum saakm_handler {
	SAAKM_H_none,
	SAAKM_H_new_prepare,
	SAAKM_H_new_place,
	SAAKM_H_new_end,
	SAAKM_H_unblock_prepare,
	SAAKM_H_unblock_place,
	SAAKM_H_unblock_end,
	SAAKM_H_requeue,
	SAAKM_H_block,
	SAAKM_H_block_delay,
	SAAKM_H_unblock_delayed,
	SAAKM_H_yield,
	SAAKM_H_tick,
	SAAKM_H_used,
	SAAKM_H_running,
	SAAKM_H_attr_changed,
	SAAKM_H_exec,
	SAAKM_H_terminate,
	SAAKM_H_moved,
	SAAKM_H_key,
	SAAKM_H_getparam_attr,
	SAAKM_H_wakeup_preempt,
	SAAKM_H_schedule,
	SAAKM_H_refill,
	SAAKM_H_newly_idle,
	SAAKM_H_enter_idle,
	SAAKM_H_exit_idle,
	SAAKM_H_balancing_select,
	SAAKM_H_core_entry,
	SAAKM_H_core_exit,
	SAAKM_H_setparam_attr,
	SAAKM_H_take_over,
	SAAKM_NR_HANDLERS
};

/* names.c */
extern const char * const saakm_handler_names[SAAKM_NR_HANDLERS];
extern const char * const saakm_state_names[SAAKM_NR_STATES];
extern const char * const saakm_exit_names[SAAKM_NR_EXITS];

static inline bool saakm_is_core_event(enum saakm_handler handler)
{
	return handler >= SAAKM_H_schedule && handler <= SAAKM_H_core_exit;
}

/* Its handlers hold no runqueue lock, and interrupts come in between. */
static inline bool saakm_is_balancing(enum saakm_handler handler)
{
	return handler == SAAKM_H_newly_idle || handler == SAAKM_H_balancing_select;
}

/* Its handlers hold the lock of a runqueue, and may make use of it. */
static inline bool saakm_has_lock(enum saakm_handler handler)
{
	return handler != SAAKM_H_none && handler != SAAKM_H_key &&
	       handler != SAAKM_H_new_prepare && handler != SAAKM_H_unblock_prepare &&
	       !saakm_is_balancing(handler);
}

/* On while anything of checks, logs, history and tracepoints is on. */
DECLARE_STATIC_KEY_FALSE(saakm_observed);

void saakm_observe_call(const struct saakm_policy *policy, enum saakm_handler handler,
			const struct task_struct *p, int cpu);
void saakm_observe_transition(struct task_struct *p, enum saakm_state next);

static __always_inline void saakm_enter(const struct task_struct *p, enum saakm_handler handler)
{
	__this_cpu_write(saakm_context.subject, p);
	__this_cpu_write(saakm_context.cpu, task_cpu(p));
	__this_cpu_write(saakm_context.handler, handler);
	if (static_branch_unlikely(&saakm_observed))
		saakm_observe_call(p->saakm.policy, handler, p, task_cpu(p));
}

static __always_inline void saakm_enter_core(const struct saakm_policy *policy,
					     const struct saakm_core *core,
					     enum saakm_handler handler)
{
	__this_cpu_write(saakm_context.subject, policy);
	__this_cpu_write(saakm_context.cpu, core->cpu);
	__this_cpu_write(saakm_context.handler, handler);
	if (static_branch_unlikely(&saakm_observed))
		saakm_observe_call(policy, handler, NULL, core->cpu);
}

static __always_inline void saakm_leave(void)
{
	__this_cpu_write(saakm_context.handler, SAAKM_H_none);
}

/* Call a handler about a thread or a core, if the policy has it. */
typedef void (*saakm_thread_fn)(struct process_event *event, struct core_event *core);
typedef void (*saakm_core_fn)(struct core_event *core);

static inline struct task_struct *saakm_rq_curr(struct rq *rq)
{
	return rcu_dereference_protected(rq->curr, lockdep_is_held(__rq_lockp(rq)));
}

static inline struct saakm_core *saakm_core(const struct saakm_policy *policy, int cpu)
{
	return container_of(per_cpu_ptr(policy->cores, cpu), struct saakm_core, event);
}

static __always_inline void saakm_thread_event(struct rq *rq, struct task_struct *p,
					       enum saakm_handler handler, saakm_thread_fn call)
{
	struct saakm_policy *policy = p->saakm.policy;

	if (!call)
		return;
	saakm_enter(p, handler);
	call(&p->saakm.event, &saakm_core(policy, cpu_of(rq))->event);
	saakm_leave();
}

static __always_inline void saakm_core_event(struct saakm_policy *policy, int cpu,
					     enum saakm_handler handler, saakm_core_fn call)
{
	struct saakm_core *core = saakm_core(policy, cpu);

	if (!call)
		return;
	saakm_enter_core(policy, core, handler);
	call(&core->event);
	saakm_leave();
}

/* Not event->task, nor core->id: the policy may have overwritten them. */
static inline struct task_struct *saakm_task_of(struct process_event *event)
{
	return container_of(event, struct task_struct, saakm.event);
}

/*
 * The handlers without a runqueue lock: newly_idle, balancing_select. A softirq's
 * comes in the middle of another one if that waits, which it must not.
 */
static inline void saakm_balance_event(struct saakm_policy *policy, int cpu,
				       enum saakm_handler handler, saakm_core_fn call)
{
	struct saakm_policy *outer = __this_cpu_read(saakm_context.balancer);
	bool balancing = __this_cpu_read(saakm_context.balancing);

	__this_cpu_write(saakm_context.balancer, policy);
	__this_cpu_write(saakm_context.balancing, true);
	saakm_core_event(policy, cpu, handler, call);
	__this_cpu_write(saakm_context.balancing, balancing);
	__this_cpu_write(saakm_context.balancer, outer);
}

/*
 * policy.c. The list is in order of election; changed under saakm_mutex, read
 * under RCU (preemption off).
 */
extern struct list_head saakm_policies;
extern struct mutex saakm_mutex;

#define for_each_saakm_policy(policy)					\
	list_for_each_entry_rcu(policy, &saakm_policies, node,		\
				lockdep_is_held(&saakm_mutex))

static inline bool saakm_policy_before(const struct saakm_policy *a, const struct saakm_policy *b)
{
	return a->own->priority > b->own->priority ||
	       (a->own->priority == b->own->priority && a->own->id < b->own->id);
}

/*
 * Users keep a policy's memory, and its module's. Taken where it cannot be
 * unlinked and freed meanwhile: under RCU or saakm_mutex.
 */
static inline void saakm_get(struct saakm_policy *policy)
{
	atomic_inc(&policy->users);
}

static inline void saakm_put(struct saakm_policy *policy)
{
	if (atomic_dec_and_test(&policy->users))
		wake_up_var(&policy->users);
}

/* shared.c */
extern u64 saakm_refillers;		/* masks of the policies in use that refill */

void saakm_shared_link(struct saakm_rq *srq, struct task_struct *p);
void saakm_shared_unlink(struct saakm_rq *srq, struct task_struct *p);
void saakm_shared_to_head(struct saakm_rq *srq, struct task_struct *p);
bool saakm_shared_key(struct saakm_rq *srq, u64 *key);
struct task_struct *saakm_not_refilled(struct rq *rq);
void saakm_shared_leave_idle(struct rq *rq);
void saakm_shared_recall(struct task_struct *p);

static inline struct saakm_shared *saakm_shared_of(const struct saakm_rq *srq)
{
	return container_of(srq, struct saakm_shared, rq);
}

static inline enum saakm_rq_type saakm_rq_kind(const struct saakm_rq *srq)
{
	return srq->type & ~SAAKM_RQ_SHARED;
}

/* May threads of @cpu be in @srq? */
static inline bool saakm_serves(const struct saakm_rq *srq, int cpu)
{
	return srq->type & SAAKM_RQ_SHARED ?
		cpumask_test_cpu(cpu, &saakm_shared_of(srq)->cores) : srq->cpu == cpu;
}

/* Does a thread wait for @core that may be on another one? */
static __always_inline bool saakm_shared_waits(const struct saakm_core *core)
{
	if (!static_branch_unlikely(&saakm_refilling) || !core->shared)
		return false;
	return READ_ONCE(core->shared->nr_tasks) ||
	       (core->second && READ_ONCE(core->second->nr_tasks));
}

/* idle.c */
extern struct cpumask saakm_idle_cpus;
extern u64 saakm_keeping_masks;		/* masks of the policies in use that need them */

void saakm_note_idle(int cpu, bool idle);
void saakm_begin_idle_masks(void);

/* services.c: on this CPU, or on another one where this one goes offline */
void saakm_queue_work(struct irq_work *work);

/* balance.c */
bool saakm_put_off(struct rq *rq, bool *owed);

/* class.c */
DECLARE_STATIC_KEY_FALSE(saakm_charging);	/* some policy in use has a handler `used` */
DECLARE_STATIC_KEY_FALSE(saakm_delaying);	/* likewise `block_delay` */
void saakm_use(struct saakm_policy *policy);

/* slice.c */
void saakm_slice_begin(struct rq *rq, struct task_struct *p);
void saakm_slice_contend(struct rq *rq);
void saakm_slice_cancel(struct rq *rq);
bool saakm_slice_tick(struct rq *rq, struct task_struct *p);
void saakm_slice_resume(struct rq *rq, struct task_struct *p);
void saakm_slice_init_rq(struct rq *rq);

static inline u64 saakm_slice_ns(const struct task_struct *p)
{
	return p->saakm.slice_ns ?:
		(u64)READ_ONCE(p->saakm.policy->slice_us) * NSEC_PER_USEC;
}

/* What saakm_slice_begin() does for slices that end at a tick; false: it is to be called. */
static __always_inline bool saakm_slice_begins_long(struct rq *rq, struct task_struct *p)
{
	u64 slice_ns = saakm_slice_ns(p);

	if (unlikely(slice_ns < TICK_NSEC || rq->saakm.slice))
		return false;
	p->saakm.slice_end_ns = p->se.sum_exec_runtime + slice_ns;
	return true;
}

/* CPU time until the slice of the running thread ends, or 0. Its time is up to date. */
static inline u64 saakm_slice_left(const struct task_struct *p)
{
	s64 left_ns = p->saakm.slice_end_ns - p->se.sum_exec_runtime;

	return max_t(s64, left_ns, 0);
}

/* delay.c */
struct task_struct *saakm_awake(struct rq *rq, struct task_struct *next);

/* state.c */
bool saakm_transition_allowed(enum saakm_state from, enum saakm_state to);

static __always_inline void saakm_set_state(struct rq *rq, struct task_struct *p,
					    enum saakm_state next)
{
	if (static_branch_unlikely(&saakm_observed))
		saakm_observe_transition(p, next);
	p->saakm.state = next;
	p->saakm.since_ns = rq->clock;
}

/* In process_event.flags, for the class alone: saakm_task.wait_ns counts, not since_ns. */
#define SAAKM_EV_WAITS	BIT(31)
/* Likewise: it comes from another policy, and the core sees no change of class. */
#define SAAKM_EV_CAME	BIT(30)

/* Since when has @p, which is READY, not run? */
static inline u64 saakm_wait_start(const struct task_struct *p)
{
	return p->saakm.event.flags & (SAAKM_EV_WAITS | SAAKM_EV_FORCED) ?
		p->saakm.wait_ns : p->saakm.since_ns;
}

/* error.c */
#define SAAKM_ERROR_LEN	256
extern char saakm_last_error[SAAKM_ERROR_LEN];
__printf(2, 3)
int saakm_refuse(int error, const char *fmt, ...);

#endif /* _KERNEL_SCHED_SAAKM_INTERNAL_H */
