// SPDX-License-Identifier: GPL-2.0
/*
 * accounts: a round robin that knows of each thread's CPU time what `used` says, and no
 * more. At each event that could depend on it, it compares that with the thread's own
 * account; `compared` says how often at which, in the order of the enum below. At a
 * difference it gives up. sched_getattr() shows what the thread came with, as
 * sched_deadline, and what it was told since, as sched_runtime.
 */
#include <linux/saakm.h>

enum { REQUEUE, BLOCK, YIELD, TICK, WAKEUP_PREEMPT, SCHEDULE, TERMINATE, NR_EVENTS };

static int compared[NR_EVENTS];
module_param_array(compared, int, NULL, 0444);

struct accounts_task {
	u64 came_ns;
	u64 used_ns;
};

static void compare(const struct task_struct *task, int event)
{
	const struct accounts_task *t = saakm_task_data(task);
	u64 runtime_ns = saakm_task_runtime_ns(task);

	/* CPUs may lose one of the other's. */
	WRITE_ONCE(compared[event], READ_ONCE(compared[event]) + 1);
	if (t->came_ns + t->used_ns != runtime_ns)
		saakm_eject(task->saakm.policy, SAAKM_EXIT_POLICY_ERROR, task,
			    "event %d: came with %llu ns, was told of %llu ns, has had %llu ns",
			    event, t->came_ns, t->used_ns, runtime_ns);
}

static void accounts_used(struct process_event *event, struct core_event *core, u64 used_ns)
{
	enum saakm_state state = saakm_task_state(event->task);
	struct accounts_task *t = event->data;

	t->used_ns += used_ns;
	if (!used_ns || (state != SAAKM_RUNNING && state != SAAKM_READY_TICK))
		saakm_eject(core->policy, SAAKM_EXIT_POLICY_ERROR, event->task,
			    "used: %llu ns in the state %d", used_ns, state);
}

static void accounts_new_place(struct process_event *event, struct core_event *core)
{
	struct accounts_task *t = event->data;

	t->came_ns = saakm_task_runtime_ns(event->task);
}

#define COMPARE_AT(name, event)						\
static void accounts_##name(struct process_event *pe, struct core_event *core) \
{									\
	compare(pe->task, event);					\
}

COMPARE_AT(requeue, REQUEUE)
COMPARE_AT(block, BLOCK)
COMPARE_AT(yield, YIELD)
COMPARE_AT(tick, TICK)
COMPARE_AT(terminate, TERMINATE)

static bool accounts_wakeup_preempt(struct task_struct *running, struct task_struct *woken)
{
	compare(running, WAKEUP_PREEMPT);
	return false;
}

static struct task_struct *accounts_schedule(struct core_event *core)
{
	if (core->curr)
		compare(core->curr, SCHEDULE);
	return saakm_curr(core) ?: saakm_rq_first(&core->rq);
}

static void accounts_getparam_attr(struct process_event *event, struct sched_attr *attr)
{
	const struct accounts_task *t = event->data;

	attr->sched_deadline = t->came_ns;
	attr->sched_runtime = t->used_ns;
}

SAAKM_POLICY(accounts,
	     .slice_us		= 1500,
	     .task_size		= sizeof(struct accounts_task),
	     .new_place		= accounts_new_place,
	     .requeue		= accounts_requeue,
	     .block		= accounts_block,
	     .yield		= accounts_yield,
	     .tick		= accounts_tick,
	     .used		= accounts_used,
	     .terminate		= accounts_terminate,
	     .wakeup_preempt	= accounts_wakeup_preempt,
	     .schedule		= accounts_schedule,
	     .getparam_attr	= accounts_getparam_attr);
