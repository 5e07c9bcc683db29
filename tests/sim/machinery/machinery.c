// SPDX-License-Identifier: GPL-2.0
/*
 * A module that tests what the simulator has around the scheduler: locks, waiting, workers,
 * timers, RCU, interrupts, files. Threads of it run among those of the workload. What is wrong is
 * a WARN.
 */
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/percpu-rwsem.h>
#include <linux/rwsem.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include <linux/timer.h>
#include <linux/topology.h>
#include <linux/uaccess.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>

#define ROUNDS		30
#define NR_THREADS	6

static unsigned int cycles = 1;
module_param(cycles, uint, 0444);
static char *word = "none";
module_param(word, charp, 0444);
static int numbers[4];
static unsigned int nr_numbers;
module_param_array(numbers, int, &nr_numbers, 0444);

static struct task_struct *threads[NR_THREADS], *staying;
static atomic_t finished;

/* ---- a mutex, a spinlock, rwsems: what they protect is two numbers that are the same ---- */

static DEFINE_MUTEX(mutex);
static DEFINE_RAW_SPINLOCK(spinlock);
static DECLARE_RWSEM(rwsem);
DEFINE_STATIC_PERCPU_RWSEM(percpu_rwsem);
static unsigned int pairs[4][2];

static void change(unsigned int *pair, bool sleeps)
{
	WARN(pair[0] != pair[1], "somebody else is here");
	pair[0]++;
	if (sleeps)
		usleep_range(1, 20);
	else
		udelay(1);
	pair[1]++;
}

static void test_locks(void)
{
	unsigned long flags;

	mutex_lock(&mutex);
	change(pairs[0], true);
	mutex_unlock(&mutex);
	raw_spin_lock_irqsave(&spinlock, flags);
	change(pairs[1], false);
	raw_spin_unlock_irqrestore(&spinlock, flags);
	down_write(&rwsem);
	change(pairs[2], true);
	up_write(&rwsem);
	down_read(&rwsem);
	WARN_ON(pairs[2][0] != pairs[2][1]);
	usleep_range(1, 5);
	WARN_ON(pairs[2][0] != pairs[2][1]);
	up_read(&rwsem);
	percpu_down_write(&percpu_rwsem);
	change(pairs[3], true);
	percpu_up_write(&percpu_rwsem);
	scoped_guard(percpu_read, &percpu_rwsem)
		WARN_ON(pairs[3][0] != pairs[3][1]);
}

/* ---- works: of those that are cancelled none runs, and of the others each ---- */

struct job {
	struct work_struct	work;
	struct delayed_work	delayed;
	unsigned int		runs, delayed_runs;
	bool			running;
	unsigned long		expected;	/* jiffies */
};

static void job_runs(struct work_struct *work)
{
	struct job *job = container_of(work, struct job, work);

	WARN(job->running, "a work runs twice at a time");
	job->running = true;
	might_sleep();
	usleep_range(1, 50);
	job->runs++;
	job->running = false;
}

static void delayed_job_runs(struct work_struct *work)
{
	struct job *job = container_of(to_delayed_work(work), struct job, delayed);

	WARN(time_before(jiffies, job->expected), "too early");
	job->delayed_runs++;
}

/* A worker waits for a CPU as others do; a second is far less than the 1,000 ticks of a wrong time. */
static void delayed_has_run(struct job *job, unsigned int runs)
{
	for (int tries = 0; tries < 25 && READ_ONCE(job->delayed_runs) < runs; tries++)
		msleep(40);
	WARN_ON(job->delayed_runs != runs);
}

static void test_works(void)
{
	struct job *job = kzalloc(sizeof(*job), GFP_KERNEL | __GFP_NOFAIL);
	bool cancelled;

	INIT_WORK(&job->work, job_runs);
	INIT_DELAYED_WORK(&job->delayed, delayed_job_runs);
	WARN_ON(!queue_work(system_unbound_wq, &job->work));
	flush_work(&job->work);
	WARN_ON(job->runs != 1 || work_pending(&job->work));
	queue_work(system_wq, &job->work);
	cancelled = cancel_work_sync(&job->work);
	WARN_ON(job->runs != 2 - cancelled || job->running);
	job->expected = jiffies + 2;
	WARN_ON(!queue_delayed_work(system_unbound_wq, &job->delayed, 2));
	WARN_ON(queue_delayed_work(system_unbound_wq, &job->delayed, 2));
	WARN_ON(!delayed_work_pending(&job->delayed));
	delayed_has_run(job, 1);
	job->expected = jiffies + 1000;
	queue_delayed_work(system_unbound_wq, &job->delayed, 1000);
	job->expected = jiffies + 1;
	WARN_ON(!mod_delayed_work(system_unbound_wq, &job->delayed, 1));
	delayed_has_run(job, 2);
	job->expected = jiffies + 1000;
	queue_delayed_work(system_unbound_wq, &job->delayed, 1000);
	WARN_ON(!cancel_delayed_work_sync(&job->delayed));
	WARN_ON(cancel_delayed_work_sync(&job->delayed) || job->delayed_runs != 2);
	kfree(job);
}

/* Works that queue themselves again: after cancel_*_sync() they are neither queued nor running. */
struct perpetual {
	struct work_struct	work;
	struct delayed_work	delayed;
	unsigned int		runs;
	bool			cancelled;
};

static void queues_itself(struct work_struct *work)
{
	struct perpetual *perpetual = container_of(work, struct perpetual, work);

	WARN(perpetual->cancelled, "a work that was cancelled runs");
	usleep_range(1, 20);
	queue_work(system_wq, work);
}

static void arms_itself(struct work_struct *work)
{
	struct perpetual *perpetual = container_of(to_delayed_work(work), struct perpetual,
						   delayed);

	WARN(perpetual->cancelled, "a work that was cancelled runs");
	usleep_range(1, 20);
	queue_delayed_work(system_wq, &perpetual->delayed, perpetual->runs++ % 8 == 0);
}

static void test_perpetual_works(void)
{
	struct perpetual *perpetual = kzalloc(sizeof(*perpetual), GFP_KERNEL | __GFP_NOFAIL);
	unsigned int i;

	INIT_WORK(&perpetual->work, queues_itself);
	INIT_DELAYED_WORK(&perpetual->delayed, arms_itself);
	queue_work(system_wq, &perpetual->work);
	queue_delayed_work(system_wq, &perpetual->delayed, 0);
	for (i = 0; i < 20; i++) {
		usleep_range(1, 100);
		mod_delayed_work(system_wq, &perpetual->delayed, i % 2);
	}
	cancel_work_sync(&perpetual->work);
	cancel_delayed_work_sync(&perpetual->delayed);
	WARN_ON(work_pending(&perpetual->work) || delayed_work_pending(&perpetual->delayed));
	perpetual->cancelled = true;
	msleep(10);
	kfree(perpetual);
}

/* ---- RCU: what a reader sees is not freed ---- */

struct thing {
	struct rcu_head	rcu;
	unsigned int	value;
};

static struct thing __rcu *things[2];
DEFINE_STATIC_SRCU(srcu);
static atomic_t freed;

/* Softirqs of one CPU follow each other, though each of them can be interrupted. */
static DEFINE_PER_CPU(bool, in_a_softirq);

static void serve(void)
{
	WARN_ON(!in_serving_softirq() || irqs_disabled());
	WARN(__this_cpu_read(in_a_softirq), "a softirq in the middle of another one");
	__this_cpu_write(in_a_softirq, true);
	udelay(5);
	__this_cpu_write(in_a_softirq, false);
}

static void free_thing(struct rcu_head *head)
{
	struct thing *thing = container_of(head, struct thing, rcu);

	serve();

	thing->value = ~0U;
	atomic_inc(&freed);
	kfree(thing);
}

static struct thing *exchange(int i, unsigned int value)
{
	struct thing *new = kmalloc(sizeof(*new), GFP_KERNEL | __GFP_NOFAIL), *old;

	new->value = value;
	mutex_lock(&mutex);
	old = rcu_replace_pointer(things[i], new, mutex_is_locked(&mutex));
	mutex_unlock(&mutex);
	return old;
}

static void read_things(void)
{
	struct thing *thing;
	unsigned int value;
	int index;

	rcu_read_lock();
	thing = rcu_dereference(things[0]);
	if (thing) {
		value = thing->value;
		udelay(20);
		WARN(thing->value != value || value > 100, "it was freed: %x", thing->value);
	}
	rcu_read_unlock();
	index = srcu_read_lock(&srcu);
	thing = READ_ONCE(things[1]);
	if (thing) {
		value = thing->value;
		usleep_range(10, 100);
		WARN(thing->value != value || value > 100, "it was freed: %x", thing->value);
	}
	srcu_read_unlock(&srcu, index);
}

static void test_rcu(unsigned int round)
{
	struct thing *old = exchange(0, round);

	if (old && round % 3 == 0)
		kfree_rcu(old, rcu);
	else if (old && round % 3 == 1)
		call_rcu(&old->rcu, free_thing);
	else if (old) {
		synchronize_rcu();
		old->value = ~0U;
		kfree(old);
	}
	read_things();
	old = exchange(1, round);
	synchronize_srcu(&srcu);
	if (old) {
		old->value = ~0U;
		kfree(old);
	}
}

/* A callback that takes long: rcu_barrier() waits for the one that runs, too. */
struct slow {
	struct rcu_head	rcu;
	bool		begun, ended;
};

static void runs_slowly(struct rcu_head *head)
{
	struct slow *slow = container_of(head, struct slow, rcu);

	slow->begun = true;
	udelay(100);
	slow->ended = true;
}

static void test_rcu_barrier(void)
{
	struct slow *slow = kzalloc(sizeof(*slow), GFP_KERNEL | __GFP_NOFAIL);

	call_rcu(&slow->rcu, runs_slowly);
	while (!READ_ONCE(slow->begun))
		usleep_range(5, 20);
	rcu_barrier();
	WARN(!slow->ended, "rcu_barrier() has not waited");
	kfree(slow);
}

/* ---- timers and interrupts ---- */

struct clockwork {
	struct hrtimer		timer;
	struct irq_work		work;
	struct completion	done;
	unsigned int		ticks, works;
	ktime_t			expected;
};

static void in_irq_work(struct irq_work *work)
{
	struct clockwork *clockwork = container_of(work, struct clockwork, work);

	WARN_ON(!in_hardirq() || !irqs_disabled());
	clockwork->works++;
	complete(&clockwork->done);
}

/* Another one than that of the timer, mostly. */
static int last_cpu(void)
{
	int cpu, last = 0;

	for_each_online_cpu(cpu)
		last = cpu;
	return last;
}

static enum hrtimer_restart ticks(struct hrtimer *timer)
{
	struct clockwork *clockwork = container_of(timer, struct clockwork, timer);

	WARN_ON(!in_hardirq() || !irqs_disabled() || ktime_get() < clockwork->expected);
	if (++clockwork->ticks == 3) {
		irq_work_queue_on(&clockwork->work, last_cpu());
		return HRTIMER_NORESTART;
	}
	WARN_ON(!hrtimer_forward_now(timer, us_to_ktime(100)));
	clockwork->expected = timer->expires;
	return HRTIMER_RESTART;
}

static void test_timers(void)
{
	struct clockwork *clockwork = kzalloc(sizeof(*clockwork), GFP_KERNEL | __GFP_NOFAIL);
	ktime_t before = ktime_get();

	init_completion(&clockwork->done);
	init_irq_work(&clockwork->work, in_irq_work);
	hrtimer_setup(&clockwork->timer, ticks, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED);
	clockwork->expected = before + 50000;
	hrtimer_start(&clockwork->timer, us_to_ktime(50), HRTIMER_MODE_REL_PINNED);
	wait_for_completion(&clockwork->done);
	WARN_ON(clockwork->ticks != 3 || clockwork->works != 1);
	WARN_ON(ktime_get() - before < 250000);
	hrtimer_start(&clockwork->timer, ms_to_ktime(1000), HRTIMER_MODE_REL);
	WARN_ON(!hrtimer_active(&clockwork->timer));
	WARN_ON(hrtimer_cancel(&clockwork->timer) != 1 || clockwork->ticks != 3);
	preempt_disable();
	WARN_ON(!irq_work_queue(&clockwork->work));
	preempt_enable();
	schedule();
	WARN(clockwork->works != 2, "an election comes before an interrupt");
	wait_for_completion(&clockwork->done);
	irq_work_sync(&clockwork->work);
	WARN_ON(clockwork->works != 2);
	WARN_ON(wait_for_completion_timeout(&clockwork->done, 3));
	kfree(clockwork);
}

/* One that frees itself; and one that all threads start, also while its function runs. */
static atomic_t gone;
static struct clockwork shared;

static enum hrtimer_restart frees_itself(struct hrtimer *timer)
{
	kfree(container_of(timer, struct clockwork, timer));
	atomic_inc(&gone);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart takes_long(struct hrtimer *timer)
{
	WARN(shared.works++, "a timer's function runs twice at a time");
	udelay(20);
	shared.works--;
	return HRTIMER_NORESTART;
}

static void test_timers_that_run(void)
{
	struct clockwork *clockwork = kzalloc(sizeof(*clockwork), GFP_KERNEL | __GFP_NOFAIL);
	int i;

	for (i = 0; i < 20; i++) {
		hrtimer_start(&shared.timer, 1000, HRTIMER_MODE_REL);
		usleep_range(5, 20);
	}
	i = atomic_read(&gone);
	hrtimer_setup(&clockwork->timer, frees_itself, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_start(&clockwork->timer, 1000, HRTIMER_MODE_REL);
	while (atomic_read(&gone) == i)
		usleep_range(5, 20);
}

/* ---- completions: each is taken by one ---- */

#define NR_TAKERS	3
#define NR_GIVEN	30

struct giving {
	struct completion	completion;
	atomic_t		given, taken;
};

static int takes(void *data)
{
	struct giving *giving = data;

	for (;;) {
		wait_for_completion(&giving->completion);
		if (atomic_inc_return(&giving->taken) > NR_GIVEN)
			break;
		WARN(atomic_read(&giving->taken) > atomic_read(&giving->given),
		     "a completion was taken twice");
	}
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static void test_completions(void)
{
	struct giving giving = { };
	struct task_struct *takers[NR_TAKERS];
	int i;

	init_completion(&giving.completion);
	for (i = 0; i < NR_TAKERS; i++)
		takers[i] = kthread_run(takes, &giving, "taker/%d", i);
	for (i = 0; i < NR_GIVEN + NR_TAKERS; i++) {
		atomic_inc(&giving.given);
		complete(&giving.completion);
		usleep_range(1, 10);
	}
	for (i = 0; i < NR_TAKERS; i++)
		kthread_stop(takers[i]);
	WARN_ON(completion_done(&giving.completion) ||
		atomic_read(&giving.taken) != NR_GIVEN + NR_TAKERS);
}

/* ---- a thread that ends while it is being woken ---- */

static int dies(void *data)
{
	set_current_state(TASK_INTERRUPTIBLE);
	return 0;
}

static void test_deaths(void)
{
	struct task_struct *p;
	int i, j;

	/* On one CPU there is no such race, and it takes long. */
	for (i = 0; i < 10 && nr_cpu_ids > 1; i++) {
		p = kthread_create(dies, NULL, "mortal");
		if (WARN_ON(IS_ERR(p)))
			return;
		get_task_struct(p);
		for (j = 0; j < 100; j++) {
			wake_up_process(p);
			ndelay(100);
		}
		put_task_struct(p);
	}
}

/* ---- sched_setscheduler() ---- */

static void test_setscheduler(void)
{
	const struct sched_param fifo = { .sched_priority = 3 }, none = { };
	struct task_struct *p = current;

	WARN_ON(sched_setscheduler(p, SCHED_FIFO | SCHED_RESET_ON_FORK, &fifo));
	WARN_ON(p->policy != SCHED_FIFO || p->rt_priority != 3 || !p->sched_reset_on_fork);
	WARN_ON(sched_setscheduler_nocheck(p, SCHED_NORMAL, &none));
	WARN_ON(p->policy != SCHED_NORMAL || p->sched_reset_on_fork);
}

/* ---- softirqs ---- */

struct chime {
	struct timer_list	timer;
	struct completion	done;
};

static void chimes(struct timer_list *timer)
{
	serve();
	complete(&container_of(timer, struct chime, timer)->done);
}

static struct completion rounds_done;
static unsigned int nr_rounds, rounds_begun;
static ktime_t first_round;
static struct task_struct *first_thread;	/* only compared */

/* Somebody shall have the CPU after the first round, and has it before the second one. */
static void round_of_softirqs(void)
{
	if (nr_rounds++) {
		WARN_ON(ktime_get() == first_round && current == first_thread && need_resched());
		complete(&rounds_done);
		return;
	}
	first_round = ktime_get();
	first_thread = current;
	set_tsk_need_resched(current);
	raise_softirq(HI_SOFTIRQ);
}

static void test_rounds(void)
{
	init_completion(&rounds_done);
	open_softirq(HI_SOFTIRQ, round_of_softirqs);
	raise_softirq(HI_SOFTIRQ);
	wait_for_completion(&rounds_done);
	WARN_ON(nr_rounds != 2);
}

static void test_softirqs(void)
{
	struct chime *chime = kzalloc(sizeof(*chime), GFP_KERNEL | __GFP_NOFAIL);
	struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL | __GFP_NOFAIL);

	init_completion(&chime->done);
	timer_setup(&chime->timer, chimes, 0);
	mod_timer(&chime->timer, jiffies);
	call_rcu(&thing->rcu, free_thing);
	wait_for_completion(&chime->done);
	timer_delete_sync(&chime->timer);
	kfree(chime);
	if (!rounds_begun++)
		test_rounds();
}

/* ---- CPUs that come and go ---- */

static enum cpuhp_state hotplug_state;
static unsigned int nr_ups, nr_downs;

static int comes(unsigned int cpu)
{
	nr_ups++;
	WARN_ON(cpu != raw_smp_processor_id() || !cpu_online(cpu) || cpu_active(cpu));
	return 0;
}

static int goes(unsigned int cpu)
{
	nr_downs++;
	WARN_ON(cpu != raw_smp_processor_id() || !cpu_online(cpu) || cpu_active(cpu));
	return 0;
}

static void test_siblings(void)
{
	int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		WARN_ON(!cpumask_test_cpu(cpu, cpu_smt_mask(cpu)));
		WARN_ON(!cpumask_subset(cpu_smt_mask(cpu), cpu_online_mask));
	}
	cpus_read_unlock();
}

/* ---- waiting for a variable, and threads ---- */

static int answers(void *data)
{
	atomic_t *variable = data;

	usleep_range(1, 100);
	if (atomic_dec_and_test(variable))
		wake_up_var(variable);
	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
	}
	return 42;
}

static void test_variables(void)
{
	atomic_t variable = ATOMIC_INIT(2);
	struct task_struct *helpers[2];
	int i;

	for (i = 0; i < 2; i++) {
		helpers[i] = kthread_run(answers, &variable, "helper/%d", i);
		if (WARN_ON(IS_ERR(helpers[i])))
			return;
	}
	wait_var_event(&variable, !atomic_read(&variable));
	for (i = 0; i < 2; i++)
		WARN_ON(kthread_stop(helpers[i]) != 42);
}

/* ---- per-CPU data ---- */

static DEFINE_PER_CPU(unsigned int, counter) = 5;

static void test_percpu(void)
{
	unsigned int __percpu *mine = alloc_percpu(unsigned int);
	int cpu;

	for_each_possible_cpu(cpu)
		*per_cpu_ptr(mine, cpu) = cpu;
	for_each_possible_cpu(cpu)
		WARN_ON(*per_cpu_ptr(mine, cpu) != cpu);
	free_percpu(mine);
	preempt_disable();
	__this_cpu_inc(counter);
	preempt_enable();
}

/* ---- a thread of one CPU, which may go offline ---- */

static int stays(void *data)
{
	while (!kthread_should_stop()) {
		udelay(50);
		usleep_range(50, 100);
	}
	return 0;
}

static int tests(void *data)
{
	unsigned int round;

	for (round = 0; round < ROUNDS * cycles; round++) {
		test_locks();
		test_rcu(round % 100);
		test_timers();
		test_softirqs();
		test_siblings();
		test_variables();
		test_percpu();
		if (round % 10 == 0)
			test_works();
		if (round % 10 == 5)
			test_deaths();
		if (round % 5 == 0) {
			test_perpetual_works();
			test_rcu_barrier();
			test_timers_that_run();
			test_completions();
			test_setscheduler();
		}
	}
	if (atomic_inc_return(&finished) == NR_THREADS)
		pr_info("machinery: all have finished\n");
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);
	return 0;
}

/* ---- a file: reading says how far they are, writing is counted ---- */

static struct dentry *directory;
static char written[16];

static int state_show(struct seq_file *m, void *v)
{
	unsigned int counters = 0;
	int cpu, i;

	for_each_possible_cpu(cpu)
		counters += per_cpu(counter, cpu) - 5;
	seq_printf(m, "%d threads of %d, %u rounds\n", atomic_read(&finished), NR_THREADS,
		   counters);
	seq_printf(m, "word %s, numbers", word);
	for (i = 0; i < nr_numbers; i++)
		seq_printf(m, " %d", numbers[i]);
	seq_printf(m, "\nwritten: %s\n", written);
	seq_printf(m, "CPUs: %u came, %u went\n", nr_ups, nr_downs);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

static ssize_t text_write(struct file *file, const char __user *buf, size_t size, loff_t *pos)
{
	if (size >= sizeof(written))
		return -EINVAL;
	return copy_from_user(written, buf, size) ? -EFAULT : size;
}

static const struct file_operations text_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= text_write,
};

static int __init machinery_init(void)
{
	int i;

	hrtimer_setup(&shared.timer, takes_long, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	directory = debugfs_create_dir("machinery", NULL);
	debugfs_create_file("state", 0400, directory, NULL, &state_fops);
	debugfs_create_file("text", 0200, directory, NULL, &text_fops);
	hotplug_state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "machinery", comes, goes);
	WARN_ON((int)hotplug_state < 0);
	for (i = 0; i < NR_THREADS; i++) {
		threads[i] = kthread_run(tests, NULL, "tests/%d", i);
		if (IS_ERR(threads[i]))
			return PTR_ERR(threads[i]);
	}
	staying = kthread_run_on_cpu(stays, NULL, nr_cpu_ids - 1, "staying/%u");
	if (IS_ERR(staying))
		return PTR_ERR(staying);
	return 0;
}

static void __exit machinery_exit(void)
{
	int i;

	for (i = 0; i < NR_THREADS; i++)
		WARN_ON(kthread_stop(threads[i]));
	WARN_ON(kthread_stop(staying));
	hrtimer_cancel(&shared.timer);
	WARN_ON(shared.works || hrtimer_active(&shared.timer));
	for (i = 0; i < ARRAY_SIZE(pairs); i++)
		WARN_ON(pairs[i][0] != pairs[i][1] || pairs[i][0] != NR_THREADS * ROUNDS * cycles);
	cpuhp_remove_state_nocalls(hotplug_state);
	rcu_barrier();
	kfree(rcu_access_pointer(things[0]));
	kfree(rcu_access_pointer(things[1]));
	debugfs_remove(directory);
	pr_info("machinery: %d were freed by call_rcu()\n", atomic_read(&freed));
}

module_init(machinery_init);
module_exit(machinery_exit);
MODULE_DESCRIPTION("Tests the simulator's kernel around the scheduler");
MODULE_LICENSE("GPL");
