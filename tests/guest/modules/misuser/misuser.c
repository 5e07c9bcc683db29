// SPDX-License-Identifier: GPL-2.0
/*
 * misuser: a FIFO that makes the wrong move which `mode` names, again and
 * again, and otherwise does its job: whatever the class refuses, threads must
 * get on. `refused` counts the calls that said so.
 */
#include <linux/delay.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/saakm.h>
#include <linux/sched/task.h>

static char *mode = "";
module_param(mode, charp, 0444);

static atomic_t nr_refused = ATOMIC_INIT(0);
static atomic_t nr_accepted = ATOMIC_INIT(0);
module_param_named(refused, nr_refused.counter, int, 0444);
module_param_named(accepted, nr_accepted.counter, int, 0444);

/* For "schedule_foreign": a thread of another policy. */
static int foreign_pid;
module_param_named(foreign, foreign_pid, int, 0444);
static struct task_struct *foreign;

static DEFINE_PER_CPU(struct saakm_rq, misuser_rq);
static struct saakm_rq uninitialised;
/* A thread that went to sleep on this CPU, by number: it may have woken, moved or died since. */
static DEFINE_PER_CPU(pid_t, sleeper);

static bool is(const char *wanted)
{
	return !strcmp(mode, wanted);
}

/* In the mode "abort_HANDLER". */
static void may_abort(struct saakm_policy *policy, const char *handler)
{
	if (!strncmp(mode, "abort_", 6) && !strcmp(mode + 6, handler))
		saakm_eject(policy, SAAKM_EXIT_POLICY_ERROR, NULL, "gave up in %s", handler);
}

static void wrong(int ret)
{
	atomic_inc(ret < 0 ? &nr_refused : &nr_accepted);
}

static void wrong_state(struct task_struct *task, enum saakm_state state,
			struct core_event *core, struct saakm_rq *rq)
{
	wrong(change_state(task, state, core->id, rq));
}

static struct saakm_rq *own_rq(struct core_event *core)
{
	return &per_cpu(misuser_rq, core->id);
}

static int other_cpu(struct core_event *core)
{
	return (core->id + 1) % num_online_cpus();
}

/* Of this CPU and policy, or NULL. It may be about to wake elsewhere; interrupts are off, as under RCU. */
static struct task_struct *sleeper_of(struct core_event *core)
{
	struct task_struct *task;

	guard(rcu)();
	task = pid_task(find_pid_ns(per_cpu(sleeper, core->id), &init_pid_ns), PIDTYPE_PID);
	return task && task_cpu(task) == core->id && task->saakm.policy == core->policy &&
	       saakm_task_state(task) == SAAKM_BLOCKED ? task : NULL;
}

static void locked_calls(struct task_struct *task, struct core_event *core)
{
	int cpu = other_cpu(core);
	struct saakm_rq *rq = &per_cpu(misuser_rq, cpu);

	if (is("steal_locked"))
		wrong(saakm_steal(own_rq(core), cpu, rq, 1, NULL, NULL));
	else if (is("move_locked"))
		wrong(saakm_move_task(task, cpu, rq));
}

/* From a handler that does not hold the lock which these need. */
static void unlocked_calls(struct task_struct *task)
{
	struct task_struct *waits;
	int cpu;

	if (is("slice_unlocked"))
		wrong(saakm_set_slice(task, NSEC_PER_MSEC));
	if (!is("switch_unlocked"))
		return;
	for_each_online_cpu(cpu) {
		waits = saakm_rq_first(&per_cpu(misuser_rq, cpu));
		if (waits)
			wrong(saakm_switch_queue(waits, &per_cpu(misuser_rq, cpu)));
	}
}

/* True if the thread is not to be placed any more. */
static bool place_wrongly(struct task_struct *task, struct core_event *core)
{
	int cpu = other_cpu(core);
	struct saakm_rq *foreign = &per_cpu(misuser_rq, cpu);

	if (is("place_foreign"))
		wrong_state(task, SAAKM_READY, core, foreign);
	else if (is("place_cpu"))
		wrong(change_state(task, SAAKM_READY, cpu, foreign));
	else if (is("place_null"))
		wrong_state(task, SAAKM_READY, core, NULL);
	else if (is("place_uninitialised"))
		wrong_state(task, SAAKM_READY, core, &uninitialised);
	else if (is("place_running"))
		wrong_state(task, SAAKM_RUNNING, core, NULL);
	else if (is("place_nonsense"))
		wrong_state(task, 99, core, own_rq(core));
	else if (!is("place_never"))
		return false;
	return true;
}

static void mis_place(struct process_event *event, struct core_event *core)
{
	struct task_struct *asleep = sleeper_of(core);

	may_abort(core->policy, "place");
	locked_calls(event->task, core);
	if (is("place_sleeper") && asleep && asleep != event->task)
		wrong_state(asleep, SAAKM_READY, core, own_rq(core));
	if (place_wrongly(event->task, core))
		return;
	change_state(event->task, SAAKM_READY, core->id, own_rq(core));
	if (is("place_twice"))
		wrong_state(event->task, SAAKM_READY, core, own_rq(core));
}

static void mis_end(struct process_event *event, struct core_event *core)
{
	may_abort(core->policy, "end");
	if (is("end_ready"))
		wrong_state(event->task, SAAKM_READY, core, own_rq(core));
}

static int mis_prepare(struct process_event *event)
{
	int cpu;

	may_abort(event->task->saakm.policy, "prepare");
	unlocked_calls(event->task);
	/* Not where a timer has woken the thread: the kernel complains of a timer that is waited for. */
	if (is("prepare_sleeps") && in_task())
		schedule_timeout_uninterruptible(1);
	if (is("prepare_forbidden")) {
		for_each_online_cpu(cpu) {
			if (!cpumask_test_cpu(cpu, event->task->cpus_ptr))
				return cpu;
		}
	}
	return is("prepare_9999") ? 9999 : is("prepare_negative") ? -7 :
		is("prepare_offline") ? num_possible_cpus() - 1 : event->prev_cpu;
}

static void mis_block(struct process_event *event, struct core_event *core)
{
	struct task_struct *waiting = saakm_rq_first(own_rq(core));

	may_abort(core->policy, "block");
	if (is("block_ready"))
		wrong_state(event->task, SAAKM_READY, core, own_rq(core));
	else if (is("block_queue"))
		wrong_state(event->task, SAAKM_BLOCKED, core, own_rq(core));
	else if (is("block_waiting") && waiting && waiting != event->task)
		wrong_state(waiting, SAAKM_BLOCKED, core, NULL);
	if (!sleeper_of(core))
		per_cpu(sleeper, core->id) = event->task->pid;
}

/* Of who waits, and of who does not. */
static void switch_wrongly(struct task_struct *running, struct core_event *core)
{
	struct task_struct *waits = saakm_rq_first(own_rq(core));
	struct task_struct *asleep = sleeper_of(core);

	if (is("switch_running"))
		wrong(saakm_switch_queue(running, own_rq(core)));
	else if (is("switch_sleeper") && asleep)
		wrong(saakm_switch_queue(asleep, own_rq(core)));
	else if (is("switch_foreign") && waits)
		wrong(saakm_switch_queue(waits, &per_cpu(misuser_rq, other_cpu(core))));
	else if (is("switch_uninitialised") && waits)
		wrong(saakm_switch_queue(waits, &uninitialised));
	else if (is("switch_null") && waits)
		wrong(saakm_switch_queue(waits, NULL));
}

static void mis_tick(struct process_event *event, struct core_event *core)
{
	may_abort(core->policy, "tick");
	locked_calls(event->task, core);
	switch_wrongly(event->task, core);
	if (is("tick_slow"))
		mdelay(2000);
	else if (is("tick_forgets") && own_rq(core)->nr_tasks)
		saakm_runqueue_init(own_rq(core), core->id, SAAKM_RQ_FIFO, NULL);
	if (is("tick_ready"))
		wrong_state(event->task, SAAKM_READY, core, own_rq(core));
	else if (is("tick_blocked"))
		wrong_state(event->task, SAAKM_BLOCKED, core, NULL);
	else if (is("tick_terminated"))
		wrong_state(event->task, SAAKM_TERMINATED, core, NULL);
	else if (is("tick_waiting") && saakm_rq_first(own_rq(core)))
		wrong_state(saakm_rq_first(own_rq(core)), SAAKM_READY_TICK, core, NULL);
	else
		change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
}

static void mis_running(struct process_event *event, struct core_event *core)
{
	may_abort(core->policy, "running");
	if (is("running_sleeps"))
		schedule_timeout_uninterruptible(1);
	if (is("running_blocked"))
		wrong_state(event->task, SAAKM_BLOCKED, core, NULL);
}

static void mis_terminate(struct process_event *event, struct core_event *core)
{
	may_abort(core->policy, "terminate");
	if (is("terminate_ready"))
		wrong_state(event->task, SAAKM_READY, core, own_rq(core));
}

static struct task_struct *mis_schedule(struct core_event *core)
{
	struct task_struct *next = saakm_curr(core) ?: saakm_rq_first(own_rq(core));
	struct task_struct *asleep = sleeper_of(core);

	may_abort(core->policy, "schedule");
	if (is("schedule_null"))
		return NULL;
	if (is("schedule_foreign") && next)
		return foreign;
	/* Only while somebody else can go on: electing nobody at all is another mistake. */
	if (is("schedule_sleeper") && asleep && asleep != core->curr) {
		atomic_inc(&nr_refused);
		return asleep;
	}
	if (is("schedule_blocked") && next)
		wrong_state(next, SAAKM_BLOCKED, core, NULL);
	else if (is("schedule_running") && next)
		wrong_state(next, SAAKM_RUNNING, core, NULL);
	return next;
}

static void mis_balance(struct core_event *core)
{
	int cpu = other_cpu(core);

	may_abort(core->policy, "balance");
	/* Wrong are the arguments here, not the place. */
	if (is("steal_own"))
		wrong(saakm_steal(own_rq(core), core->id, own_rq(core), 1, NULL, NULL));
	else if (is("steal_foreign"))
		wrong(saakm_steal(&per_cpu(misuser_rq, cpu), core->id,
				  &per_cpu(misuser_rq, cpu), 1, NULL, NULL));
	else if (is("move_nowhere"))
		wrong(saakm_move_task(current, 9999, own_rq(core)));
}

static void mis_newly_idle(struct core_event *core)
{
	if (is("newly_idle_sleeps"))
		schedule_timeout_uninterruptible(1);
	/* Not where the thread may be woken: its CPU would wait, in an interrupt, for it to leave. */
	else if (is("newly_idle_enables") && READ_ONCE(current->__state) == TASK_DEAD)
		local_irq_enable();
}

static int mis_init(struct saakm_policy *policy)
{
	saakm_runqueues_init(&misuser_rq, SAAKM_RQ_FIFO, NULL);
	if (foreign_pid) {
		struct pid *pid = find_get_pid(foreign_pid);

		foreign = get_pid_task(pid, PIDTYPE_PID);
		put_pid(pid);
		if (!foreign)
			return -ESRCH;
	}
	return 0;
}

static void mis_dump(struct saakm_policy *policy, struct seq_buf *text)
{
	seq_buf_printf(text, "the mode is \"%s\"\n%d refused", mode, atomic_read(&nr_refused));
}

static void mis_free(struct saakm_policy *policy)
{
	if (foreign)
		put_task_struct(foreign);
}

SAAKM_POLICY(misuser,
	     .queue			= SAAKM_RQ_NONE,
	     .balance_interval_ms	= 20,
	     .init			= mis_init,
	     .free_metadata		= mis_free,
	     .prepare			= mis_prepare,
	     .place			= mis_place,
	     .new_end			= mis_end,
	     .unblock_end		= mis_end,
	     .block			= mis_block,
	     .tick			= mis_tick,
	     .running			= mis_running,
	     .terminate			= mis_terminate,
	     .schedule			= mis_schedule,
	     .newly_idle		= mis_newly_idle,
	     .balancing_select		= mis_balance,
	     .dump			= mis_dump);
