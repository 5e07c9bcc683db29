// SPDX-License-Identifier: GPL-2.0
/*
 * bridge: a policy whose decisions are made elsewhere. A thread that comes is parked, and
 * an event goes out through a ring; a decision comes back as the CPU that shall run it.
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

struct bridge_event {
	pid_t	pid;
	int	cpu;
};

struct bridge_core {
	struct saakm_rq	parked;
};

static DEFINE_KFIFO(ring, struct bridge_event, 64);
static DEFINE_RAW_SPINLOCK(ring_lock);	/* of those who put into it */
static struct saakm_notifier notifier;
static struct task_struct *worker;
static unsigned int nr_sent, nr_kept, nr_late;	/* of the worker */
static atomic_t nr_fallbacks;

/* Also for those whose slice is over. */
static void bridge_park(struct process_event *event, struct core_event *core)
{
	struct bridge_event e = { .pid = event->task->pid, .cpu = core->id };
	struct bridge_core *c = core->data;
	bool told;

	scoped_guard(raw_spinlock, &ring_lock)
		told = kfifo_put(&ring, e);
	change_state(event->task, SAAKM_READY, core->id, told ? &c->parked : &core->rq);
	if (told)
		saakm_notify(&notifier);
	else
		atomic_inc(&nr_fallbacks);
}

/* It may have died since, or left; or it may not run there any more, but where it is. */
static void bridge_decide(const struct saakm_policy *policy, const struct bridge_event *e)
{
	struct task_struct *task;
	int cpu, ret;

	guard(rcu)();
	task = pid_task(find_vpid(e->pid), PIDTYPE_PID);
	if (!task)
		return;
	scoped_guard(preempt)
		cpu = saakm_idle_cpu_near(task, e->cpu);
	cpu = cpu >= 0 ? cpu : e->cpu;
	ret = saakm_move_task(task, cpu, &saakm_core_of(policy, cpu)->rq);
	if (ret == -EPERM) {
		cpu = task_cpu(task);
		ret = saakm_move_task(task, cpu, &saakm_core_of(policy, cpu)->rq);
	}
	nr_late += ret < 0;
	nr_kept += !ret && cpu == e->cpu;
	nr_sent += !ret && cpu != e->cpu;
}

static int bridge_work(void *policy)
{
	struct bridge_event e;

	while (!kthread_should_stop()) {
		wait_event_idle(notifier.wait, !kfifo_is_empty(&ring) || kthread_should_stop());
		while (kfifo_get(&ring, &e)) {
			bridge_decide(policy, &e);
			if (pause_us)
				fsleep(pause_us);
		}
	}
	return 0;
}

static int bridge_init(struct saakm_policy *policy)
{
	struct bridge_core *c;
	int cpu;

	for_each_possible_cpu(cpu) {
		c = saakm_core_of(policy, cpu)->data;
		saakm_runqueue_init(&c->parked, cpu, SAAKM_RQ_FIFO, NULL);
	}
	saakm_notifier_init(&notifier);
	worker = kthread_run(bridge_work, policy, "bridge");
	return PTR_ERR_OR_ZERO(worker);
}

static void bridge_free(struct saakm_policy *policy)
{
	kthread_stop(worker);
	saakm_notifier_stop(&notifier);
}

static void bridge_dump(struct saakm_policy *policy, struct seq_buf *text)
{
	seq_buf_printf(text, "%u sent, %u kept, %u late, %u fallbacks\n", nr_sent, nr_kept,
		       nr_late, atomic_read(&nr_fallbacks));
}

SAAKM_POLICY(bridge,
	     .slice_us = 3000,
	     .core_size = sizeof(struct bridge_core),
	     .place = bridge_park, .requeue = bridge_park,
	     .init = bridge_init, .free_metadata = bridge_free, .dump = bridge_dump);
