// SPDX-License-Identifier: GPL-2.0
/*
 * central: Shinjuku with its dispatcher. Threads wait on one core, in one queue, until a kthread
 * sends the first of them to a core that idles or whose thread has had its slice. The
 * mailbox of a core is its core->rq. A core that is sent nothing, the one core among them,
 * elects from its own queue: so nobody starves who may not use every core, or if the
 * dispatcher is late.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/saakm.h>

#define SLICE_US	10U

static DEFINE_PER_CPU(struct saakm_rq, central_waiting);
static struct saakm_notifier notifier;
static struct task_struct *dispatcher;
static int home;		/* the core of the one queue */

static int central_prepare(struct process_event *event)
{
	return saakm_usable_cpu(event->task, home);
}

/* Also for those that were preempted. */
static void central_wait(struct process_event *event, struct core_event *core)
{
	change_state(event->task, SAAKM_READY, core->id, per_cpu_ptr(&central_waiting, core->id));
	saakm_notify(&notifier);
}

static struct task_struct *central_schedule(struct core_event *core)
{
	return saakm_rq_first(&core->rq) ?: saakm_curr(core) ?:
	       saakm_rq_first(per_cpu_ptr(&central_waiting, core->id));
}

/* Not while threads of other classes run there, or some wait that may not leave. */
static bool central_is_free(struct core_event *core)
{
	struct task_struct *running;

	guard(preempt)();
	running = saakm_running_on(core->policy, core->id);
	if (READ_ONCE(core->nr_runnable) > !!running)
		return false;
	return running ? !saakm_slice_left_ns(running) : saakm_cpu_idle(core->id);
}

/* Says whether some wait that it has to look at again. */
static bool central_round(struct saakm_policy *policy)
{
	struct saakm_rq *waiting, *all = per_cpu_ptr(&central_waiting, home);
	struct core_event *core;
	bool left = false;
	int cpu;

	for_each_online_cpu(cpu) {
		core = saakm_core_of(policy, cpu);
		waiting = per_cpu_ptr(&central_waiting, cpu);
		if (cpu != home)
			saakm_steal(waiting, home, all, 32, NULL, NULL);
		if (cpu != home && central_is_free(core))
			saakm_steal(all, cpu, &core->rq, 1, NULL, NULL);
		left |= READ_ONCE(waiting->nr_tasks);
	}
	return left;
}

/* While some wait, once in a slice: it runs on a core that may have threads as well. */
static int central_dispatch(void *data)
{
	struct saakm_policy *policy = data;
	unsigned int pause_us;

	while (!kthread_should_stop()) {
		wait_event_idle(notifier.wait, central_round(policy) || kthread_should_stop());
		pause_us = clamp(READ_ONCE(policy->slice_us), SLICE_US, 1000U);
		usleep_range_state(pause_us, 2 * pause_us, TASK_IDLE);
	}
	return 0;
}

static int central_init(struct saakm_policy *policy)
{
	saakm_runqueues_init(&central_waiting, SAAKM_RQ_FIFO, NULL);
	home = cpumask_first(cpu_online_mask);
	saakm_notifier_init(&notifier);
	dispatcher = kthread_run_on_cpu(central_dispatch, policy, home, "central/%u");
	return PTR_ERR_OR_ZERO(dispatcher);
}

static void central_free(struct saakm_policy *policy)
{
	kthread_stop(dispatcher);
	saakm_notifier_stop(&notifier);
}

SAAKM_POLICY(central,
	     .slice_us = SLICE_US,
	     .prepare = central_prepare, .place = central_wait, .requeue = central_wait,
	     .schedule = central_schedule,
	     .init = central_init, .free_metadata = central_free);
