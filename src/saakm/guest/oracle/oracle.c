// SPDX-License-Identifier: GPL-2.0
/*
 * oracle: looks at every tick whether a CPU idles while a READY thread of a
 * policy could run there. Knows nothing of the policy but its name.
 *
 * longest_us: how long that lasted at most, for one and the same thread.
 * interval_ms: between two @balancing_select of that policy.
 * samples: looks; of these `samples_waiting` saw a READY thread.
 */
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/saakm.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>

static char *policy = "";
module_param(policy, charp, 0444);
static unsigned int longest_us;
module_param(longest_us, uint, 0644);
static unsigned int samples;
module_param(samples, uint, 0444);
static unsigned int samples_waiting;
module_param(samples_waiting, uint, 0444);
static int longest_pid;
module_param(longest_pid, int, 0444);
static unsigned int interval_ms;
module_param(interval_ms, uint, 0444);

static struct hrtimer timer;
static u64 idle_since_ns[NR_CPUS];	/* 0: does not idle */

static void look_at_cpus(u64 now_ns)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (!cpu_active(cpu) || !saakm_cpu_idle(cpu))
			idle_since_ns[cpu] = 0;
		else if (!idle_since_ns[cpu])
			idle_since_ns[cpu] = now_ns;
	}
}

static bool of_policy(struct task_struct *p)
{
	struct saakm_policy *its = READ_ONCE(p->saakm.policy);

	if (!its || strcmp(its->name, policy))
		return false;
	interval_ms = its->balance_interval_ms;
	return true;
}

/* Does it wait? */
static bool look_at_thread(struct task_struct *p, u64 now_ns)
{
	u64 ready_ns, both_ns;
	int cpu;

	/* It is linked last: the time is that of this wait, not of a sleep that ends just now. */
	if (!of_policy(p) || !smp_load_acquire(&p->saakm.rq) ||
	    READ_ONCE(p->saakm.state) != SAAKM_READY || p->migration_disabled)
		return false;
	ready_ns = READ_ONCE(p->saakm.since_ns);
	for_each_cpu(cpu, p->cpus_ptr) {
		if (!idle_since_ns[cpu])
			continue;
		both_ns = max(idle_since_ns[cpu], ready_ns);
		if (both_ns >= now_ns || now_ns - both_ns <= (u64)longest_us * NSEC_PER_USEC)
			continue;
		longest_us = div_u64(now_ns - both_ns, NSEC_PER_USEC);
		longest_pid = p->pid;
	}
	return true;
}

static enum hrtimer_restart look(struct hrtimer *unused)
{
	struct task_struct *group, *p;
	u64 now_ns = local_clock();
	bool waiting = false;

	rcu_read_lock();
	look_at_cpus(now_ns);
	for_each_process_thread(group, p)
		waiting |= look_at_thread(p, now_ns);
	rcu_read_unlock();
	samples++;
	samples_waiting += waiting;
	hrtimer_forward_now(&timer, ns_to_ktime(TICK_NSEC));
	return HRTIMER_RESTART;
}

static int __init oracle_init(void)
{
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer.function = look;
	hrtimer_start(&timer, ns_to_ktime(TICK_NSEC), HRTIMER_MODE_REL);
	return 0;
}
module_init(oracle_init);

static void __exit oracle_exit(void)
{
	hrtimer_cancel(&timer);
}
module_exit(oracle_exit);
MODULE_DESCRIPTION("SaaKM test: finds CPUs that idle beside work");
MODULE_LICENSE("GPL");
