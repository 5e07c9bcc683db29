// SPDX-License-Identifier: GPL-2.0
/*
 * mode=central: one thread, on a CPU of its own, decides who runs on all others.
 *
 * Threads that are new or wake wait on its CPU, those that lose theirs where they ran. In rounds
 * it looks at every CPU: one that idles gets whoever is first among all that wait; where somebody
 * of a lower class runs, or of the same class for longer than a slice, the first takes the CPU.
 * When nobody waits it sleeps, until a handler calls it.
 *
 * It is a real-time thread, so that nobody of this policy gets its CPU, and which CPU that is
 * it reads anew in each round: who takes the CPU from it, a higher priority or a CPU that goes
 * offline, makes the kernel move it to another one, and it goes home when that is free again.
 *
 * CPUs that a higher class keeps for STUCK_NS are not its own. They elect by themselves, when
 * they are asked; and who may run on no other CPU gets every other slice of the dispatcher's.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/clock.h>
#include <uapi/linux/sched/types.h>

#include "shinjuku.h"

#define NOBODY		U64_MAX			/* as a key: nobody waits */
#define STUCK_NS	(10 * (s64)NSEC_PER_MSEC)	/* a CPU is, or the dispatcher */

static struct {
	struct saakm_policy	*policy;
	struct task_struct	*thread;
	struct saakm_notifier	calls;
	int			home;
	int			cpu;		/* where it is; -1: there is no CPU for it */
	bool			awake, returning;
	u64			due_ns;		/* when it looks; U64_MAX: it sleeps */
	u64			gave_way_ns;
	struct cpumask		ours, tried;
	unsigned long		rounds, assigned, preempted;
	u64			spent_ns;	/* for the latter two */
} dispatcher = { .cpu = -1 };

/* Is there a dispatcher, that is, do the rules of mode=central hold at the moment? */
bool shinjuku_dispatched(void)
{
	u64 due_ns = READ_ONCE(dispatcher.due_ns);

	return READ_ONCE(dispatcher.cpu) >= 0 &&
	       (due_ns == U64_MAX || saakm_before(local_clock(), due_ns));
}

/* Times come from the clocks of several CPUs. */
static bool shinjuku_is_ours(int cpu)
{
	return (s64)(local_clock() - READ_ONCE(shinjuku_core(cpu)->ours_ns)) < STUCK_NS;
}

/*
 * Does a CPU wait for the dispatcher to say who is next? Its own does not: if that is asked while
 * the dispatcher is awake, the dispatcher makes way.
 */
bool shinjuku_dispatches(int cpu)
{
	if (!shinjuku_dispatched())
		return false;
	if (cpu == READ_ONCE(dispatcher.cpu))
		return !READ_ONCE(dispatcher.awake);
	/* In its sleep it does not look which are. */
	return READ_ONCE(dispatcher.due_ns) == U64_MAX || shinjuku_is_ours(cpu);
}

/* Does the caller, in a handler, move a thread to a queue of those who have got a CPU? */
bool shinjuku_assigns(void)
{
	return current == dispatcher.thread && !in_serving_softirq() && !dispatcher.returning;
}

int shinjuku_dispatcher_cpu(void)
{
	return max(READ_ONCE(dispatcher.cpu), 0);
}

/* Somebody has been queued. */
void shinjuku_call_dispatcher(void)
{
	smp_mb();	/* pairs with shinjuku_must_look() */
	if (READ_ONCE(dispatcher.due_ns) == U64_MAX)
		WRITE_ONCE(dispatcher.due_ns, local_clock() + STUCK_NS);
	if (wq_has_sleeper(&dispatcher.calls.wait))
		saakm_notify(&dispatcher.calls);
}

static u64 shinjuku_first_key(int cpu)
{
	struct core_event *core = saakm_core_of(dispatcher.policy, cpu);

	return READ_ONCE(core->rq.nr_tasks) ? READ_ONCE(shinjuku_core(cpu)->first_key) : NOBODY;
}

/* Where somebody waits who goes before @limit, the first of all but those of @tried; or -1 */
static int shinjuku_find_first(u64 limit, const struct cpumask *tried)
{
	int cpu, best = -1;

	for_each_cpu_andnot(cpu, cpu_online_mask, tried) {
		u64 key = shinjuku_first_key(cpu);

		if (key < limit) {
			limit = key;
			best = cpu;
		}
	}
	return best;
}

/* Somebody may wait there, who has run there before. */
static bool shinjuku_idles(int cpu)
{
	return saakm_running_prio(cpu) == MAX_PRIO;
}

struct shinjuku_gift {
	int	cpu;
	u64	limit;
};

/* A CPU that begins to run whom it was given seems to idle, but not to who has its lock. */
static bool shinjuku_gets(struct task_struct *task, void *arg)
{
	struct shinjuku_gift *gift = arg;

	return shinjuku_key(task) < gift->limit &&
	       (gift->limit != NOBODY || shinjuku_idles(gift->cpu));
}

static bool shinjuku_take_from(int from, int cpu, u64 limit)
{
	struct saakm_rq *waiting = &saakm_core_of(dispatcher.policy, from)->rq;
	struct shinjuku_core *to = shinjuku_core(cpu);
	struct shinjuku_gift gift = { cpu, limit };
	u64 before_ns = to->given_ns;

	/* That CPU may act upon it before we are back. */
	WRITE_ONCE(to->given_ns, local_clock());
	if (saakm_steal(waiting, cpu, &to->assigned, 1, shinjuku_gets, &gift) > 0)
		return true;
	WRITE_ONCE(to->given_ns, before_ns);
	return false;
}

/* Of two CPUs that idle, the one where the first of @from's queue has its memory. */
static int shinjuku_nearer(int from, int cpu)
{
	int last = READ_ONCE(shinjuku_core(from)->first_ran_on);

	if (last == cpu || last == dispatcher.cpu || !cpu_active(last) ||
	    READ_ONCE(shinjuku_core(last)->assigned.nr_tasks) || !shinjuku_idles(last))
		return cpu;
	return last;
}

static bool shinjuku_assign_first(int cpu, u64 limit)
{
	struct cpumask *tried = &dispatcher.tried;
	int from, to;

	cpumask_clear(tried);
	while ((limit != NOBODY || shinjuku_idles(cpu)) &&
	       (from = shinjuku_find_first(limit, tried)) >= 0) {
		to = limit == NOBODY ? shinjuku_nearer(from, cpu) : cpu;
		if (shinjuku_take_from(from, to, limit) ||
		    (to != cpu && shinjuku_take_from(from, cpu, limit)))
			return true;
		/* That one may not run there, and may wait for long: who is the next? */
		cpumask_set_cpu(from, tried);
	}
	return false;
}

/* @cpu, or one that idles, too, gets the first who waits, if that goes before @limit. */
static bool shinjuku_assign(int cpu, u64 limit)
{
	u64 began_ns = local_clock();
	bool assigned = shinjuku_assign_first(cpu, limit);

	if (assigned)
		dispatcher.spent_ns += local_clock() - began_ns;
	return assigned;
}

static bool shinjuku_given_since(int cpu, s64 ns)
{
	return (s64)(local_clock() - shinjuku_core(cpu)->given_ns) < ns;
}

/* Who goes before that takes the CPU; 0: nobody does. */
static u64 shinjuku_limit(int cpu)
{
	struct task_struct *running = saakm_running_on(dispatcher.policy, cpu);
	bool over;

	if (!running)
		return 0;
	/* Who was given the CPU just now may not have said yet that it has it. */
	over = shinjuku_slice_is_over(cpu) && !shinjuku_given_since(cpu, shinjuku_slice_ns(cpu));
	return shinjuku_key_above((int)shinjuku_class(running) - over);
}

/* Has it got somebody? Who did not get the CPU, since a higher class has it, waits again. */
static bool shinjuku_is_served(int cpu)
{
	struct saakm_rq *assigned = &shinjuku_core(cpu)->assigned;

	if (cpu == dispatcher.cpu)
		return true;
	if (!READ_ONCE(assigned->nr_tasks))
		return false;
	if (!shinjuku_given_since(cpu, STUCK_NS)) {
		dispatcher.returning = true;
		saakm_steal(assigned, cpu, &saakm_core_of(dispatcher.policy, cpu)->rq, 1,
			    NULL, NULL);
		dispatcher.returning = false;
	}
	return true;
}

/* Does anybody wait for the dispatcher, or in vain for the CPU that it gave? */
static bool shinjuku_anybody_waits(void)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (READ_ONCE(saakm_core_of(dispatcher.policy, cpu)->rq.nr_tasks) ||
		    READ_ONCE(shinjuku_core(cpu)->assigned.nr_tasks))
			return true;
	}
	return false;
}

static void shinjuku_look_for_ours(void)
{
	int cpu;

	cpumask_clear(&dispatcher.ours);
	for_each_cpu(cpu, cpu_active_mask) {
		if (cpu == dispatcher.cpu)
			continue;
		if (shinjuku_idles(cpu) || (saakm_running_on(dispatcher.policy, cpu) &&
					    !READ_ONCE(shinjuku_core(cpu)->by_itself)))
			WRITE_ONCE(shinjuku_core(cpu)->ours_ns, local_clock());
		if (shinjuku_is_ours(cpu))
			cpumask_set_cpu(cpu, &dispatcher.ours);
	}
}

/* True if somebody waits. */
static bool shinjuku_round(void)
{
	unsigned int left = num_active_cpus();	/* who wakes meanwhile, again and again, waits */
	int cpu;

	dispatcher.rounds++;
	if (!shinjuku_anybody_waits())
		return false;
	shinjuku_look_for_ours();
	for_each_cpu(cpu, cpu_active_mask) {
		for (; left && !shinjuku_is_served(cpu) && shinjuku_idles(cpu) &&
		     shinjuku_assign(cpu, NOBODY); left--)
			dispatcher.assigned++;
	}
	for_each_cpu(cpu, cpu_active_mask) {
		u64 limit = shinjuku_is_served(cpu) ? 0 : shinjuku_limit(cpu);

		if (limit && shinjuku_assign(cpu, limit))
			dispatcher.preempted++;
	}
	return true;
}

static bool shinjuku_may_run_here_only(struct task_struct *task, void *unused)
{
	return !cpumask_intersects(task->cpus_ptr, &dispatcher.ours);
}

/* Leaves the CPU to others for a slice, and learns how long that takes to end, as they do. */
static void shinjuku_sleep_for_slice(unsigned int us)
{
	u64 began_ns = local_clock();

	usleep_range(us, us + us / 2);
	shinjuku_note_late(shinjuku_core(dispatcher.cpu),
			   local_clock() - began_ns - (us + us / 2) * NSEC_PER_USEC);
	dispatcher.gave_way_ns = local_clock();
}

/* Threads that may run on the dispatcher's CPU only get it for every other slice. */
static void shinjuku_give_way(void)
{
	u64 slice_us = div_u64(shinjuku_slice_ns(dispatcher.cpu), NSEC_PER_USEC);
	unsigned int us = min_t(u64, slice_us, 1000);
	struct saakm_rq *to = &shinjuku_core(dispatcher.cpu)->assigned;
	int cpu;

	if ((s64)(local_clock() - dispatcher.gave_way_ns) < us * NSEC_PER_USEC)
		return;
	WRITE_ONCE(shinjuku_core(dispatcher.cpu)->given_ns, local_clock());
	for_each_online_cpu(cpu) {
		if (READ_ONCE(to->nr_tasks))
			break;
		if (!cpumask_test_cpu(cpu, &dispatcher.ours))
			saakm_steal(&saakm_core_of(dispatcher.policy, cpu)->rq, dispatcher.cpu, to,
				    1, shinjuku_may_run_here_only, NULL);
	}
	if (READ_ONCE(to->nr_tasks))
		shinjuku_sleep_for_slice(us);
}

/* From where it had to go: unless somebody of a higher class has its own CPU still. */
static void shinjuku_go_home(void)
{
	int home = dispatcher.home;
	bool free;

	preempt_disable();
	free = smp_processor_id() != home && cpu_active(home) &&
	       saakm_running_prio(home) > current->prio;
	preempt_enable();
	if (!free)
		return;
	set_cpus_allowed_ptr(current, cpumask_of(home));
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

/* Somebody waits, or there is a CPU for the dispatcher now, or none any more. */
static bool shinjuku_has_work(void)
{
	bool alone = num_active_cpus() < 2;

	return alone != (READ_ONCE(dispatcher.cpu) < 0) || (!alone && shinjuku_anybody_waits());
}

/* Who is queued after the second look finds that it sleeps, and calls it. */
static bool shinjuku_must_look(void)
{
	if (shinjuku_has_work() || kthread_should_stop())
		return true;
	/* While it seems to sleep no CPU elects by itself, so it must not be held up in between. */
	guard(preempt)();
	WRITE_ONCE(dispatcher.due_ns, U64_MAX);
	smp_mb();	/* pairs with shinjuku_call_dispatcher(), after somebody is queued */
	if (!shinjuku_has_work())
		return false;
	/* Whoever was queued in between has not set it. */
	WRITE_ONCE(dispatcher.due_ns, local_clock() + STUCK_NS);
	return true;
}

/* True if somebody waits whom it can serve. */
static bool shinjuku_look(void)
{
	guard(preempt)();
	WRITE_ONCE(dispatcher.cpu, num_active_cpus() < 2 ? -1 : smp_processor_id());
	WRITE_ONCE(dispatcher.due_ns, local_clock() + STUCK_NS);
	return dispatcher.cpu >= 0 && shinjuku_round();
}

static int shinjuku_dispatch(void *unused)
{
	WRITE_ONCE(dispatcher.awake, true);
	while (!kthread_should_stop()) {
		shinjuku_go_home();
		if (shinjuku_look()) {
			shinjuku_give_way();
			cpu_relax();
			cond_resched_tasks_rcu_qs();
			continue;
		}
		WRITE_ONCE(dispatcher.awake, false);
		wait_event_idle(dispatcher.calls.wait, shinjuku_must_look());
		WRITE_ONCE(dispatcher.awake, true);
	}
	return 0;
}

int shinjuku_start_dispatcher(struct saakm_policy *policy, int home)
{
	struct task_struct *thread = kthread_create(shinjuku_dispatch, NULL, "shinjuku");

	if (IS_ERR(thread))
		return PTR_ERR(thread);
	saakm_notifier_init(&dispatcher.calls);
	dispatcher.policy = policy;
	dispatcher.home = home;
	dispatcher.thread = thread;
	WRITE_ONCE(dispatcher.due_ns, local_clock() + STUCK_NS);
	WRITE_ONCE(dispatcher.cpu, home);
	sched_set_fifo(thread);
	wake_up_process(thread);
	return 0;
}

void shinjuku_stop_dispatcher(void)
{
	kthread_stop(dispatcher.thread);
	saakm_notifier_stop(&dispatcher.calls);
}

void shinjuku_dump_dispatcher(struct seq_buf *text)
{
	unsigned long decisions = READ_ONCE(dispatcher.assigned) + READ_ONCE(dispatcher.preempted);

	seq_buf_printf(text, "dispatcher on cpu %d: %lu rounds, %lu decisions", dispatcher.cpu,
		       READ_ONCE(dispatcher.rounds), decisions);
	if (decisions)
		seq_buf_printf(text, " of %llu ns, %lu of them preempted",
			       div_u64(READ_ONCE(dispatcher.spent_ns), decisions),
			       READ_ONCE(dispatcher.preempted));
	seq_buf_puts(text, "\n");
}
