// SPDX-License-Identifier: GPL-2.0
/*
 * shinjuku: preemption after microseconds, so that short requests do not wait for long ones.
 *
 * mode=distributed: each CPU has a queue, its slices end by a timer, and a CPU that runs dry takes
 * the head of the longest queue. mode=central: a dispatcher on a CPU of its own gives threads to
 * the others, and takes the CPU from whoever has had it for a slice: dispatcher.c.
 *
 * K. Kaffes et al., Shinjuku: Preemptive Scheduling for us-scale Tail Latency (NSDI 2019);
 * classes, and who goes to the front, as in ghOSt's shinjuku.
 */
#include <linux/sched/clock.h>

#include "shinjuku.h"

static char *mode = "distributed";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "distributed, or central");

static int dispatcher = -1;
module_param(dispatcher, int, 0444);
MODULE_PARM_DESC(dispatcher, "mode=central: the CPU that is reserved; -1: the last one");

static bool wake_front = true;
module_param(wake_front, bool, 0644);
MODULE_PARM_DESC(wake_front, "who wakes goes to the front of its class; else to the back");

static bool central;
static struct saakm_policy shinjuku;

DEFINE_PER_CPU_SHARED_ALIGNED(struct shinjuku_core, shinjuku_cores);

u64 shinjuku_key(const struct task_struct *task)
{
	struct shinjuku_task *t = saakm_task_data(task);

	return shinjuku_key_above(shinjuku_class(task)) | t->place;
}

static void shinjuku_publish_one(struct shinjuku_core *own, struct task_struct *first)
{
	struct shinjuku_task *t = saakm_task_data(first);

	WRITE_ONCE(own->first_key, shinjuku_key(first));
	WRITE_ONCE(own->first_ran_on, t->ran_on);
}

/* Lets the dispatcher know who is first here. */
static void shinjuku_publish(struct core_event *core)
{
	struct task_struct *first = central ? saakm_rq_first(&core->rq) : NULL;

	if (first)
		shinjuku_publish_one(shinjuku_core(core->id), first);
}

static void shinjuku_queue(struct process_event *event, struct core_event *core, u64 now,
			   bool front)
{
	struct shinjuku_task *t = event->data;

	t->place = now + (front ? 0 : HEAD_START_NS);
	change_state(event->task, SAAKM_READY, core->id, &core->rq);
	if (!central)
		return;
	shinjuku_publish(core);
	shinjuku_call_dispatcher();
}

/*
 * What the parameter says, but that threads get on where interrupts take long, as under an emulator
 * or kernel debugging: the ends of slices take no more than some fifth of the CPU's time.
 */
u64 shinjuku_slice_ns(int cpu)
{
	u64 wanted = max(READ_ONCE(shinjuku.slice_us), 5U) * NSEC_PER_USEC;

	return max(wanted, 4 * READ_ONCE(shinjuku_core(cpu)->late_ns));
}

void shinjuku_note_late(struct shinjuku_core *own, s64 late_ns)
{
	s64 old = READ_ONCE(own->late_ns);	/* the dispatcher notes it without the lock */

	WRITE_ONCE(own->late_ns, old + (clamp_t(s64, late_ns, 0, LATE_MAX_NS) - old) / 8);
}

/* For how long? Another CPU's clock may be a little ahead. */
static s64 shinjuku_had_ns(int cpu, u64 now)
{
	return now - READ_ONCE(shinjuku_core(cpu)->since_ns);
}

/* Of its next turn; with a dispatcher the class ends none. */
static void shinjuku_give_slice(struct process_event *event, struct core_event *core)
{
	struct shinjuku_task *t = event->data;
	u64 ns = U64_MAX;

	if (!central)
		ns = max_t(s64, shinjuku_slice_ns(core->id) - t->had_ns, 5 * NSEC_PER_USEC);
	if (t->slice_ns != ns)
		saakm_set_slice(event->task, ns);
	t->slice_ns = ns;
}

/* Where the class does not end slices. */
bool shinjuku_slice_is_over(int cpu)
{
	return shinjuku_had_ns(cpu, local_clock()) >= (s64)shinjuku_slice_ns(cpu);
}

/* Events */

/* A thread that is new, or wakes, waits with the dispatcher. */
static int shinjuku_prepare(struct process_event *event)
{
	if (!shinjuku_dispatched())
		return saakm_idle_prepare(event);
	if (event->flags & SAAKM_EV_EXEC)
		return event->prev_cpu;
	return saakm_usable_cpu(event->task, shinjuku_dispatcher_cpu());
}

static void shinjuku_new_place(struct process_event *event, struct core_event *core)
{
	struct shinjuku_task *t = event->data;

	t->ran_on = event->prev_cpu;
	shinjuku_give_slice(event, core);
	shinjuku_queue(event, core, local_clock(), false);
}

static void shinjuku_unblock_place(struct process_event *event, struct core_event *core)
{
	shinjuku_give_slice(event, core);
	shinjuku_queue(event, core, local_clock(), wake_front || event->flags & SAAKM_EV_OUSTED);
}

/* How late has the turn ended? */
static void shinjuku_learn(struct process_event *event, struct core_event *core, u64 now)
{
	struct shinjuku_core *own = shinjuku_core(core->id);
	struct shinjuku_task *t = event->data;

	if (central && own->assigned.nr_tasks)
		shinjuku_note_late(own, now - READ_ONCE(own->given_ns));
	/* Who was alone is not interrupted when the slice is over. */
	if (!central && own->contended && event->flags & SAAKM_EV_TICK)
		shinjuku_note_late(own, shinjuku_had_ns(core->id, now) - t->had_ns - t->slice_ns);
}

/* Who has had its turn goes to the back; who has lost the CPU to another class goes on first. */
static void shinjuku_requeue(struct process_event *event, struct core_event *core)
{
	struct shinjuku_task *t = event->data;
	u64 now = local_clock();
	s64 had_ns = shinjuku_had_ns(core->id, now);
	bool over = event->flags & (SAAKM_EV_TICK | SAAKM_EV_YIELD) ||
		    had_ns >= (s64)shinjuku_slice_ns(core->id);

	shinjuku_learn(event, core, now);
	t->had_ns = over ? 0 : had_ns;
	shinjuku_give_slice(event, core);
	shinjuku_queue(event, core, now, !over);
}

static void shinjuku_running(struct process_event *event, struct core_event *core)
{
	struct shinjuku_task *t = event->data;

	t->ran_on = core->id;
	shinjuku_core(core->id)->contended = core->nr_runnable > 1;
	WRITE_ONCE(shinjuku_core(core->id)->since_ns, local_clock() - t->had_ns);
	shinjuku_publish(core);
}

/* To the dispatcher, its turn is over. */
static void shinjuku_yield(struct process_event *event, struct core_event *core)
{
	shinjuku_core(core->id)->contended = false;
	if (central)
		WRITE_ONCE(shinjuku_core(core->id)->since_ns, 0);
}

static void shinjuku_block(struct process_event *event, struct core_event *core)
{
	struct shinjuku_task *t = event->data;

	t->had_ns = 0;
	change_state(event->task, SAAKM_BLOCKED, core->id, NULL);
	shinjuku_publish(core);
}

static void shinjuku_terminate(struct process_event *event, struct core_event *core)
{
	shinjuku_core(core->id)->contended = false;
	shinjuku_publish(core);
}

static void shinjuku_attr_changed(struct process_event *event, struct core_event *core)
{
	shinjuku_publish(core);
	if (!shinjuku_dispatched())
		saakm_preempt(core);
}

/* Also by the dispatcher, from one queue of a core to the other. It is in none now. */
static void shinjuku_moved(struct process_event *event, struct core_event *from,
			   struct core_event *core)
{
	struct shinjuku_core *own = shinjuku_core(core->id);

	shinjuku_core(from->id)->contended = false;
	shinjuku_publish(from);
	if (central && !shinjuku_assigns() &&
	    (!core->rq.nr_tasks || shinjuku_key(event->task) < own->first_key))
		shinjuku_publish_one(own, event->task);
}

/* Slices end by a timer; but without a dispatcher, those that it would have ended end here. */
static void shinjuku_tick(struct process_event *event, struct core_event *core)
{
	if (central && !shinjuku_dispatched() && core->nr_runnable > 1 &&
	    shinjuku_slice_is_over(core->id))
		change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
}

static bool shinjuku_wakeup_preempt(struct task_struct *running, struct task_struct *woken)
{
	if (central && saakm_rq_first(&shinjuku_core(task_cpu(woken))->assigned))
		return true;
	return !shinjuku_dispatched() && shinjuku_class(woken) > shinjuku_class(running);
}

/* Whoever has had its turn makes way for equals, not for those of a lower class. */
static struct task_struct *shinjuku_first_here(struct core_event *core)
{
	struct task_struct *first = saakm_rq_first(&core->rq), *curr = core->curr;

	if (!first || !curr)
		return first ?: curr;
	if (shinjuku_class(first) == shinjuku_class(curr))
		return saakm_curr(core) ?: first;
	shinjuku_core(core->id)->contended = false;	/* if it goes on, then without an event */
	return shinjuku_class(first) > shinjuku_class(curr) ? first : curr;
}

static struct task_struct *shinjuku_schedule(struct core_event *core)
{
	struct shinjuku_core *own = shinjuku_core(core->id);
	struct task_struct *first;

	if (!central)
		return shinjuku_first_here(core);
	first = saakm_rq_first(&own->assigned);
	WRITE_ONCE(own->by_itself, !first && !shinjuku_dispatches(core->id));
	if (own->by_itself)
		return shinjuku_first_here(core);
	return first ?: saakm_curr(core);
}

/* A CPU more, or less */
static void shinjuku_core_changes(struct core_event *core)
{
	if (central)
		shinjuku_call_dispatcher();
}

/* Balancing */

static void shinjuku_newly_idle(struct core_event *core)
{
	struct saakm_rq *longest = &core->rq;
	unsigned int most = 0;
	int cpu;

	if (shinjuku_dispatched())
		return;
	for_each_online_cpu(cpu) {
		struct saakm_rq *rq = &saakm_core_of(&shinjuku, cpu)->rq;
		unsigned int nr = READ_ONCE(rq->nr_tasks);

		if (cpu != core->id && nr > most) {
			most = nr;
			longest = rq;
		}
	}
	/* All of them may be bound to its CPU. */
	if (most && saakm_steal(longest, core->id, &core->rq, 1, NULL, NULL) <= 0)
		saakm_pull_idle(core);
}

/* Whom the dispatcher would have served, before something took its CPU. */
static void shinjuku_wake_idle_cpus(void)
{
	int cpu;

	for_each_online_cpu(cpu) {
		if (saakm_running_prio(cpu) == MAX_PRIO &&
		    READ_ONCE(saakm_core_of(&shinjuku, cpu)->rq.nr_tasks))
			saakm_kick(cpu);
	}
}

static void shinjuku_balancing_select(struct core_event *core)
{
	if (shinjuku_dispatched())
		return;
	if (central)
		shinjuku_wake_idle_cpus();
	saakm_pull_busier(core);
}

/* Parameters */

static int shinjuku_checkparam(struct saakm_policy *policy, const struct sched_attr *attr)
{
	return attr->sched_saakm_param < NR_CLASSES ? 0 : -EINVAL;
}

static int shinjuku_init(struct saakm_policy *policy)
{
	int cpu;

	central = !strcmp(mode, "central");
	if (!central && strcmp(mode, "distributed"))
		return saakm_refuse_load(policy, -EINVAL, "mode=%s: it is distributed or central",
					 mode);
	if (!policy->slice_us)
		return saakm_refuse_load(policy, -EINVAL, "slice_us=0: nobody would be preempted");
	if (!central && dispatcher != -1)
		return saakm_refuse_load(policy, -EINVAL,
					 "dispatcher=%d: only mode=central has one", dispatcher);
	if (!central)
		return 0;
	for_each_possible_cpu(cpu)
		saakm_runqueue_init(&shinjuku_core(cpu)->assigned, cpu, SAAKM_RQ_RBTREE,
				    shinjuku_key);
	if (dispatcher == -1)
		dispatcher = cpumask_last(cpu_online_mask);
	if (dispatcher < 0 || dispatcher >= nr_cpu_ids || !cpu_online(dispatcher))
		return saakm_refuse_load(policy, -EINVAL, "dispatcher=%d: no such CPU is online",
					 dispatcher);
	if (num_online_cpus() < 2)
		return saakm_refuse_load(policy, -EINVAL,
					 "mode=central reserves a CPU, and there is only one");
	return shinjuku_start_dispatcher(policy, dispatcher);
}

static void shinjuku_free_metadata(struct saakm_policy *policy)
{
	if (central)
		shinjuku_stop_dispatcher();
}

static void shinjuku_dump(struct saakm_policy *policy, struct seq_buf *text)
{
	int cpu;

	if (central)
		shinjuku_dump_dispatcher(text);
	for_each_online_cpu(cpu) {
		struct core_event *core = saakm_core_of(policy, cpu);

		seq_buf_printf(text, "cpu %d: %u runnable, %u wait\n", cpu,
			       READ_ONCE(core->nr_runnable), READ_ONCE(core->rq.nr_tasks));
	}
}

SAAKM_POLICY(shinjuku,
	     .queue = SAAKM_RQ_RBTREE, .key = shinjuku_key, .slice_us = 30,
	     .balance_interval_ms = 4, .task_size = sizeof(struct shinjuku_task),
	     .prepare = shinjuku_prepare,
	     .new_place = shinjuku_new_place, .unblock_place = shinjuku_unblock_place,
	     .requeue = shinjuku_requeue, .running = shinjuku_running,
	     .yield = shinjuku_yield, .block = shinjuku_block, .terminate = shinjuku_terminate,
	     .attr_changed = shinjuku_attr_changed, .moved = shinjuku_moved,
	     .tick = shinjuku_tick, .wakeup_preempt = shinjuku_wakeup_preempt,
	     .schedule = shinjuku_schedule, .newly_idle = shinjuku_newly_idle,
	     .balancing_select = shinjuku_balancing_select,
	     .core_entry = shinjuku_core_changes, .core_exit = shinjuku_core_changes,
	     .checkparam_attr = shinjuku_checkparam, .init = shinjuku_init,
	     .free_metadata = shinjuku_free_metadata, .dump = shinjuku_dump);
MODULE_INFO(saakm_promises, "no-starvation, fairness");
