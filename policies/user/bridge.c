// SPDX-License-Identifier: GPL-2.0
/*
 * The rings: events that go to the agent, and what becomes of its decisions. The kernel reads
 * three counts and the decisions from memory that the agent writes, each once, and believes
 * none of them: a count beyond the ring makes the agent one that does not answer.
 */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>

#include "user.h"

unsigned int user_answer_ms = 100;
module_param_named(answer_ms, user_answer_ms, uint, 0644);
MODULE_PARM_DESC(answer_ms, "an event that is older is not waited for");

#define LOOK_NS		(5 * NSEC_PER_MSEC)	/* whether the agent answers */

/* Events */

static void user_write_event(struct user_agent *agent, struct process_event *event,
			     struct core_event *core, enum user_kind kind, u16 flags)
{
	struct task_struct *task = event->task;
	struct user_task *t = event->data;
	u64 ran_ns = saakm_task_runtime_ns(task);
	struct user_event *e = (void *)agent->page + agent->page_events +
		agent->written % USER_RECORDS * agent->event_bytes;

	e->at_ns = saakm_clock_ns(core);
	e->start_ns = t->start_ns;
	e->stop_ns = t->stop_ns;
	e->used_ns = ran_ns - t->told_at_ns;
	e->exec_ns = ran_ns - t->slept_at_ns;
	e->pid = task->pid;
	e->tgid = task->tgid;
	e->generation = t->generation;
	e->weight = saakm_task_weight(task);
	e->cpu = core->id;
	e->nr_allowed = task->nr_cpus_allowed;
	e->waker = flags & (USER_NEW | USER_WOKEN) && saakm_waker() == SAAKM_WAKER_TASK ?
		current->pid : 0;
	e->kind = kind;
	/* Its first placement may have been the kernel's own, of which nobody was told. */
	e->flags = flags | (t->known ? 0 : USER_NEW);
	memcpy(e->comm, task->comm, sizeof(e->comm));
	memcpy(e->allowed, cpumask_bits(task->cpus_ptr), BITS_TO_LONGS(nr_cpu_ids) * sizeof(long));
	if (kind == USER_READY)
		t->told_at_ns = ran_ns;
}

/* A thread waits. Only who sets @timed starts the timer: it may be running just now. */
void user_watch(struct user_agent *agent)
{
	smp_mb();	/* user_timer(): it sees who waits, or we that it has ended */
	if (READ_ONCE(agent->timed) || xchg(&agent->timed, true))
		return;
	hrtimer_start(&agent->timer, ns_to_ktime(LOOK_NS), HRTIMER_MODE_REL_HARD);
}

/* False if there is no room. Of a READY the caller knows, and places the thread itself. */
bool user_tell(struct user_agent *agent, struct process_event *event, struct core_event *core,
	       enum user_kind kind, u16 flags)
{
	struct user_task *t = event->data;

	scoped_guard(raw_spinlock, &agent->lock) {
		/* Pairs with the agent's store: it has read what is overwritten here. */
		u32 read = smp_load_acquire(&agent->page->events_read);

		if (agent->written - read >= USER_RECORDS) {
			if (kind != USER_READY)
				WRITE_ONCE(agent->page->lost, ++agent->lost);
			return false;
		}
		WRITE_ONCE(agent->asked[agent->written % USER_RECORDS], jiffies);
		user_write_event(agent, event, core, kind, flags);
		WRITE_ONCE(agent->written, agent->written + 1);
		/* Pairs with the agent's load: it sees the record. */
		smp_store_release(&agent->page->events_written, agent->written);
	}
	t->known = true;
	if (kind == USER_READY)
		t->asked = jiffies;
	smp_mb();	/* Pairs with user_wakes(): it sees the event, or this that it sleeps. */
	if (READ_ONCE(agent->asleep)) {
		WRITE_ONCE(agent->asleep, false);
		saakm_notify(&agent->calls);
	}
	return true;
}

/* Could it do something for a CPU that has run dry? */
bool user_wanted(const struct user_agent *agent, const struct user_core *own)
{
	return user_unread(agent) || own->waiting.nr_tasks || READ_ONCE(agent->page->held);
}

/* Or shall a CPU that has run dry elect a thread about which it has not decided? */
bool user_answers(const struct user_agent *agent, struct user_core *own)
{
	unsigned long limit = msecs_to_jiffies(READ_ONCE(user_answer_ms));
	unsigned long since = own->dry;
	struct user_task *t;
	u32 unread;

	if (!agent || !user_alive(agent))
		return false;
	/* So that it is seen when it decides again: some 16 ms of 100 */
	if (READ_ONCE(agent->failing))
		limit = min(limit, limit / 8 + 1);
	unread = user_unread(agent);
	if (unread > USER_RECORDS)
		return false;
	if (unread)
		return time_before(jiffies, user_oldest(agent, unread) + limit);
	/* It has read of it. Where others run this one may wait, as long as it decides at all. */
	t = saakm_task_data(saakm_rq_first(&own->waiting));
	since = since ?: READ_ONCE(agent->decided_at);
	if (time_before(since, t->asked))
		since = t->asked;
	return time_before(jiffies, since + limit);
}

/* Not only those that idle: the server of a CPU with fair threads has stopped, see saakm_kick() */
void user_kick_waiting(const struct user_agent *agent)
{
	int cpu;

	guard(preempt)();
	for_each_cpu(cpu, &agent->cpus) {
		if (READ_ONCE(user_core(cpu)->waiting.nr_tasks) &&
		    !saakm_running_on(agent->policy, cpu))
			saakm_kick(cpu);
	}
}

static bool user_any_waits(const struct user_agent *agent)
{
	int cpu;

	for_each_cpu(cpu, &agent->cpus) {
		if (READ_ONCE(user_core(cpu)->waiting.nr_tasks))
			return true;
	}
	return false;
}

/* CPUs that idle while threads wait for decisions look again whether these still come. */
enum hrtimer_restart user_timer(struct hrtimer *timer)
{
	struct user_agent *agent = container_of(timer, struct user_agent, timer);

	if (!user_any_waits(agent)) {
		WRITE_ONCE(agent->timed, false);
		smp_mb();	/* user_watch() */
		/* Or somebody else has started it. */
		if (!user_any_waits(agent) || xchg(&agent->timed, true))
			return HRTIMER_NORESTART;
	}
	user_kick_waiting(agent);
	hrtimer_forward_now(timer, ns_to_ktime(LOOK_NS));
	return HRTIMER_RESTART;
}

/* Decisions */

#define KNOWN_FLAGS	(USER_PREEMPT | USER_TICKS)

struct user_move {
	const struct user_decision	*decision;
	bool				any;
};

/* Under the locks of both CPUs. */
static bool user_still_waits(struct task_struct *task, void *arg)
{
	struct user_move *move = arg;
	struct user_task *t = saakm_task_data(task);

	if (!t->undecided || t->generation != move->decision->generation)
		return false;
	t->undecided = false;
	t->decided = true;
	t->last = false;
	t->key = move->decision->key;
	t->slice_ns = move->decision->slice_ns;
	t->preempts = move->decision->flags & USER_PREEMPT;
	t->ticks = move->decision->flags & USER_TICKS;
	t->any = move->any;
	return true;
}

/* Does nobody run there, or wait for the CPU? */
static bool user_is_free(const struct user_agent *agent, int cpu)
{
	return saakm_running_prio(cpu) == MAX_PRIO && cpu_active(cpu) &&
	       !READ_ONCE(saakm_core_of(agent->policy, cpu)->rq.nr_tasks);
}

/* For USER_ANY: where the thread waits, or another one that is free; else this one, which has
 * run dry: the agent goes last.
 */
static int user_any_cpu(const struct user_agent *agent, const struct task_struct *task)
{
	int here = smp_processor_id(), there = task_cpu(task), cpu;

	if (here == there || user_is_free(agent, there))
		return there;
	for_each_set_bit(cpu, agent->idle, nr_cpu_ids) {
		if (cpumask_test_cpu(cpu, task->cpus_ptr) &&
		    cpumask_test_cpu(cpu, &agent->cpus) && user_is_free(agent, cpu))
			return cpu;
	}
	return cpumask_test_cpu(here, task->cpus_ptr) ? here : there;
}

static int user_move_to(const struct user_agent *agent, struct task_struct *task, int cpu,
			struct user_move *move)
{
	struct saakm_rq *to = move->decision->flags & USER_PREEMPT ? &user_core(cpu)->urgent :
		&saakm_core_of(agent->policy, cpu)->rq;

	return saakm_move_task_if(task, cpu, to, user_still_waits, move);
}

static unsigned long *user_decide(struct user_agent *agent, const struct user_decision *decision)
{
	struct user_move move = { .decision = decision };
	struct task_struct *task;
	bool bounced = false;
	int cpu, ret = -EPERM;

	guard(rcu)();
	guard(preempt)();
	task = pid_task(find_pid_ns(decision->pid, &init_pid_ns), PIDTYPE_PID);
	if (!task)
		return &agent->gone;
	move.any = decision->cpu == USER_ANY;
	cpu = move.any ? user_any_cpu(agent, task) : decision->cpu;
	/* What an unknown flag would mean is unknown, also whether it is about the place. */
	if (!(decision->flags & ~KNOWN_FLAGS) && cpu >= 0 && cpu < nr_cpu_ids &&
	    cpumask_test_cpu(cpu, &agent->cpus))
		ret = user_move_to(agent, task, cpu, &move);
	if (ret == -EPERM) {
		/* "Anywhere" is also where it waits, be it in another domain. */
		bounced = !move.any || decision->flags & ~KNOWN_FLAGS;
		move.any = true;
		ret = user_move_to(agent, task, task_cpu(task), &move);
	}
	if (ret == -EINVAL)
		return &agent->gone;
	if (ret)
		return &agent->stale;
	WRITE_ONCE(agent->failing, false);
	WRITE_ONCE(agent->decided_at, jiffies);
	/* Behind fair's threads the class may have stopped to look while all were held back. */
	cpu = task_cpu(task);
	if (!saakm_running_on(agent->policy, cpu) && user_others_wait(agent, cpu))
		saakm_kick(cpu);
	return bounced ? &agent->bounced : &agent->decided;
}

void user_carry_out(struct user_agent *agent)
{
	struct user_decision *ring = (void *)agent->page + agent->page_decisions, decision;
	/* Pairs with the agent's store: its records are seen. */
	u32 written = smp_load_acquire(&agent->page->decisions_written);

	if (written - agent->done > USER_RECORDS) {
		agent->bad++;
		agent->done = written;
	}
	while (agent->done != written) {
		/* The agent may change it meanwhile: no field is read twice. */
		memcpy(&decision, &ring[agent->done % USER_RECORDS], sizeof(decision));
		barrier();
		++*user_decide(agent, &decision);
		agent->done++;
	}
	/* Pairs with the agent's load: there is room when they have been read. */
	smp_store_release(&agent->page->decisions_read, written);
}

/* No longer does anybody come: the threads are as if the kernel had placed them. */

static bool user_release_one(struct task_struct *task, void *unused)
{
	struct user_task *t = saakm_task_data(task);

	t->undecided = false;
	t->decided = false;
	t->generation++;
	t->last = true;
	t->key = user_core(task_cpu(task))->key + USER_FAR;
	t->slice_ns = 0;
	t->any = true;
	return true;
}

void user_release_waiting(struct saakm_policy *policy, const struct cpumask *cpus)
{
	int cpu;

	for_each_cpu(cpu, cpus) {
		while (saakm_steal(&user_core(cpu)->waiting, cpu, &saakm_core_of(policy, cpu)->rq,
				   32, user_release_one, NULL) > 0)
			;
	}
}

/* Somebody comes: who is in a queue already does not wait behind all that it decides. */
void user_put_in_front(struct saakm_policy *policy, const struct cpumask *cpus)
{
	int cpu;

	guard(preempt)();
	for_each_cpu(cpu, cpus) {
		struct saakm_rq *rq = &saakm_core_of(policy, cpu)->rq;
		struct saakm_rq *to = &user_core(cpu)->urgent;

		while (saakm_steal(rq, cpu, to, 32, NULL, NULL) > 0)
			;
		if (READ_ONCE(to->nr_tasks) && !saakm_running_on(policy, cpu))
			saakm_kick(cpu);
	}
}
