// SPDX-License-Identifier: GPL-2.0
/*
 * services: a FIFO that asks, in its handlers, who wakes a thread and what is left of a slice,
 * has a kthread of its own that is notified of each wakeup, also by a CPU that goes offline, and
 * hears of a new topology.
 */
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/saakm.h>
#include <linux/slab.h>

static unsigned int own_us;
module_param(own_us, uint, 0444);
MODULE_PARM_DESC(own_us, "slice of each thread, by saakm_set_slice() when it is placed");

#define COUNT(what)							\
static atomic_t nr_##what = ATOMIC_INIT(0);				\
module_param_named(what, nr_##what.counter, int, 0644)

/* Wakers, by enum saakm_waker_kind. */
static int prepared[3], placed[3], last_waker;
module_param_array(prepared, int, NULL, 0644);
module_param_array(placed, int, NULL, 0644);
module_param(last_waker, int, 0444);
MODULE_PARM_DESC(last_waker, "the last thread that woke another one");

/* What is left of slices. */
COUNT(looks);
COUNT(wrong_lefts);	/* more than is left, or less by more than a moment */
COUNT(ends);		/* turns that ended by the slice, with nothing left */
COUNT(wrong_ends);
COUNT(endless);		/* threads without a slice */
static int furthest_ns;
module_param(furthest_ns, int, 0444);

/* The worker. */
static int posted, seen;
module_param(posted, int, 0444);
module_param(seen, int, 0444);

/* A CPU that goes offline wakes the worker. */
COUNT(dying);
COUNT(left);		/* work that it left behind, done since */
static bool wrong_when_dying;
module_param(wrong_when_dying, bool, 0444);
MODULE_PARM_DESC(wrong_when_dying, "prepare names a CPU that does not exist there");

/* Topologies, and of the last one how many CPUs the widest level of CPU 0 has. */
COUNT(topologies);
static int widest;
module_param(widest, int, 0444);

struct services_task {
	u64	began_ns;	/* CPU time when its turn, or slice, began */
	bool	began;
};

static struct saakm_notifier notifier;
static struct task_struct *worker;

static int work(void *unused)
{
	while (!kthread_should_stop()) {
		wait_event_idle(notifier.wait, READ_ONCE(posted) != READ_ONCE(seen) ||
				kthread_should_stop());
		WRITE_ONCE(seen, READ_ONCE(posted));
	}
	return 0;
}

static void post(void)
{
	static DEFINE_RAW_SPINLOCK(lock);

	scoped_guard(raw_spinlock, &lock)
		WRITE_ONCE(posted, posted + 1);
	saakm_notify(&notifier);
}

static void services_end(struct process_event *event, struct core_event *core)
{
	post();
}

/* Wakers */

static void note_waker(int counts[3])
{
	enum saakm_waker_kind waker = saakm_waker();

	counts[waker]++;
	if (waker == SAAKM_WAKER_TASK)
		last_waker = current->pid;
}

static int services_prepare(struct process_event *event)
{
	note_waker(prepared);
	if (!cpu_online(smp_processor_id())) {
		atomic_inc(&nr_dying);
		post();
		if (wrong_when_dying)
			return nr_cpu_ids;
	}
	return saakm_idle_prepare(event);
}

static void services_place(struct process_event *event, struct core_event *core)
{
	if (!(event->flags & SAAKM_EV_OUSTED))
		note_waker(placed);
	if (own_us)
		saakm_set_slice(event->task, (u64)own_us * NSEC_PER_USEC);
}

/* Slices */

#define MOMENT_NS	(2 * NSEC_PER_MSEC)	/* since the clock of the runqueue was read */

/* Of the running thread: exact, but for that moment. */
static void look_at_slice(struct task_struct *task, struct core_event *core)
{
	unsigned int slice_us = own_us ?: core->policy->slice_us;
	struct services_task *t = saakm_task_data(task);
	u64 left_ns = saakm_slice_left_ns(task), expected_ns, used_ns;

	if (!slice_us) {
		atomic_inc(left_ns == U64_MAX ? &nr_endless : &nr_wrong_lefts);
		return;
	}
	if (!t->began)
		return;
	used_ns = saakm_task_runtime_ns(task) - t->began_ns;
	expected_ns = (u64)slice_us * NSEC_PER_USEC;
	expected_ns = used_ns < expected_ns ? expected_ns - used_ns : 0;
	atomic_inc(&nr_looks);
	if (left_ns > expected_ns || expected_ns - left_ns > MOMENT_NS)
		atomic_inc(&nr_wrong_lefts);
	else
		furthest_ns = max_t(int, furthest_ns, expected_ns - left_ns);
}

static void services_running(struct process_event *event, struct core_event *core)
{
	struct services_task *t = event->data;

	t->began_ns = saakm_task_runtime_ns(event->task);
	t->began = true;
}

static void services_tick(struct process_event *event, struct core_event *core)
{
	look_at_slice(event->task, core);
}

static void services_requeue(struct process_event *event, struct core_event *core)
{
	struct services_task *t = event->data;

	t->began = false;
	if (event->flags & SAAKM_EV_TICK)
		atomic_inc(saakm_slice_left_ns(event->task) ? &nr_wrong_ends : &nr_ends);
}

static bool services_wakeup_preempt(struct task_struct *running, struct task_struct *woken)
{
	look_at_slice(running, saakm_core_of(running->saakm.policy, task_cpu(running)));
	return false;
}

/* The topology */

static void services_topology_changed(struct saakm_policy *policy)
{
	void *sleeps = kmalloc(64, GFP_KERNEL);
	struct topology_level *level;
	int n = 0;

	might_sleep();
	msleep(20);
	kfree(sleeps);
	scoped_guard(rcu) {
		for_each_topology_level(level, 0)
			n = cpumask_weight(&level->cores);
	}
	WRITE_ONCE(widest, n);
	atomic_inc(&nr_topologies);
}

/* A state below CPUHP_AP_SMPCFD_DYING that nobody has on x86: see smpcfd_dying_cpu(). */
#define AFTER_INTERRUPT_WORK	CPUHP_AP_IRQ_GIC_STARTING

static void left(struct irq_work *work)
{
	atomic_inc(&nr_left);
}

static DEFINE_IRQ_WORK(left_work, left);

static int services_dying(unsigned int cpu)
{
	wake_up_process(worker);
	irq_work_queue(&left_work);
	return 0;
}

/* Setting up */

static int services_init(struct saakm_policy *policy)
{
	int ret;

	saakm_notifier_init(&notifier);
	worker = kthread_run(work, NULL, "services");
	if (IS_ERR(worker))
		return PTR_ERR(worker);
	ret = cpuhp_setup_state_nocalls(AFTER_INTERRUPT_WORK, "tests/services:dying", NULL,
					services_dying);
	if (ret)
		kthread_stop(worker);
	return ret;
}

static void services_free_metadata(struct saakm_policy *policy)
{
	cpuhp_remove_state_nocalls(AFTER_INTERRUPT_WORK);
	kthread_stop(worker);
	saakm_notifier_stop(&notifier);
}

/* Without an end: a thread that is alone has no new slice that we were told of. */
SAAKM_POLICY(services,
	     .task_size		= sizeof(struct services_task),
	     .init		= services_init,
	     .free_metadata	= services_free_metadata,
	     .prepare		= services_prepare,
	     .place		= services_place,
	     .new_end		= services_end,
	     .unblock_end	= services_end,
	     .running		= services_running,
	     .tick		= services_tick,
	     .requeue		= services_requeue,
	     .wakeup_preempt	= services_wakeup_preempt,
	     .topology_changed	= services_topology_changed);
