// SPDX-License-Identifier: GPL-2.0
/*
 * user: a program in user space decides. What happens to threads goes to it through a ring, its
 * decisions come back through another: protocol.h; bridge.c does both, device.c is the file.
 *
 * A thread that wants a CPU waits, in a queue of its own CPU, until the agent has decided about
 * it. Then it is in core->rq, of some CPU, by the key that the agent gave it. The agent is a
 * thread of this policy. While others that it has decided about wait for its CPU it is parked:
 * it goes last, so that events pile up, and are served in one go. A CPU that has nobody left to
 * run takes the agent from where it is parked.
 *
 * A CPU without an agent, or with one that does not answer, is a FIFO.
 */
#include <linux/saakm.h>

#include "user.h"

DEFINE_PER_CPU_SHARED_ALIGNED(struct user_core, user_cores);

atomic_t user_threads = ATOMIC_INIT(0);	/* that have been placed */

#define HEARTBEAT	HZ		/* an agent that is parked runs that often */
#define OVERDUE		(HZ / 250 ?: 1)	/* an event waits for so long for others to join */

static u64 user_key(const struct task_struct *task)
{
	struct user_task *t = saakm_task_data(task);

	return t->key;
}

/* Placing */

/* In order of arrival: after those that run, and without an agent after those that wait, too. */
static void user_place_here(struct process_event *event, struct core_event *core,
			    unsigned long *count)
{
	struct user_core *own = user_core(core->id);
	struct user_task *t = event->data;

	++*count;
	t->decided = false;
	t->last = count == &own->counts.alone;
	t->key = own->key + (t->last ? USER_FAR : 0);
	t->slice_ns = 0;
	t->any = true;
	change_state(event->task, SAAKM_READY, core->id, &core->rq);
}

/*
 * Why the kernel places the thread by itself, if it does: what to count. A thread may join, or
 * come back from a higher class, while it has the CPU.
 */
static unsigned long *user_placed_by_kernel(struct process_event *event, struct core_event *core,
					    struct user_agent *agent, bool leaves)
{
	struct user_core *own = user_core(core->id);
	struct user_task *t = event->data;

	if (!agent || !user_alive(agent))
		return &own->counts.alone;
	if (t->tgid == agent->tgid || (event->task->on_cpu && !leaves) ||
	    (event->task->flags & PF_KTHREAD && event->task->nr_cpus_allowed == 1))
		return &own->counts.own;
	if (!(agent->flags & USER_NO_FAST_PATH) && core->nr_runnable == 1 &&
	    saakm_running_prio(core->id) == MAX_PRIO)
		return &own->counts.fast;
	return NULL;
}

/* Then it can be had where somebody's turn was over meanwhile. */
static void user_park_agent(struct process_event *event, struct core_event *core,
			    struct user_agent *agent)
{
	struct user_task *t = event->data;
	int cpu;

	t->asked = jiffies;
	change_state(event->task, SAAKM_READY, core->id, &user_core(core->id)->parked);
	if (likely(!READ_ONCE(agent->over)))
		return;
	for_each_cpu_wrap(cpu, &agent->cpus, agent->kicked + 1) {
		if (READ_ONCE(user_core(cpu)->over)) {
			agent->kicked = cpu;
			saakm_kick(cpu);	/* there it parks, too: the next one then */
			return;
		}
	}
	WRITE_ONCE(agent->over, false);
}

static void user_ask(struct process_event *event, struct core_event *core, u16 flags)
{
	struct user_core *own = user_core(core->id);
	struct user_agent *agent = user_agent_of(own);
	struct user_task *t = event->data;
	unsigned long *count;

	t->preempts = false;
	if (user_decides(agent, event->task)) {
		user_park_agent(event, core, agent);
		return;
	}
	count = user_placed_by_kernel(event, core, agent,
				      flags & (USER_SLICE | USER_YIELDED));
	if (count) {
		user_place_here(event, core, count);
		return;
	}
	t->generation++;
	if (!user_tell(agent, event, core, USER_READY, flags)) {
		user_place_here(event, core, &own->counts.full);
		return;
	}
	t->undecided = true;
	change_state(event->task, SAAKM_READY, core->id, &own->waiting);
	user_watch(agent);
	if (agent->flags & USER_NO_BURST && own->parked.nr_tasks)
		saakm_preempt(core);
}

static int user_prepare(struct process_event *event)
{
	struct user_agent *agent = user_agent_of(user_core(event->prev_cpu));

	if (agent && agent->flags & USER_NO_FAST_PATH && agent->thread != event->task)
		return event->prev_cpu;
	return saakm_idle_prepare(event);
}

static void user_new_place(struct process_event *event, struct core_event *core)
{
	struct user_task *t = event->data;

	atomic_inc(&user_threads);
	t->tgid = event->task->tgid;
	t->ran_at_ns = saakm_task_runtime_ns(event->task);
	t->told_at_ns = t->ran_at_ns;
	t->slept_at_ns = t->ran_at_ns;
	user_ask(event, core, USER_NEW);
}

static void user_unblock_place(struct process_event *event, struct core_event *core)
{
	struct user_task *t = event->data;

	if (event->flags & SAAKM_EV_OUSTED) {
		user_ask(event, core, USER_MOVED);
		return;
	}
	t->slept_at_ns = saakm_task_runtime_ns(event->task);
	user_ask(event, core, USER_WOKEN | (event->flags & SAAKM_EV_SYNC ? USER_SYNC : 0));
}

static u64 user_ran_ns(const struct task_struct *task, const struct user_task *t)
{
	return saakm_task_runtime_ns(task) - t->ran_at_ns;
}

static u64 user_slice_ns(const struct core_event *core, const struct user_task *t)
{
	return t->slice_ns ?: READ_ONCE(core->policy->slice_us) * NSEC_PER_USEC;
}

/*
 * The class ends a turn if others wait for the same CPU. It ends with a tick, too, if the agent
 * keeps somebody for a CPU that runs dry: once the slice is used, and at once if the kernel gave
 * the turn by itself, since it is long, and nobody has compared the thread with others.
 */
static bool user_is_to_be_compared(const struct user_agent *agent, struct task_struct *task,
				   const struct core_event *core)
{
	struct user_task *t = saakm_task_data(task);

	if (!agent || t->tgid == agent->tgid || READ_ONCE(agent->failing) ||
	    (t->decided && user_ran_ns(task, t) < user_slice_ns(core, t)))
		return false;
	if (user_others_wait(agent, core->id) ||
	    (READ_ONCE(agent->page->held) && !READ_ONCE(agent->asleep)))
		return true;
	return (!t->decided || (t->ticks && user_core(core->id)->waiting.nr_tasks)) &&
	       user_unread(agent);
}

/* It was when the agent was busy elsewhere, which may have decided about the others since. */
static bool user_is_over(const struct user_core *own, const struct user_agent *agent,
			 const struct core_event *core)
{
	return own->over && core->curr && user_is_to_be_compared(agent, core->curr, core);
}

/*
 * Whose slice is not over has lost the CPU to others: it keeps the rest, and its place; but not
 * if it was last while there was no agent, and there is one now.
 */
static void user_requeue(struct process_event *event, struct core_event *core)
{
	struct user_core *own = user_core(core->id);
	struct user_agent *agent = user_agent_of(own);
	struct user_task *t = event->data;
	u64 ran_ns = user_ran_ns(event->task, t), slice_ns = user_slice_ns(core, t);

	WRITE_ONCE(own->over, false);
	t->stop_ns = saakm_clock_ns(core);
	if (event->flags & SAAKM_EV_YIELD) {
		user_ask(event, core, USER_YIELDED);
	} else if (ran_ns >= slice_ns || user_decides(agent, event->task) || (agent && t->last) ||
		   user_is_to_be_compared(agent, event->task, core)) {
		user_ask(event, core, USER_SLICE);
	} else {
		t->slice_ns = slice_ns - ran_ns;
		t->key = t->last ? own->key : t->key;
		change_state(event->task, SAAKM_READY, core->id, &core->rq);
	}
}

/* The class may have done so, because the thread was preempted in the kernel. */
static void user_runs_undecided(struct process_event *event, struct user_core *own)
{
	struct user_agent *agent = user_agent_of(own);
	struct user_task *t = event->data;

	t->undecided = false;
	t->decided = false;
	t->generation++;	/* a decision would be late */
	t->slice_ns = 0;
	if (event->flags & SAAKM_EV_FORCED)
		return;
	own->counts.rescued++;
	if (agent && agent->thread != event->task)
		WRITE_ONCE(agent->failing, true);
}

/* The class takes a timer for slices that are shorter than a tick. */
static void user_set_slice(struct task_struct *task, struct user_task *t)
{
	u64 slice_ns = t->slice_ns;

	if (t->ticks && t->decided && slice_ns)
		slice_ns = max_t(u64, slice_ns, TICK_NSEC);
	if (slice_ns != t->set_ns)
		saakm_set_slice(task, slice_ns);
	t->set_ns = slice_ns;
}

static void user_running(struct process_event *event, struct core_event *core)
{
	struct user_core *own = user_core(core->id);
	struct user_task *t = event->data;

	WRITE_ONCE(own->over, false);
	t->start_ns = saakm_clock_ns(core);
	t->ran_at_ns = saakm_task_runtime_ns(event->task);
	t->preempts = false;
	if (!t->last)
		own->key = t->key;
	if (!user_decides(user_agent_of(own), event->task))
		own->dry = 0;
	if (unlikely(t->undecided))
		user_runs_undecided(event, own);
	user_set_slice(event->task, t);
}

static void user_block(struct process_event *event, struct core_event *core)
{
	struct user_core *own = user_core(core->id);
	struct user_agent *agent = user_agent_of(own);
	struct user_task *t = event->data;

	WRITE_ONCE(own->over, false);
	t->stop_ns = saakm_clock_ns(core);
	t->undecided = false;
	if (agent && t->known && agent->flags & USER_TELL_SLEEPS &&
	    !(event->flags & SAAKM_EV_OUSTED))
		user_tell(agent, event, core, USER_SLEEPS, 0);
}

static void user_attr_changed(struct process_event *event, struct core_event *core)
{
	struct user_agent *agent = user_agent_of(user_core(core->id));
	struct user_task *t = event->data;

	if (agent && t->known)
		user_tell(agent, event, core, USER_CHANGED, 0);
}

static void user_terminate(struct process_event *event, struct core_event *core)
{
	struct user_core *own = user_core(core->id);
	struct user_agent *agent = user_agent_of(own);
	struct user_task *t = event->data;

	WRITE_ONCE(own->over, false);
	atomic_dec(&user_threads);
	if (agent && t->known)
		user_tell(agent, event, core, USER_LEFT, 0);
}

/* Electing */

/* An agent that is parked goes before others. @agent: NULL just after it has been replaced. */
static bool user_is_due(const struct user_agent *agent, struct task_struct *parked)
{
	struct user_task *t = saakm_task_data(parked);
	u32 unread;

	if (!user_decides(agent, parked) || !user_alive(agent) ||
	    time_after(jiffies, t->asked + HEARTBEAT))
		return true;
	unread = user_unread(agent);
	if (!unread || unread > USER_RECORDS || READ_ONCE(agent->failing))
		return false;
	return agent->flags & USER_NO_BURST ||
	       time_after_eq(jiffies, user_oldest(agent, unread) + OVERDUE);
}

/* It has the CPU, and somebody waits for that who does not wait for it any longer. */
static bool user_is_in_the_way(const struct user_agent *agent, struct user_core *own)
{
	return READ_ONCE(agent->failing) && own->waiting.nr_tasks && !user_answers(agent, own);
}

/*
 * Who runs goes on, unless its turn was over when the agent was busy elsewhere, or it is an agent
 * for which nobody waits any longer.
 */
static struct task_struct *user_goes_on(struct core_event *core, struct user_core *own,
					const struct user_agent *agent)
{
	struct task_struct *curr = saakm_curr(core);

	if (user_is_over(own, agent, core) ||
	    (curr && user_decides(agent, curr) && user_is_in_the_way(agent, own)))
		return NULL;
	return curr;
}

/* Who is not answered goes before those that others than the agent have put into core->rq. */
static struct task_struct *user_waits_in_vain(struct user_core *own,
					      const struct user_agent *agent)
{
	struct task_struct *first = saakm_rq_first(&own->waiting);
	struct user_task *t;

	if (!first)
		return NULL;
	t = saakm_task_data(first);
	return time_after(jiffies, t->asked + msecs_to_jiffies(READ_ONCE(user_answer_ms))) &&
		!user_answers(agent, own) ? first : NULL;
}

static struct task_struct *user_schedule(struct core_event *core)
{
	struct user_core *own = user_core(core->id);
	struct user_agent *agent = user_agent_of(own);
	struct task_struct *parked = saakm_rq_first(&own->parked), *first;
	bool over;

	if (parked && user_is_due(agent, parked))
		return parked;
	first = saakm_rq_first(&own->urgent) ?: user_goes_on(core, own, agent) ?:
		user_waits_in_vain(own, agent) ?: saakm_rq_first(&core->rq);
	if (first)
		return first;
	own->dry = own->dry ?: jiffies | 1;	/* refill is not called below a fair thread */
	if (parked && user_wanted(agent, own))
		return parked;
	first = saakm_rq_first(&own->waiting);
	if (first && !user_answers(agent, own))
		return first;
	over = core->curr && user_is_to_be_compared(agent, core->curr, core) &&
		(parked || cpumask_test_cpu(core->id, agent->thread->cpus_ptr));
	WRITE_ONCE(own->over, over);
	if (over && !parked) {
		/* It is busy elsewhere. If it parks just now, the next tick comes here again. */
		WRITE_ONCE(agent->over, true);
		return core->curr;
	}
	return over ? parked : core->curr ?: parked;
}

/* Nobody waits here about whom the agent has decided. */
static void user_refill(struct core_event *core)
{
	struct user_core *own = user_core(core->id);
	struct user_agent *agent = user_agent_of(own);

	if ((saakm_curr(core) && !user_is_over(own, agent, core)) || own->urgent.nr_tasks)
		return;
	own->dry = own->dry ?: jiffies | 1;
	if (agent && !own->parked.nr_tasks && user_wanted(agent, own))
		saakm_take_task(core, agent->thread, &own->parked);
}

static bool user_may_go(struct task_struct *task, void *unused)
{
	struct user_task *t = saakm_task_data(task);

	return t->any;
}

static bool user_is_agent(struct task_struct *task, void *agent)
{
	return task == agent;
}

/* Others' threads first; if there are none, the agent may have something. */
static void user_newly_idle(struct core_event *core)
{
	struct user_core *own = user_core(core->id);
	struct user_agent *agent = user_agent_of(own);
	int cpu;

	for_each_cpu_wrap(cpu, agent ? &agent->cpus : cpu_possible_mask, core->id + 1) {
		struct saakm_rq *rq = &saakm_core_of(core->policy, cpu)->rq;

		if (cpu != core->id && READ_ONCE(rq->nr_tasks) &&
		    saakm_steal(rq, core->id, &core->rq, 1, user_may_go, NULL) > 0)
			return;
	}
	if (!agent || !user_wanted(agent, own))
		return;
	/* From the queue: the thread may have gone to another policy. */
	cpu = task_cpu(agent->thread);
	if (cpu != core->id)
		saakm_steal(&user_core(cpu)->parked, core->id, &own->parked, 1, user_is_agent,
			    agent->thread);
}

static void user_tick(struct process_event *event, struct core_event *core)
{
	struct user_core *own = user_core(core->id);
	struct task_struct *parked = saakm_rq_first(&own->parked);
	struct user_agent *agent = user_agent_of(own);

	if (user_decides(agent, event->task) ? user_is_in_the_way(agent, own) :
	    (parked && user_is_due(agent, parked)) ||
	    user_is_to_be_compared(agent, event->task, core))
		change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
}

static bool user_wakeup_preempt(struct task_struct *running, struct task_struct *woken)
{
	struct user_agent *agent = user_agent_of(user_core(task_cpu(woken)));
	struct user_task *t = saakm_task_data(woken);

	if (user_decides(agent, woken))
		return agent->flags & USER_NO_BURST;
	if (t->undecided)
		return user_decides(agent, running) && READ_ONCE(agent->failing);
	return t->preempts;
}

static void user_show_idle(int cpu, bool idle)
{
	struct user_agent *agent = user_agent_of(user_core(cpu));

	if (agent && idle)
		set_bit(cpu, agent->idle);
	else if (agent)
		clear_bit(cpu, agent->idle);
}

static void user_enter_idle(struct core_event *core)
{
	user_show_idle(core->id, true);
}

static void user_exit_idle(struct core_event *core)
{
	user_show_idle(core->id, false);
}

static int user_init(struct saakm_policy *policy)
{
	int cpu;

	if (user_attached)
		return saakm_refuse_load(policy, -EINVAL, "agents=%u: it can only be read",
					 user_attached);
	if (!policy->slice_us)
		return saakm_refuse_load(policy, -EINVAL,
					 "slice_us=0: who never sleeps would keep its CPU");
	for_each_possible_cpu(cpu) {
		saakm_runqueue_init(&user_core(cpu)->waiting, cpu, SAAKM_RQ_FIFO, NULL);
		saakm_runqueue_init(&user_core(cpu)->parked, cpu, SAAKM_RQ_FIFO, NULL);
		saakm_runqueue_init(&user_core(cpu)->urgent, cpu, SAAKM_RQ_FIFO, NULL);
	}
	user_start_looking(policy);
	return 0;
}

static void user_free_metadata(struct saakm_policy *policy)
{
	user_stop_looking();
}

static void user_dump(struct saakm_policy *policy, struct seq_buf *text)
{
	int cpu;

	user_dump_agents(text);
	for_each_online_cpu(cpu) {
		struct user_core *own = user_core(cpu);
		struct user_counts *counts = &own->counts;

		seq_buf_printf(text, "cpu %d: %u wait for a decision, %u for the CPU; ",
			       cpu, READ_ONCE(own->waiting.nr_tasks),
			       READ_ONCE(saakm_core_of(policy, cpu)->rq.nr_tasks));
		seq_buf_printf(text, "placed by the kernel: on an idle CPU %lu, ", counts->fast);
		seq_buf_printf(text, "the agent's own %lu, ", counts->own);
		seq_buf_printf(text, "without an agent %lu, ring full %lu; no answer %lu\n",
			       counts->alone, counts->full, counts->rescued);
	}
}

static struct saakm_policy user = {
	.name = "user", .owner = THIS_MODULE,
	.queue = SAAKM_RQ_RBTREE, .key = user_key, .slice_us = 20000,
	.task_size = sizeof(struct user_task),
	.prepare = user_prepare,
	.new_place = user_new_place, .unblock_place = user_unblock_place,
	.requeue = user_requeue, .running = user_running, .block = user_block,
	.attr_changed = user_attr_changed, .terminate = user_terminate,
	.tick = user_tick, .wakeup_preempt = user_wakeup_preempt,
	.schedule = user_schedule, .refill = user_refill, .newly_idle = user_newly_idle,
	.enter_idle = user_enter_idle, .exit_idle = user_exit_idle,
	.init = user_init, .free_metadata = user_free_metadata, .dump = user_dump,
};

/* What module_saakm_policy() would declare; but the device comes last, see below. */
module_param_named(slice_us, user.slice_us, uint, 0644);
static char *replaces;
module_param(replaces, charp, 0444);
static int timeout_ms = -1;
module_param(timeout_ms, int, 0444);
static char *on_violation;
module_param(on_violation, charp, 0444);

/* A file that is open keeps a module, but not one whose load fails: no load does from there on. */
static int __init user_load_policy(void)
{
	int ret = saakm_set_options(&user, replaces, timeout_ms, on_violation) ?:
		saakm_add_policy(&user);

	if (ret)
		return ret;
	ret = user_make_device();
	if (ret)
		saakm_remove_policy(&user);
	return ret;
}

static void __exit user_unload_policy(void)
{
	user_remove_device();
	saakm_remove_policy(&user);
}

module_init(user_load_policy);
module_exit(user_unload_policy);
MODULE_DESCRIPTION("SaaKM policy user");
MODULE_LICENSE("GPL");
