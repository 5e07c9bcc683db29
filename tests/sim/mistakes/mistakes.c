// SPDX-License-Identifier: GPL-2.0
/* A module that makes one mistake, which the simulator has to report: parameter kind. */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "../sched.h"

static char *kind = "none";
module_param(kind, charp, 0444);

static DEFINE_MUTEX(mutex);
static DEFINE_RAW_SPINLOCK(first_lock);
static DEFINE_RAW_SPINLOCK(second_lock);
static DEFINE_PER_CPU(int, own);

/* ---- in thread context ---- */

static void sleeps_in_atomic(void)
{
	preempt_disable();
	msleep(1);
	preempt_enable();
}

static void sleeps_again_and_again(void)
{
	int i;

	preempt_disable();
	for (i = 0; i < 25; i++)
		might_sleep();
	preempt_enable();
}

static void delays_for_ever(void)
{
	for (;;)
		udelay(100);
}

void abort(void) __noreturn;		/* libc's */

static void aborts(void)
{
	abort();
}

static int deeper(int depth)
{
	volatile char frame[256];

	frame[0] = depth;
	return depth ? deeper(depth + 1) + frame[0] : 0;
}

static void fills_the_stack(void)
{
	deeper(1);
}

static void spins_for_ever(void)
{
	guard(irq)();
	for (;;)
		cpu_relax();
}

static void sleeps_in_rcu(void)
{
	rcu_read_lock();
	mutex_lock(&mutex);
	mutex_unlock(&mutex);
	rcu_read_unlock();
}

static void allocates_in_atomic(void)
{
	unsigned long flags;

	local_irq_save(flags);
	kfree(kmalloc(8, GFP_KERNEL));
	local_irq_restore(flags);
}

static void takes_a_spinlock_twice(void)
{
	raw_spin_lock(&first_lock);
	raw_spin_lock(&first_lock);
}

static void takes_a_mutex_twice(void)
{
	mutex_lock(&mutex);
	mutex_lock(&mutex);
}

static void releases_a_free_spinlock(void)
{
	raw_spin_unlock(&second_lock);
}

static void releases_anothers_mutex(void)
{
	mutex_unlock(&mutex);
}

static void is_preemptible(void)
{
	*this_cpu_ptr(&own) = 1;
}

static void frees_percpu_twice(void)
{
	int __percpu *memory = alloc_percpu(int);

	free_percpu(memory);
	free_percpu(memory);
}

static void overruns_percpu(void)
{
	preempt_disable();
	WRITE_ONCE(this_cpu_ptr(&own)[1], 7);
	preempt_enable();
}

static void overruns(void)
{
	char *memory = kzalloc(13, GFP_KERNEL);

	WRITE_ONCE(memory[13], 1);
	kfree(memory);
}

static int *shared;

static int reads_shared(void *unused)
{
	rcu_read_lock();
	udelay(100);
	WARN_ON(*READ_ONCE(shared) != 5);
	rcu_read_unlock();
	return 0;
}

static void frees_too_soon(void)
{
	int *old = kzalloc(sizeof(*old), GFP_KERNEL);

	*old = 5;
	shared = old;
	kthread_run_on_cpu(reads_shared, NULL, 1, "reader/%u");
	usleep_range(40, 40);
	kfree(old);
}

static int takes_second_first(void *unused)
{
	raw_spin_lock(&second_lock);
	udelay(100);
	raw_spin_lock(&first_lock);
	return 0;
}

static void deadlocks(void)
{
	kthread_run_on_cpu(takes_second_first, NULL, 1, "other/%u");
	raw_spin_lock(&first_lock);
	udelay(100);
	raw_spin_lock(&second_lock);
}

static void never_ends(void)
{
	volatile int forever = 1;

	while (forever)
		barrier();
}

static void bugs(void)
{
	BUG_ON(kind);
}

static void damages_a_list(void)
{
	static LIST_HEAD(list);
	static struct list_head entry;

	list_add(&entry, &list);
	list_add(&entry, &list);
}

static DEFINE_STATIC_KEY_FALSE(static_key);

static void changes_a_key_in_atomic(void)
{
	preempt_disable();
	static_branch_inc(&static_key);
	preempt_enable();
}

static int holds_a_runqueue(void *unused)
{
	struct rq_flags rf;

	rq_lock_irqsave(cpu_rq(1), &rf);
	udelay(100);
	rq_unlock_irqrestore(cpu_rq(1), &rf);
	return 0;
}

static void reads_anothers_clock(void)
{
	kthread_run_on_cpu(holds_a_runqueue, NULL, 1, "holder/%u");
	usleep_range(40, 40);
	WARN_ON(!raw_spin_is_locked(rq_lockp(cpu_rq(1))));
	lockdep_assert_rq_held(cpu_rq(1));
}

/* Threads that wait or run, without telling anybody. */
static void changes_affinity_secretly(void)
{
	struct task_struct *p, *t;

	msleep(20);
	guard(rcu)();
	for_each_process_thread(p, t) {
		if (t->on_rq && t != current && !(t->flags & PF_KTHREAD))
			cpumask_clear_cpu(task_cpu(t), &t->cpus_mask);
	}
}

static void takes_a_cpu_away(void)
{
	cpumask_clear_cpu(1, &__cpu_online_mask);
}

/* ---- in interrupts and workers ---- */

static void again(struct irq_work *work)
{
	irq_work_queue(work);
}

static DEFINE_IRQ_WORK(endless, again);

static void loops(void)
{
	preempt_disable();
	irq_work_queue(&endless);
	preempt_enable();
}

static enum hrtimer_restart leaves(struct hrtimer *timer)
{
	raw_spin_lock(&first_lock);
	return HRTIMER_NORESTART;
}

static void leaves_a_lock(void)
{
	static struct hrtimer timer;

	hrtimer_setup(&timer, leaves, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_start(&timer, 1000, HRTIMER_MODE_REL);
	msleep(1);
}

static void leaves_preemption_off(struct work_struct *work)
{
	preempt_disable();
}

static DECLARE_WORK(bad_work, leaves_preemption_off);

static enum hrtimer_restart never_returns(struct hrtimer *timer)
{
	never_ends();
	return HRTIMER_NORESTART;
}

static void timer_never_ends(void)
{
	static struct hrtimer timer;

	hrtimer_setup(&timer, never_returns, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_start(&timer, 1000, HRTIMER_MODE_REL);
}

static void worker_leaves_preemption_off(void)
{
	queue_work(system_wq, &bad_work);
	flush_work(&bad_work);
}

static const struct {
	const char	*kind;
	void		(*make)(void);
} mistakes[] = {
	{ "sleeps_in_atomic",		sleeps_in_atomic },
	{ "sleeps_again_and_again",	sleeps_again_and_again },
	{ "delays_for_ever",		delays_for_ever },
	{ "aborts",			aborts },
	{ "fills_the_stack",		fills_the_stack },
	{ "spins_for_ever",		spins_for_ever },
	{ "sleeps_in_rcu",		sleeps_in_rcu },
	{ "allocates_in_atomic",	allocates_in_atomic },
	{ "takes_a_spinlock_twice",	takes_a_spinlock_twice },
	{ "takes_a_mutex_twice",	takes_a_mutex_twice },
	{ "releases_a_free_spinlock",	releases_a_free_spinlock },
	{ "releases_anothers_mutex",	releases_anothers_mutex },
	{ "is_preemptible",		is_preemptible },
	{ "frees_percpu_twice",		frees_percpu_twice },
	{ "overruns_percpu",		overruns_percpu },
	{ "overruns",			overruns },
	{ "frees_too_soon",		frees_too_soon },
	{ "deadlocks",			deadlocks },
	{ "never_ends",			never_ends },
	{ "bugs",			bugs },
	{ "damages_a_list",		damages_a_list },
	{ "changes_a_key_in_atomic",	changes_a_key_in_atomic },
	{ "reads_anothers_clock",	reads_anothers_clock },
	{ "changes_affinity_secretly",	changes_affinity_secretly },
	{ "takes_a_cpu_away",		takes_a_cpu_away },
	{ "loops",			loops },
	{ "leaves_a_lock",		leaves_a_lock },
	{ "timer_never_ends",		timer_never_ends },
	{ "worker_leaves_preemption_off", worker_leaves_preemption_off },
};

static int make_mistake(void *unused)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(mistakes); i++)
		if (!strcmp(mistakes[i].kind, kind))
			mistakes[i].make();
	return 0;
}

static int __init mistakes_init(void)
{
	struct task_struct *p;

	if (!strcmp(kind, "init_fails"))
		return -ENODEV;
	p = kthread_run_on_cpu(make_mistake, NULL, 0, "mistaken/%u");
	return PTR_ERR_OR_ZERO(p);
}

static void __exit mistakes_exit(void)
{
}

module_init(mistakes_init);
module_exit(mistakes_exit);
MODULE_DESCRIPTION("Makes a mistake");
MODULE_LICENSE("GPL");
