// SPDX-License-Identifier: GPL-2.0
/*
 * Events as text: the names and fields of the kernel's tracepoints, as trace-cmd prints them, with
 * nanoseconds. src/saakm/trace/events.py reads them.
 */
#include <linux/saakm.h>
#include <trace/events/saakm.h>
#include "saakm/internal.h"
#include "model.h"
#include "trace.h"

bool model_tracing;

static struct sim_output *out;

/* Of the flags that tracefs shows, which context it is: an interrupt is not what it interrupts. */
static const char *context_flags(void)
{
	if (in_hardirq())
		return in_serving_softirq() ? "..H.." : "..h..";
	return in_serving_softirq() ? "..s.." : ".....";
}

/* "comm-pid [cpu] flags ns: name: fields", as whoever has this CPU. */
static __printf(2, 3) void event(const char *name, const char *fmt, ...)
{
	const struct task_struct *p = sim_context.cpu < 0 ? NULL : current;
	char line[512];
	va_list args;
	int length;

	length = scnprintf(line, sizeof(line), "%s-%d [%03d] %s %llu: %s: ",
			   p ? p->comm : "<idle>", p ? p->pid : 0, max(sim_context.cpu, 0),
			   context_flags(), sim_now, name);
	va_start(args, fmt);
	length += vscnprintf(line + length, sizeof(line) - length - 1, fmt, args);
	va_end(args);
	line[length++] = '\n';
	sim_output_write(out, line, length);
}

/* include/trace/events/sched.h, __trace_sched_switch_state() */
#define PREEMPTED	0x100
#define REPORTED	0x7f

static unsigned int reported_state(const struct task_struct *prev, bool preempt, unsigned int state)
{
	if (preempt)
		return PREEMPTED;
	if (state == TASK_DEAD)
		return prev->exit_state & REPORTED;
	/* An idle one, which is none of those that count as a load. */
	if ((state & TASK_IDLE) == TASK_IDLE)
		return 0x80;
	return state & REPORTED;
}

void model_trace_switch(struct task_struct *prev, struct task_struct *next, bool preempt,
			unsigned int prev_state)
{
	event("sched_switch", "prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%#x ==> "
	      "next_comm=%s next_pid=%d next_prio=%d", prev->comm, prev->pid, prev->prio,
	      reported_state(prev, preempt, prev_state), next->comm, next->pid, next->prio);
}

static void wakeup_event(const char *name, const struct task_struct *p)
{
	event(name, "comm=%s pid=%d prio=%d target_cpu=%03d", p->comm, p->pid, p->prio,
	      task_cpu(p));
}

void model_trace_waking(struct task_struct *p)
{
	wakeup_event("sched_waking", p);
}

void model_trace_wakeup(struct task_struct *p)
{
	wakeup_event("sched_wakeup", p);
}

void model_trace_wakeup_new(struct task_struct *p)
{
	wakeup_event("sched_wakeup_new", p);
}

void model_trace_migrate(struct task_struct *p, int dest_cpu)
{
	event("sched_migrate_task", "comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d", p->comm,
	      p->pid, p->prio, task_cpu(p), dest_cpu);
}

void model_trace_fork(struct task_struct *parent, struct task_struct *child)
{
	event("sched_process_fork", "parent_comm=%s parent_pid=%d child_comm=%s child_pid=%d",
	      parent->comm, parent->pid, child->comm, child->pid);
}

void model_trace_exec(struct task_struct *p, const char *old_comm)
{
	event("sched_process_exec", "filename=%s pid=%d old_pid=%d", p->comm, p->pid, p->pid);
}

void model_trace_exit(struct task_struct *p)
{
	event("sched_process_exit", "comm=%s pid=%d prio=%d", p->comm, p->pid, p->prio);
}

void model_trace_pi_setprio(struct task_struct *p, struct task_struct *pi_task)
{
	event("sched_pi_setprio", "comm=%s pid=%d oldprio=%d newprio=%d", p->comm, p->pid, p->prio,
	      pi_task ? min(p->normal_prio, pi_task->prio) : p->normal_prio);
}

/*
 * The hash of a run has the transitions in it if the options want them checked, whether they are
 * written or not: who watches changes nothing.
 */
void sim_trace_saakm_transition(struct task_struct *p, u32 policy, int next, int cpu,
				const char *handler)
{
	if (sim_options.transitions)
		model_hash((u64)p->pid << 32 ^ (u64)cpu << 16 ^ (u64)p->saakm.state << 8 ^ next);
	if (model_tracing)
		event("saakm_transition",
		      "comm=%s pid=%d policy=%u prev=%s next=%s cpu=%d handler=%s", p->comm, p->pid,
		      policy, saakm_state_names[p->saakm.state], saakm_state_names[next], cpu,
		      handler);
}

void sim_trace_saakm_call(u32 policy, const char *handler, const struct task_struct *p, int cpu)
{
	event("saakm_call", "policy=%u handler=%s pid=%d flags=%#x cpu=%d", policy, handler,
	      p ? p->pid : 0, p ? p->saakm.event.flags : 0, cpu);
}

/* Whether somebody listens changes nothing of what happens: no chance is drawn for a pause here. */
static void listen(struct tracepoint *point)
{
	unsigned int interleaving = sim_interleaving;

	sim_interleaving = 0;
	if (point->regfunc)
		point->regfunc();
	static_branch_enable(&point->key);
	sim_interleaving = interleaving;
}

void trace_begin(void)
{
	if (sim_options.transitions || sim_options.trace)
		listen(&__tracepoint_saakm_transition);
	if (!sim_options.trace)
		return;
	out = sim_output_open(sim_options.trace);
	if (!out)
		sim_bad_input(sim_options.trace, 0, "the trace cannot be written there");
	listen(&__tracepoint_saakm_call);
	model_tracing = true;
}

void trace_end(void)
{
	if (!model_tracing)
		return;
	model_tracing = false;
	/* The run is over: nobody may sleep any more. */
	__tracepoint_saakm_call.key.key.enabled = 0;
	sim_output_close(out);
}
