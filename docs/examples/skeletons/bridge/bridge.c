// SPDX-License-Identifier: GPL-2.0
/*
 * bridge: a policy whose decisions are made elsewhere. A thread that comes is parked, and
 * its PID goes out through a ring; a decision comes back as the CPU that shall run it.
 * A kthread stands for the program in user space. If the ring is full, the core runs the
 * thread by itself.
 */
#include <linux/delay.h>
#include <linux/kfifo.h>
#include <linux/kthread.h>
#include <linux/pid.h>
#include <linux/saakm.h>

static unsigned int pause_us;	/* how slow user space is */
module_param(pause_us, uint, 0644);
static unsigned int fallbacks;	/* threads that found the ring full; by ring_lock */
module_param(fallbacks, uint, 0444);

static DEFINE_PER_CPU(struct saakm_rq, bridge_parked);
static DEFINE_KFIFO(ring, pid_t, 64);
static DEFINE_RAW_SPINLOCK(ring_lock);	/* of those who put into it */
static struct saakm_notifier notifier;
static struct task_struct *worker;

/* Also for those whose slice is over. */
static void bridge_park(struct process_event *event, struct core_event *core)
{
	struct saakm_rq *parked = per_cpu_ptr(&bridge_parked, core->id);
	bool told;

	scoped_guard(raw_spinlock, &ring_lock) {
		told = kfifo_put(&ring, event->task->pid);
		fallbacks += !told;
	}
	change_state(event->task, SAAKM_READY, core->id, told ? parked : &core->rq);
	saakm_notify(&notifier);
}

/*
 * An idle core, or that where it is. It may have died since, or left, which is no fault. If
 * it is somewhere else by now, it was parked there anew, and is in the ring once more.
 */
static void bridge_decide(const struct saakm_policy *policy, pid_t pid)
{
	struct task_struct *task;
	int cpu;

	guard(rcu)();
	task = pid_task(find_vpid(pid), PIDTYPE_PID);
	if (!task)
		return;
	scoped_guard(preempt)
		cpu = saakm_idle_cpu_near(task, task_cpu(task));
	if (cpu >= 0 && !saakm_move_task(task, cpu, &saakm_core_of(policy, cpu)->rq))
		return;
	cpu = task_cpu(task);
	saakm_move_task(task, cpu, &saakm_core_of(policy, cpu)->rq);
}

static int bridge_work(void *policy)
{
	pid_t pid;

	while (!kthread_should_stop()) {
		wait_event_idle(notifier.wait, !kfifo_is_empty(&ring) || kthread_should_stop());
		if (kfifo_get(&ring, &pid))
			bridge_decide(policy, pid);
		fsleep(pause_us);
	}
	return 0;
}

static int bridge_init(struct saakm_policy *policy)
{
	saakm_runqueues_init(&bridge_parked, SAAKM_RQ_FIFO, NULL);
	saakm_notifier_init(&notifier);
	worker = kthread_run(bridge_work, policy, "bridge");
	return PTR_ERR_OR_ZERO(worker);
}

static void bridge_free(struct saakm_policy *policy)
{
	kthread_stop(worker);
	saakm_notifier_stop(&notifier);
}

SAAKM_POLICY(bridge,
	     .slice_us = 3000,
	     .place = bridge_park, .requeue = bridge_park,
	     .init = bridge_init, .free_metadata = bridge_free);
