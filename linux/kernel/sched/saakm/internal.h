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
 * saakm_move_task() depend on it. X(name, states that it
 * may move a thread to).
 */
#define SAAKM_HANDLERS(X)						\
	X(none, 0)						\
	X(new_prepare, 0)						\
	X(new_place, BIT(SAAKM_READY))				\
	X(new_end, 0)						\
	X(unblock_prepare, 0)					\
	X(unblock_place, BIT(SAAKM_READY))			\
	X(unblock_end, 0)						\
	X(requeue, BIT(SAAKM_READY))				\
	X(block, BIT(SAAKM_BLOCKED))				\
	X(yield, 0)						\
	X(tick, BIT(SAAKM_READY_TICK))				\
	X(running, 0)						\
	X(attr_changed, 0)					\
	X(terminate, BIT(SAAKM_TERMINATED))			\
	X(wakeup_preempt, 0)					\
	X(schedule, 0)						\
	X(newly_idle, 0)						\
	X(enter_idle, 0)						\
	X(exit_idle, 0)						\
	X(balancing_select, 0)					\
	X(core_entry, 0)						\
	X(core_exit, 0)						\
	X(setparam_attr, 0)

enum saakm_handler {
#define X(name, states) SAAKM_H_##name,
	SAAKM_HANDLERS(X)
#undef X
	SAAKM_NR_HANDLERS
};

extern const char * const saakm_handler_names[SAAKM_NR_HANDLERS];
extern const char * const saakm_state_names[SAAKM_NR_STATES];

/*
 * What this CPU is doing: the handler, and the thread that it is about or, for
 * events of cores, the policy.
 */
struct saakm_context {
	const void	*subject;
	u8		handler;
};

DECLARE_PER_CPU(struct saakm_context, saakm_context);

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
	__this_cpu_write(saakm_context.subject, p ? (void *)p : (void *)policy);
	__this_cpu_write(saakm_context.handler, handler);
	if (static_branch_unlikely(&saakm_observed))
		saakm_observe_call(policy, handler, p, cpu);
}

static __always_inline void saakm_leave(void)
{
	__this_cpu_write(saakm_context.handler, SAAKM_H_none);
}

/* Call a handler, if the policy has it. */
#define saakm_event(_handler, _policy, _p, _cpu, ...)			\
do {									\
	const struct saakm_module_routines *_r = (_policy)->routines;	\
									\
	if (_r->_handler) {						\
		saakm_enter(_policy, SAAKM_H_##_handler, _p, _cpu);	\
		_r->_handler(_policy, __VA_ARGS__);			\
		saakm_leave();						\
	}								\
} while (0)

#define saakm_thread_event(_handler, _policy, _p, _core)		\
	saakm_event(_handler, _policy, _p, (_core)->id,			\
		    &(_p)->saakm.event, _core)

#define saakm_core_event(_handler, _policy, _core)			\
	saakm_event(_handler, _policy, NULL, (_core)->id, _core)

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
static __always_inline void saakm_server_start(struct rq *rq)
{
	if (unlikely(!dl_server_active(&rq->saakm.server)) && rq->saakm.server.dl_runtime)
		dl_server_start(&rq->saakm.server);
}

/* debug.c */
const char *saakm_explain(const struct task_struct *p, enum saakm_state next,
			  int cpu, const struct saakm_rq *srq);
__printf(3, 4)
void saakm_violation(const struct saakm_policy *policy,
		     const struct task_struct *p, const char *fmt, ...);
__printf(2, 3)
int saakm_refuse(int error, const char *fmt, ...);

#endif /* _KERNEL_SCHED_SAAKM_INTERNAL_H */
