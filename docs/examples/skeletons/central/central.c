// SPDX-License-Identifier: GPL-2.0
/*
 * central: Shinjuku with its dispatcher. Threads wait on one core, in one queue, until a kthread
 * sends the first of them to a core that idles or whose thread has had its slice. The
 * mailbox of a core is its core->rq. The one core runs threads as well while others have
 * no room, and a core that is sent nothing elects what it has put back itself: so nobody
 * starves who may not use every core, or if the dispatcher is late.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/saakm.h>

#define SLICE_US	10

struct central_core {
	struct saakm_rq	waiting;
	unsigned int	sent;
};

static struct saakm_notifier notifier;
static struct task_struct *dispatcher;
static int home;		/* the core of the one queue */
static bool work, help;		/* something has changed; others have no room */

static struct central_core *central_core(struct saakm_policy *policy, int cpu)
{
	return saakm_core_of(policy, cpu)->data;
}

static int central_prepare(struct process_event *event)
{
	return event->flags & SAAKM_EV_EXEC ? event->prev_cpu :
					      saakm_usable_cpu(event->task, home);
}

/* Also for those that were preempted. */
static void central_wait(struct process_event *event, struct core_event *core)
{
	change_state(event->task, SAAKM_READY, core->id,
		     &central_core(core->policy, core->id)->waiting);
	WRITE_ONCE(work, true);
	saakm_notify(&notifier);
}

static struct task_struct *central_schedule(struct core_event *core)
{
	struct task_struct *next = saakm_rq_first(&core->rq) ?: saakm_curr(core);

	if (next || (core->id == home && !READ_ONCE(help)))
		return next;
	return saakm_rq_first(&central_core(core->policy, core->id)->waiting);
}

/* Not while threads of other classes run there, or some wait that may not leave. */
static bool central_is_free(struct saakm_policy *policy, int cpu)
{
	struct task_struct *running;

	guard(preempt)();
	if (READ_ONCE(saakm_core_of(policy, cpu)->rq.nr_tasks) ||
	    READ_ONCE(central_core(policy, cpu)->waiting.nr_tasks))
		return false;
	running = saakm_running_on(policy, cpu);
	return running ? !saakm_slice_left_ns(running) : saakm_cpu_idle(cpu);
}

/* Says whether some wait that it has to look at again. */
static bool central_round(struct saakm_policy *policy)
{
	struct saakm_rq *waiting = &central_core(policy, home)->waiting;
	bool left = false;
	int cpu;

	for_each_online_cpu(cpu) {
		struct central_core *c = central_core(policy, cpu);

		if (cpu == home)
			continue;
		saakm_steal(&c->waiting, home, waiting, 32, NULL, NULL);
		if (central_is_free(policy, cpu) &&
		    saakm_steal(waiting, cpu, &saakm_core_of(policy, cpu)->rq, 1, NULL, NULL) > 0)
			WRITE_ONCE(c->sent, c->sent + 1);
		left |= READ_ONCE(c->waiting.nr_tasks);
	}
	WRITE_ONCE(help, READ_ONCE(waiting->nr_tasks));
	if (help)
		saakm_kick(home);
	return left || help;
}

static int central_dispatch(void *policy)
{
	bool left = false;

	while (!kthread_should_stop()) {
		wait_event_idle(notifier.wait, left || READ_ONCE(work) || kthread_should_stop());
		WRITE_ONCE(work, false);
		smp_mb();	/* what is queued from here on says so anew */
		left = central_round(policy);
		usleep_range_state(SLICE_US, 2 * SLICE_US, TASK_IDLE);
	}
	return 0;
}

static int central_init(struct saakm_policy *policy)
{
	int cpu;

	for_each_possible_cpu(cpu)
		saakm_runqueue_init(&central_core(policy, cpu)->waiting, cpu, SAAKM_RQ_FIFO, NULL);
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

static void central_dump(struct saakm_policy *policy, struct seq_buf *text)
{
	int cpu;

	for_each_possible_cpu(cpu)
		seq_buf_printf(text, "cpu %d: %u sent\n", cpu,
			       READ_ONCE(central_core(policy, cpu)->sent));
}

SAAKM_POLICY(central,
	     .slice_us = SLICE_US,
	     .core_size = sizeof(struct central_core),
	     .prepare = central_prepare, .place = central_wait, .requeue = central_wait,
	     .schedule = central_schedule,
	     .init = central_init, .free_metadata = central_free, .dump = central_dump);
