/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM saakm

#if !defined(_TRACE_SAAKM_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_SAAKM_H

#include <linux/saakm.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

int saakm_trace_on(void);
void saakm_trace_off(void);

TRACE_DEFINE_ENUM(SAAKM_NOT_QUEUED);
TRACE_DEFINE_ENUM(SAAKM_READY);
TRACE_DEFINE_ENUM(SAAKM_RUNNING);
TRACE_DEFINE_ENUM(SAAKM_READY_TICK);
TRACE_DEFINE_ENUM(SAAKM_BLOCKED);
TRACE_DEFINE_ENUM(SAAKM_MIGRATING);
TRACE_DEFINE_ENUM(SAAKM_TERMINATED);
TRACE_DEFINE_ENUM(SAAKM_DELAYED);

#define saakm_show_state(state)						\
	__print_symbolic(state,						\
			 { SAAKM_NOT_QUEUED,	"NOT_QUEUED" },		\
			 { SAAKM_READY,		"READY" },		\
			 { SAAKM_RUNNING,	"RUNNING" },		\
			 { SAAKM_READY_TICK,	"READY_TICK" },		\
			 { SAAKM_BLOCKED,	"BLOCKED" },		\
			 { SAAKM_MIGRATING,	"MIGRATING" },		\
			 { SAAKM_TERMINATED,	"TERMINATED" },		\
			 { SAAKM_DELAYED,	"DELAYED" })

/* A thread goes from one state to another. */
TRACE_EVENT_FN(saakm_transition,

	TP_PROTO(struct task_struct *p, u32 policy, int next, int cpu,
		 const char *handler),

	TP_ARGS(p, policy, next, cpu, handler),

	TP_STRUCT__entry(
		__array(char,	comm,	TASK_COMM_LEN)
		__field(pid_t,	pid)
		__field(u32,	policy)
		__field(int,	prev)
		__field(int,	next)
		__field(int,	cpu)
		__string(handler, handler)
	),

	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid	= p->pid;
		__entry->policy	= policy;
		__entry->prev	= p->saakm.state;
		__entry->next	= next;
		__entry->cpu	= cpu;
		__assign_str(handler);
	),

	TP_printk("comm=%s pid=%d policy=%u prev=%s next=%s cpu=%d handler=%s",
		  __entry->comm, __entry->pid, __entry->policy,
		  saakm_show_state(__entry->prev),
		  saakm_show_state(__entry->next), __entry->cpu,
		  __get_str(handler)),

	saakm_trace_on, saakm_trace_off
);

/* A handler of a policy is called. */
TRACE_EVENT_FN(saakm_call,

	TP_PROTO(u32 policy, const char *handler, const struct task_struct *p,
		 int cpu),

	TP_ARGS(policy, handler, p, cpu),

	TP_STRUCT__entry(
		__field(u32,	policy)
		__string(handler, handler)
		__field(pid_t,	pid)
		__field(u32,	flags)
		__field(int,	cpu)
	),

	TP_fast_assign(
		__entry->policy	= policy;
		__assign_str(handler);
		__entry->pid	= p ? p->pid : 0;
		__entry->flags	= p ? p->saakm.event.flags : 0;
		__entry->cpu	= cpu;
	),

	TP_printk("policy=%u handler=%s pid=%d flags=%#x cpu=%d",
		  __entry->policy, __get_str(handler), __entry->pid,
		  __entry->flags, __entry->cpu),

	saakm_trace_on, saakm_trace_off
);

#endif /* _TRACE_SAAKM_H */

#include <trace/define_trace.h>
