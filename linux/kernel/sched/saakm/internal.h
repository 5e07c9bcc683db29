/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of kernel/sched/saakm/ alone. */
#ifndef _KERNEL_SCHED_SAAKM_INTERNAL_H
#define _KERNEL_SCHED_SAAKM_INTERNAL_H

#include <linux/saakm.h>
#include <linux/srcu.h>
#include "../sched.h"

/* Per-thread data of a policy, as process_event.data points into it. */
struct saakm_data {
	struct rcu_head	rcu;
	u8		bytes[] __aligned(8);
};

/*
 * Which handler this CPU is in: reports name it, change_state() and
 * saakm_move_task() depend on it. X(name, states it may move a thread to,
 * runqueue lock held).
 */
#define SAAKM_HANDLERS(X)						\
	X(none, 0, false)						\
	X(new_prepare, 0, true)						\
	X(new_place, BIT(SAAKM_READY), true)				\
	X(new_end, 0, true)						\
	X(unblock_prepare, 0, true)					\
	X(unblock_place, BIT(SAAKM_READY), true)			\
	X(unblock_end, 0, true)						\
	X(requeue, BIT(SAAKM_READY), true)				\
	X(block, BIT(SAAKM_BLOCKED), true)				\
	X(yield, 0, true)						\
	X(tick, BIT(SAAKM_READY_TICK), true)				\
	X(running, 0, true)						\
	X(attr_changed, 0, true)					\
	X(terminate, BIT(SAAKM_TERMINATED), true)			\
	X(wakeup_preempt, 0, true)					\
	X(schedule, 0, true)						\
	X(newly_idle, 0, false)						\
	X(enter_idle, 0, true)						\
	X(exit_idle, 0, true)						\
	X(balancing_select, 0, false)					\
	X(core_entry, 0, true)						\
	X(core_exit, 0, true)						\
	X(setparam_attr, 0, true)

enum saakm_handler {
#define X(name, states, locked) SAAKM_H_##name,
	SAAKM_HANDLERS(X)
#undef X
	SAAKM_NR_HANDLERS
};

extern const char * const saakm_handler_names[SAAKM_NR_HANDLERS];
extern const char * const saakm_state_names[SAAKM_NR_STATES];

DECLARE_PER_CPU(u8, saakm_handler);

/* On while anything of checks, logs and tracepoints is on. */
DECLARE_STATIC_KEY_FALSE(saakm_observed);

void saakm_observe_call(const struct saakm_policy *policy,
			enum saakm_handler handler,
			const struct task_struct *p, int cpu);
void saakm_observe_transition(struct task_struct *p, enum saakm_state next);

static __always_inline void saakm_enter(const struct saakm_policy *policy,
					enum saakm_handler handler,
					const struct task_struct *p, int cpu)
{
	__this_cpu_write(saakm_handler, handler);
	if (static_branch_unlikely(&saakm_observed))
		saakm_observe_call(policy, handler, p, cpu);
}

static __always_inline void saakm_leave(void)
{
	__this_cpu_write(saakm_handler, SAAKM_H_none);
}

/* Call a handler about thread @p, if the policy has it. */
#define saakm_thread_event(_handler, _policy, _p, _core)		\
do {									\
	const struct saakm_module_routines *_r = (_policy)->routines;	\
									\
	if (_r->_handler) {						\
		saakm_enter(_policy, SAAKM_H_##_handler, _p,		\
			    (_core)->id);				\
		_r->_handler(_policy, &(_p)->saakm.event, _core);	\
		saakm_leave();						\
	}								\
} while (0)

/* Call a handler about a core, if the policy has it. */
#define saakm_core_event(_handler, _policy, _core)			\
do {									\
	const struct saakm_module_routines *_r = (_policy)->routines;	\
									\
	if (_r->_handler) {						\
		saakm_enter(_policy, SAAKM_H_##_handler, NULL,		\
			    (_core)->id);				\
		_r->_handler(_policy, _core);				\
		saakm_leave();						\
	}								\
} while (0)

static inline struct core_event *saakm_core(const struct saakm_policy *policy,
					    int cpu)
{
	return per_cpu_ptr(policy->cores, cpu);
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

static inline bool saakm_policy_before(const struct saakm_policy *a,
				       const struct saakm_policy *b)
{
	return a->priority > b->priority ||
	       (a->priority == b->priority && a->id < b->id);
}

/* task.c */
struct saakm_data *saakm_detach(struct rq *rq, struct task_struct *p);
void saakm_free_data(struct saakm_data *data);
void saakm_evict_all(struct saakm_policy *policy);
void saakm_wait_joiners(void);
struct saakm_policy *saakm_policy_by_id(u32 id);

/* runqueue.c */
void saakm_rq_link(struct saakm_rq *srq, struct task_struct *p);
void saakm_rq_unlink(struct task_struct *p);
void saakm_rq_resort(struct task_struct *p);

/* class.c */
void saakm_terminate(struct rq *rq, struct task_struct *p);

/* state.c */
bool saakm_transition_allowed(enum saakm_state from, enum saakm_state to);

static __always_inline void saakm_set_state(struct task_struct *p,
					    enum saakm_state next)
{
	if (static_branch_unlikely(&saakm_observed))
		saakm_observe_transition(p, next);
	p->saakm.state = next;
	p->saakm.since_ns = task_rq(p)->clock;
}

/* server.c */
extern unsigned int saakm_server_runtime_us;
extern unsigned int saakm_server_period_us;
int saakm_server_apply_all(unsigned int runtime_us, unsigned int period_us);

static __always_inline void saakm_server_start(struct rq *rq)
{
	if (unlikely(!dl_server_active(&rq->saakm.server)) && rq->saakm.server.dl_runtime)
		dl_server_start(&rq->saakm.server);
}

/* debug.c */
__printf(3, 4)
void saakm_violation(const struct saakm_policy *policy,
		     const struct task_struct *p, const char *fmt, ...);
__printf(1, 2)
void saakm_refuse(const char *fmt, ...);

#endif /* _KERNEL_SCHED_SAAKM_INTERNAL_H */
