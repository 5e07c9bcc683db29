// SPDX-License-Identifier: GPL-2.0
/*
 * events: a round robin that steals, and answers every event there is, to show when
 * each of them comes and what it is good for. Read it from top to bottom: the life
 * of a thread, then what happens to a core, then the policy itself.
 *
 * A policy of your own gives only the handlers that decide something. Where one
 * answer serves for threads that are new and for those that wake, prepare and place
 * stand for both. And the class puts threads into its queue, core->rq, and counts the
 * slice by itself: policies/rr does much the same as this in seven lines.
 *
 * The letter behind each event is its context, as in <linux/saakm.h>: [P] only the
 * thread's own lock is held, [R] the core's lock is held, [B] none is and threads may
 * be moved, [S] may sleep.
 */
#include <linux/saakm.h>
#include <linux/slab.h>

#define SLICE_MS	4	/* of a thread whose sched_saakm_param is 0 */
#define MAX_SLICE_MS	1000

/* event->data: the class allocates it and zeroes it when the thread joins. */
struct events_task {
	u64		slice_ns;
	u64		used_ns;	/* of its slice */
	unsigned int	turns;
};

/* core->data. In [R] the lock of the core is held; others get a hint by READ_ONCE(). */
struct events_core {
	bool		offline;
	u64		busy_ns;
	u64		idle_ns;
	u64		idle_since_ns;
	unsigned int	sleeps;
	unsigned int	short_sleeps;
	unsigned int	yields;
	unsigned int	pulled;
	unsigned int	elections;
};

/* policy->data */
struct events_totals {
	atomic_t	threads;
	atomic_t	weights;	/* of cgroups that we were told */
	atomic_t	topologies;
};

/* A module holds one policy: what its handlers share may as well be static. */
static bool events_heir;		/* of an earlier version of ourselves: see migrate_from */

static u64 events_slice_ns(u32 ms)
{
	return (ms ?: SLICE_MS) * (u64)NSEC_PER_MSEC;
}

/* [R] Somebody waits here: an idle core that @task may use shall come and pull. */
static void events_call_for_help(struct task_struct *task, struct core_event *core)
{
	int cpu = core->nr_runnable > 1 ? saakm_idle_cpu_near(task, core->id) : -1;

	if (cpu >= 0)
		saakm_kick(cpu);
}

/* A thread comes: it was forked, or joined by sched_setattr() */

/*
 * [P] Where shall it run? A wish, so nothing is changed here: the class may have to
 * take another CPU, and places the thread there. prev_cpu is the parent's.
 */
static int events_new_prepare(struct process_event *event)
{
	int cpu = saakm_idle_cpu_near(event->task, event->prev_cpu);

	if (cpu >= 0)
		return cpu;
	/* The parent goes on; so rather the CPU beside it. */
	return saakm_usable_cpu(event->task, (event->prev_cpu + 1) % nr_cpu_ids);
}

/* [R] It is on core->id now, and must get into one of that core's queues. */
static void events_new_place(struct process_event *event, struct core_event *core)
{
	struct events_totals *totals = core->policy->data;
	struct events_task *t = event->data;

	/* A forked one has its parent's parameter, but there was no setparam_attr. */
	if (!t->slice_ns)
		t->slice_ns = events_slice_ns(saakm_task_param(event->task));
	atomic_inc(&totals->threads);
	change_state(event->task, SAAKM_READY, core->id, &core->rq);
}

/* [R] It is in its queue. Whatever looks at the queue with it belongs here. */
static void events_new_end(struct process_event *event, struct core_event *core)
{
	events_call_for_help(event->task, core);
}

/* It gets the CPU, and leaves it */

/*
 * [R] An election is coming, and nobody waits in core->rq. Where cores share a queue this
 * is the place for saakm_take().
 */
static void events_refill(struct core_event *core)
{
	struct events_core *c = core->data;

	c->elections++;
}

/*
 * [R] Who is next? Changes nothing: the kernel may ask twice, and run another. The
 * thread that has the CPU is in no queue; saakm_curr() is NULL once it shall make way.
 */
static struct task_struct *events_schedule(struct core_event *core)
{
	return saakm_curr(core) ?: saakm_rq_first(&core->rq);
}

/* [R] The thread was elected, and really gets the CPU. The class has unlinked it. */
static void events_running(struct process_event *event, struct core_event *core)
{
	struct events_task *t = event->data;

	t->turns++;
}

/* [R] It has used so much CPU time since it was last told. Comes before what follows. */
static void events_used(struct process_event *event, struct core_event *core, u64 used_ns)
{
	struct events_task *t = event->data;
	struct events_core *c = core->data;

	t->used_ns += used_ns;
	c->busy_ns += used_ns;
}

/*
 * [R] A timer tick. READY_TICK is a wish, too: the thread keeps the CPU until another
 * is elected, and the next election does not see it in saakm_curr().
 */
static void events_tick(struct process_event *event, struct core_event *core)
{
	struct events_task *t = event->data;

	if (t->used_ns >= t->slice_ns && core->rq.nr_tasks)
		change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
}

/* [R] It called sched_yield(). The class makes it wait for one turn of the others. */
static void events_yield(struct process_event *event, struct core_event *core)
{
	struct events_core *c = core->data;

	c->yields++;
}

/*
 * [R] It leaves the CPU, but could go on: it yielded, or its slice is up (the flag is
 * SAAKM_EV_TICK then), or a higher class or a wakeup took the CPU from it. In the last
 * case it goes to the end, too, but keeps what is left of its slice.
 */
static void events_requeue(struct process_event *event, struct core_event *core)
{
	struct events_task *t = event->data;

	if (event->flags & SAAKM_EV_YIELD || t->used_ns >= t->slice_ns)
		t->used_ns = 0;
	change_state(event->task, SAAKM_READY, core->id, &core->rq);
}

/* It sleeps, and wakes */

/*
 * [R] It goes to sleep. If we say so it stays in core->rq, DELAYED: whose slice is up waits for
 * one turn of the others, asleep or not. When it is elected, block follows.
 */
static bool events_block_delay(struct process_event *event, struct core_event *core)
{
	struct events_task *t = event->data;

	return t->used_ns >= t->slice_ns;
}

/* [R] It woke before that. It is READY where it waits already: no unblock_place follows. */
static void events_unblock_delayed(struct process_event *event, struct core_event *core)
{
	struct events_task *t = event->data;
	struct events_core *c = core->data;

	t->used_ns = 0;
	c->short_sleeps++;
}

/*
 * [R] It is not runnable any more. Or, with OUSTED, it goes to another core at once;
 * then it may be READY as well. change_state() is the class's here if we leave it out.
 */
static void events_block(struct process_event *event, struct core_event *core)
{
	struct events_core *c = core->data;

	if (!(event->flags & SAAKM_EV_OUSTED))
		c->sleeps++;
	change_state(event->task, SAAKM_BLOCKED, core->id, NULL);
}

/* [P] It wakes: where shall it run? prev_cpu is where it slept. */
static int events_unblock_prepare(struct process_event *event)
{
	/* It runs, and is in execve(): moving it costs no cache, but we do not need to. */
	if (event->flags & SAAKM_EV_EXEC)
		return event->prev_cpu;
	/* The waker is about to sleep, and what it has written is in its CPU's cache. */
	if (event->flags & SAAKM_EV_SYNC)
		return saakm_usable_cpu(event->task, event->waker_cpu);
	return saakm_idle_prepare(event);
}

/*
 * [R] As new_place. Also, with OUSTED, for a thread that another core had, and for one
 * that comes back from a real-time class, into which a lock had lifted it.
 */
static void events_unblock_place(struct process_event *event, struct core_event *core)
{
	struct events_task *t = event->data;

	if (!(event->flags & SAAKM_EV_OUSTED))
		t->used_ns = 0;
	change_state(event->task, SAAKM_READY, core->id, &core->rq);
}

/* [R] As new_end. With SYNC the CPU will soon be free. */
static void events_unblock_end(struct process_event *event, struct core_event *core)
{
	if (!(event->flags & SAAKM_EV_SYNC))
		events_call_for_help(event->task, core);
}

/*
 * [R] Somebody is READY who has just come here: shall he take the CPU from the running
 * thread? An election follows then. Not asked when other policies' threads run.
 */
static bool events_wakeup_preempt(struct task_struct *running, struct task_struct *woken)
{
	struct events_task *t = saakm_task_data(running);

	/* It would have to leave at the next tick anyway. */
	return t->used_ns >= t->slice_ns;
}

/* It is moved, changed, and goes */

/*
 * [R] of both cores: it was pulled from one to the other, by saakm_steal() below. What is
 * relative to a core is to be converted here; we have nothing of that kind.
 */
static void events_moved(struct process_event *event, struct core_event *from,
			 struct core_event *core)
{
	struct events_core *c = core->data;

	c->pulled++;
}

/* [S] May a thread join with this, or change to it? What is returned is sched_setattr()'s. */
static int events_checkparam_attr(struct saakm_policy *policy, const struct sched_attr *attr)
{
	return attr->sched_saakm_param > MAX_SLICE_MS ? -EINVAL : 0;
}

/* [R] Now it has it: before the first placement, if it joins. */
static void events_setparam_attr(struct process_event *event, const struct sched_attr *attr)
{
	struct events_task *t = event->data;

	t->slice_ns = events_slice_ns(attr->sched_saakm_param);
}

/* [R] sched_getattr(). Nice value, policy and parameter are filled in already. */
static void events_getparam_attr(struct process_event *event, struct sched_attr *attr)
{
	struct events_task *t = event->data;

	attr->sched_runtime = t->slice_ns;
}

/*
 * [R] Nice value, parameter, affinity or cgroup has changed, while it was runnable.
 * Perhaps it may use more CPUs now.
 */
static void events_attr_changed(struct process_event *event, struct core_event *core)
{
	events_call_for_help(event->task, core);
}

/* [R] It runs, and execve() has succeeded: what we know is about another program. */
static void events_exec(struct process_event *event, struct core_event *core)
{
	struct events_task *t = event->data;

	t->turns = 0;
}

/*
 * [R] It has died, or leaves us. Once for each new_place, and the last that we hear of
 * it: the class frees its data.
 */
static void events_terminate(struct process_event *event, struct core_event *core)
{
	struct events_totals *totals = core->policy->data;

	atomic_dec(&totals->threads);
}

/* Cores */

/* [B] Takes one thread from the nearest core where more than @spare of them wait. */
static void events_pull(struct core_event *core, unsigned int spare)
{
	struct topology_level *level;
	int cpu;

	for_each_topology_level(level, core->id) {
		for_each_cpu_wrap(cpu, &level->cores, core->id + 1) {
			struct saakm_rq *from = &saakm_core_of(core->policy, cpu)->rq;

			if (cpu != core->id && READ_ONCE(from->nr_tasks) > spare &&
			    saakm_steal(from, core->id, &core->rq, 1, NULL, NULL) > 0)
				return;
		}
	}
}

/* [B] schedule found nobody, nor did any other policy: the last chance not to idle. */
static void events_newly_idle(struct core_event *core)
{
	events_pull(core, 0);
}

/* [R] There was nothing to pull. */
static void events_enter_idle(struct core_event *core)
{
	struct events_core *c = core->data;

	c->idle_since_ns = saakm_clock_ns(core);
}

/* [R] A thread is runnable, perhaps of another class. We may have been loaded meanwhile. */
static void events_exit_idle(struct core_event *core)
{
	struct events_core *c = core->data;

	if (c->idle_since_ns)
		c->idle_ns += saakm_clock_ns(core) - c->idle_since_ns;
}

/* [B] Every balance_interval_ms, whether the core is busy or idle. */
static void events_balancing_select(struct core_event *core)
{
	events_pull(core, READ_ONCE(core->nr_runnable));
}

/* [R] The core goes offline. Its threads are ousted one by one afterwards. */
static void events_core_exit(struct core_event *core)
{
	struct events_core *c = core->data;

	c->offline = true;
}

/* [R] It is back. Not told of those that are online when the policy is loaded. */
static void events_core_entry(struct core_event *core)
{
	struct events_core *c = core->data;

	c->offline = false;
}

/* [S] CPUs share other things than before: what was derived from it is to be renewed. */
static void events_topology_changed(struct saakm_policy *policy)
{
	struct events_totals *totals = policy->data;

	atomic_inc(&totals->topologies);
}

/* The policy */

/*
 * [S] The first of all events: whatever there is to set up. The queues and data of the
 * cores are there, and empty. An error ends the insmod.
 */
static int events_init(struct saakm_policy *policy)
{
	struct events_totals *totals = kzalloc(sizeof(*totals), GFP_KERNEL);

	policy->data = totals;
	return totals ? 0 : -ENOMEM;
}

/* [S] The last: no thread is left, and no handler runs. */
static void events_free_metadata(struct saakm_policy *policy)
{
	kfree(policy->data);
}

/* [S] insmod ... replaces=NAME: shall we? Nothing has happened yet, an error calls it off. */
static int events_migrate_from(struct saakm_policy *policy, struct saakm_policy *old)
{
	events_heir = !strcmp(old->name, policy->name) && old->task_size == policy->task_size;
	return 0;
}

/* [R] This thread was the other policy's, and has had its terminate there. new_place follows. */
static void events_take_over(struct process_event *event, const void *old_data)
{
	struct events_task *t = event->data;

	if (events_heir && old_data)
		*t = *(const struct events_task *)old_data;
}

/*
 * [S] The cpu.weight of a cgroup that has chosen us, now and at each change. Of no use
 * to a round robin; and saakm_weighted_ns() knows the weights without being told.
 */
static void events_cgroup_weight(struct saakm_policy *policy, u64 cgroup, unsigned int weight)
{
	struct events_totals *totals = policy->data;

	atomic_inc(&totals->weights);
}

/* [S] saakmctl dump, and the report of an ejection. Other handlers run beside it. */
static void events_dump(struct saakm_policy *policy, struct seq_buf *text)
{
	struct events_totals *totals = policy->data;
	int cpu;

	seq_buf_printf(text, "%d threads, told of %d weights and %d topologies\n",
		       atomic_read(&totals->threads), atomic_read(&totals->weights),
		       atomic_read(&totals->topologies));
	for_each_possible_cpu(cpu) {
		struct core_event *core = saakm_core_of(policy, cpu);
		struct events_core *c = core->data;

		seq_buf_printf(text, "cpu %d%s: %u wait; busy %llu ns, idle %llu ns; ",
			       cpu, c->offline ? " (offline)" : "", core->rq.nr_tasks,
			       c->busy_ns, c->idle_ns);
		seq_buf_printf(text, "%u slept, %u too short, %u yielded, %u were pulled; ",
			       c->sleeps, c->short_sleeps, c->yields, c->pulled);
		seq_buf_printf(text, "%u elections\n", c->elections);
	}
}

SAAKM_POLICY(events,
	     .task_size			= sizeof(struct events_task),
	     .core_size			= sizeof(struct events_core),
	     .balance_interval_ms	= 16,

	     .new_prepare		= events_new_prepare,
	     .new_place			= events_new_place,
	     .new_end			= events_new_end,
	     .refill			= events_refill,
	     .schedule			= events_schedule,
	     .running			= events_running,
	     .used			= events_used,
	     .tick			= events_tick,
	     .yield			= events_yield,
	     .requeue			= events_requeue,
	     .block_delay		= events_block_delay,
	     .unblock_delayed		= events_unblock_delayed,
	     .block			= events_block,
	     .unblock_prepare		= events_unblock_prepare,
	     .unblock_place		= events_unblock_place,
	     .unblock_end		= events_unblock_end,
	     .wakeup_preempt		= events_wakeup_preempt,
	     .moved			= events_moved,
	     .checkparam_attr		= events_checkparam_attr,
	     .setparam_attr		= events_setparam_attr,
	     .getparam_attr		= events_getparam_attr,
	     .attr_changed		= events_attr_changed,
	     .exec			= events_exec,
	     .terminate			= events_terminate,

	     .newly_idle		= events_newly_idle,
	     .enter_idle		= events_enter_idle,
	     .exit_idle			= events_exit_idle,
	     .balancing_select		= events_balancing_select,
	     .core_exit			= events_core_exit,
	     .core_entry		= events_core_entry,
	     .topology_changed		= events_topology_changed,

	     .init			= events_init,
	     .free_metadata		= events_free_metadata,
	     .migrate_from		= events_migrate_from,
	     .take_over			= events_take_over,
	     .cgroup_weight		= events_cgroup_weight,
	     .dump			= events_dump);
MODULE_INFO(saakm_promises, "work-conservation, no-starvation, fairness");
