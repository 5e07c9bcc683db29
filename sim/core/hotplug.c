// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs go offline and come back: kernel/cpu.c, and what kernel/sched/core.c does then. Each CPU has
 * a thread cpuhp/N that takes it down as far as threads can, and its stopper, which does the rest.
 * stop_machine() is not needed for that: see take_cpu_down(). Not modelled: threads of others that
 * are parked (smpboot), and a step that fails half way.
 */
#include <linux/cpu.h>
#include <linux/kthread.h>
#include <linux/percpu-rwsem.h>
#include "machine.h"
#include "model.h"

DEFINE_STATIC_PERCPU_RWSEM(cpu_hotplug_lock);
static DEFINE_MUTEX(cpu_add_remove_lock);

void cpus_read_lock(void)
{
	percpu_down_read(&cpu_hotplug_lock);
}

int cpus_read_trylock(void)
{
	return percpu_down_read_trylock(&cpu_hotplug_lock);
}

void cpus_read_unlock(void)
{
	percpu_up_read(&cpu_hotplug_lock);
}

void cpus_write_lock(void)
{
	percpu_down_write(&cpu_hotplug_lock);
}

void cpus_write_unlock(void)
{
	percpu_up_write(&cpu_hotplug_lock);
}

void lockdep_assert_cpus_held(void)
{
	WARN_ON_ONCE(!percpu_rwsem_is_held(&cpu_hotplug_lock));
}

/* States that modules ask for: called in a thread of the CPU, in their order. */

#define MAX_STATES	32

static struct hotplug_state {
	const char	*name;
	int		(*startup)(unsigned int cpu);
	int		(*teardown)(unsigned int cpu);
	bool		used;
} states[MAX_STATES];

/* Who asks for a number gets one that is free; CPUHP_AP_ONLINE_DYN is the first. */
static int reserve_state(enum cpuhp_state state)
{
	int i;

	if (WARN_ON_ONCE(state != CPUHP_AP_ONLINE_DYN))
		return -EINVAL;
	for (i = 0; i < MAX_STATES; i++) {
		if (!states[i].used)
			return i;
	}
	return -ENOSPC;
}

int cpuhp_setup_state_nocalls(enum cpuhp_state state, const char *name,
			      int (*startup)(unsigned int cpu), int (*teardown)(unsigned int cpu))
{
	int i;

	guard(cpus_read_lock)();
	i = reserve_state(state);
	if (i < 0)
		return i;
	states[i] = (struct hotplug_state) { name, startup, teardown, true };
	return CPUHP_ONLINE + 1 + i;
}

void cpuhp_remove_state_nocalls(enum cpuhp_state state)
{
	guard(cpus_read_lock)();
	states[state - CPUHP_ONLINE - 1] = (struct hotplug_state) {};
}

/* The thread of a CPU: cpuhp_thread_fun() */

struct hotplug_thread {
	struct task_struct	*task;
	int			(*work)(unsigned int cpu);
	int			ret;
	struct completion	done;
};

static DEFINE_PER_CPU(struct hotplug_thread, hotplug_threads);

static int hotplug_thread(void *arg)
{
	struct hotplug_thread *thread = arg;

	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!thread->work) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		thread->ret = thread->work(raw_smp_processor_id());
		thread->work = NULL;
		complete(&thread->done);
	}
	return 0;
}

static void make_thread(struct hotplug_thread *thread, unsigned int cpu)
{
	char comm[TASK_COMM_LEN];

	if (thread->task)
		return;
	snprintf(comm, sizeof(comm), "cpuhp/%u", cpu);
	thread->task = model_kthread_new(hotplug_thread, thread, comm);
	kthread_bind_mask_now(thread->task, cpumask_of(cpu));
	__set_task_cpu(thread->task, cpu);
	thread->task->per_cpu = true;
	init_completion(&thread->done);
}

/* cpuhp_kick_ap() */
static int on_cpu(unsigned int cpu, int (*work)(unsigned int cpu))
{
	struct hotplug_thread *thread = per_cpu_ptr(&hotplug_threads, cpu);

	make_thread(thread, cpu);
	reinit_completion(&thread->done);
	thread->work = work;
	wake_up_process(thread->task);
	wait_for_completion(&thread->done);
	return thread->ret;
}

/* Pushing threads away */

static DEFINE_PER_CPU(struct cpu_stop_work, push_work);
static DEFINE_PER_CPU(struct task_struct *, waits_for_empty);

/* cpu_dying(): those that go down, or are. */
struct cpumask model_dying_mask;

/* __balance_push_cpu_stop() */
static int push_away(void *arg)
{
	struct task_struct *p = arg;
	struct rq *rq = this_rq();
	struct rq_flags rf;
	int cpu;

	raw_spin_lock_irq(&p->pi_lock);
	rq_lock(rq, &rf);
	update_rq_clock(rq);
	if (task_rq(p) == rq && task_on_rq_queued(p)) {
		cpu = select_fallback_rq(rq->cpu, p);
		rq = __migrate_task(rq, &rf, p, cpu);
	}
	rq_unlock(rq, &rf);
	raw_spin_unlock_irq(&p->pi_lock);
	put_task_struct(p);
	return 0;
}

/* balance_push(): at the end of each election of a CPU that goes down. */
void balance_push(struct rq *rq)
{
	struct task_struct *p = rq->curr, *waiter;

	lockdep_assert_rq_held(rq);
	rq->balance_callback = &balance_push_callback;
	if (!cpumask_test_cpu(rq->cpu, &model_dying_mask) || rq->cpu != raw_smp_processor_id())
		return;
	if (p->per_cpu || is_migration_disabled(p)) {
		waiter = per_cpu(waits_for_empty, rq->cpu);
		if (!rq->nr_running && !rq->nr_pinned && waiter) {
			raw_spin_rq_unlock(rq);
			wake_up_process(waiter);
			raw_spin_rq_lock(rq);
		}
		return;
	}
	get_task_struct(p);
	preempt_disable();
	raw_spin_rq_unlock(rq);
	stop_one_cpu_nowait(rq->cpu, push_away, p, this_cpu_ptr(&push_work));
	preempt_enable();
	raw_spin_rq_lock(rq);
}

struct balance_callback balance_push_callback = { .func = balance_push };

static void balance_push_set(int cpu, bool on)
{
	struct rq *rq = cpu_rq(cpu);
	struct rq_flags rf;

	rq_lock_irqsave(rq, &rf);
	if (on)
		rq->balance_callback = &balance_push_callback;
	else if (rq->balance_callback == &balance_push_callback)
		rq->balance_callback = NULL;
	rq_unlock_irqrestore(rq, &rf);
}

/*
 * balance_hotplug_wait(): until this thread is the only one left. Fair's server counts, too, as
 * long as it runs this thread: it takes time until it has used up its budget by that.
 */
#define LOOK_NS		(10 * NSEC_PER_USEC)

static void wait_until_empty(struct rq *rq)
{
	raw_cpu_write(waits_for_empty, current);
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		if (rq->nr_running == 1 && !rq->nr_pinned)
			break;
		schedule();
		sim_pause(LOOK_NS);
	}
	__set_current_state(TASK_RUNNING);
	raw_cpu_write(waits_for_empty, NULL);
}

/* Down */

/* sched_cpu_deactivate() */
static void sched_cpu_deactivate(unsigned int cpu)
{
	struct rq *rq = cpu_rq(cpu);

	nohz_balance_exit_idle(rq);
	saakm_rq_deactivate(rq);
	cpumask_clear_cpu(cpu, &__cpu_active_mask);
	balance_push_set(cpu, true);
	synchronize_rcu();
	model_build_domains();
}

/* In the CPU's thread: CPUHP_AP_ACTIVE, CPUHP_AP_ONLINE_DYN, CPUHP_AP_SCHED_WAIT_EMPTY */
static int go_inactive(unsigned int cpu)
{
	int i;

	sched_cpu_deactivate(cpu);
	for (i = MAX_STATES - 1; i >= 0; i--) {
		if (states[i].used && states[i].teardown)
			states[i].teardown(cpu);
	}
	wait_until_empty(cpu_rq(cpu));
	return 0;
}

/* sched_cpu_dying(), with the fix of linux/patches/0004-dying-servers.patch */
static void sched_cpu_dying(unsigned int cpu)
{
	struct rq *rq = cpu_rq(cpu);
	struct rq_flags rf;

	rq_lock_irqsave(rq, &rf);
	update_rq_clock(rq);
	if (dl_server_active(&rq->fair_server))
		dl_server_stop(&rq->fair_server);
	WARN(rq->nr_running != 1 || rq->nr_pinned,
	     "Dying CPU not properly vacated! %u: servers %u, rt %u, fair %u, SaaKM %u; %u pinned",
	     rq->nr_running, rq->dl.dl_nr_running, rq->rt.rt_nr_running, rq->cfs.h_nr_queued,
	     rq->saakm.nr_running, rq->nr_pinned);
	rq_unlock_irqrestore(rq, &rf);
}

/*
 * Nothing of its own happens on this CPU any more: kernel/time/hrtimer.c, hrtimers_cpu_dying(),
 * and the like. Timers of threads and the run's own events move, those that each CPU has end.
 */
static void move_events(struct rq *rq)
{
	sim_event_cancel(&rq->tick);
	sim_event_cancel(&rq->burst);
	rq->burst_stale = true;
	model_flush_calls(rq);
	machine_cpu_dying(rq->cpu);
	machine_softirqs_dying();
	sim_move_events(rq->cpu, cpumask_first(cpu_active_mask));
}

/* Between two looks whether the others have stopped */
#define STOP_NS		50

/*
 * take_cpu_down(): in the CPU's stopper. It idles after that, and takes no interrupts. In the
 * kernel the stoppers of all CPUs spin meanwhile, which none does before it can be preempted. Here
 * they end what they are in the middle of, without being put aside anew, and then this happens at
 * one instant. Unlike there others do not lose time by that, and are not preempted.
 */
static int take_cpu_down(void *arg)
{
	unsigned int cpu = smp_processor_id(), interleaving = sim_interleaving;

	sim_interleaving = 0;
	while (sim_others_atomic())
		sim_pause(STOP_NS);
	local_irq_disable();
	cpumask_clear_cpu(cpu, &__cpu_online_mask);
	model_siblings_online(cpu, false);
	sched_cpu_dying(cpu);
	move_events(cpu_rq(cpu));
	local_irq_enable();
	sim_interleaving = interleaving;
	return 0;
}

/* _cpu_down() */
int model_cpu_down(unsigned int cpu)
{
	struct task_struct *p;

	if (cpu >= nr_cpu_ids)
		return -EINVAL;
	guard(mutex)(&cpu_add_remove_lock);
	if (!cpu_online(cpu))
		return 0;
	if (cpumask_weight(cpu_online_mask) == 1)
		return -EBUSY;
	cpus_write_lock();
	cpumask_set_cpu(cpu, &model_dying_mask);
	on_cpu(cpu, go_inactive);
	/* takedown_cpu() parks the thread. */
	p = per_cpu(hotplug_threads, cpu).task;
	while (READ_ONCE(p->on_rq) || READ_ONCE(p->on_cpu))
		schedule_timeout_uninterruptible(1);
	stop_one_cpu(cpu, take_cpu_down, NULL);
	/* takedown_cpu() waits until the CPU idles. */
	while (cpu_rq(cpu)->curr != cpu_rq(cpu)->idle)
		schedule_timeout_uninterruptible(1);
	machine_cpu_dead(cpu);
	machine_callbacks_dead(cpu);
	cpus_write_unlock();
	return 0;
}

/* Up */

/* sched_cpu_activate() */
static int sched_cpu_activate(unsigned int cpu)
{
	balance_push_set(cpu, false);
	cpumask_set_cpu(cpu, &__cpu_active_mask);
	model_build_domains();
	saakm_rq_activate(cpu_rq(cpu));
	return 0;
}

static int go_active(unsigned int cpu)
{
	int i;

	for (i = 0; i < MAX_STATES; i++) {
		if (states[i].used && states[i].startup)
			states[i].startup(cpu);
	}
	return sched_cpu_activate(cpu);
}

/* _cpu_up() */
int model_cpu_up(unsigned int cpu)
{
	if (cpu >= nr_cpu_ids)
		return -EINVAL;
	guard(mutex)(&cpu_add_remove_lock);
	if (cpu_online(cpu))
		return 0;
	cpus_write_lock();
	cpumask_clear_cpu(cpu, &model_dying_mask);
	/* bringup_cpu(): sched_set_rq_online() and the like are not modelled. */
	cpumask_set_cpu(cpu, &__cpu_online_mask);
	model_siblings_online(cpu, true);
	on_cpu(cpu, go_active);
	cpus_write_unlock();
	return 0;
}
