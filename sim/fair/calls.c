// SPDX-License-Identifier: GPL-2.0
/* The calls: how each of fair's is made of the class. */
#include "fair.h"

/* The last call on this CPU was a pick, of this thread. */
static DEFINE_PER_CPU(struct task_struct *, picked);

#define CLASS_OF(name)	(saakm_sched_class.name)

/* As activate_task() does it afterwards. */
static u64 enqueue(struct fair_call *c)
{
	CLASS_OF(enqueue_task)(c->rq, c->p, c->begin.arguments[2]);
	c->p->on_rq = TASK_ON_RQ_QUEUED;
	return 0;
}

/* As block_task() does it afterwards. */
static u64 dequeue(struct fair_call *c)
{
	int flags = c->begin.arguments[2];
	bool gone = CLASS_OF(dequeue_task)(c->rq, c->p, flags);

	if (gone && flags & DEQUEUE_SLEEP)
		c->p->on_rq = 0;
	return gone;
}

static u64 yield_call(struct fair_call *c)
{
	CLASS_OF(yield_task)(c->rq);
	return 0;
}

static u64 wakeup_preempt_call(struct fair_call *c)
{
	CLASS_OF(wakeup_preempt)(c->rq, c->p, c->begin.arguments[2]);
	return 0;
}

/*
 * What __schedule() does afterwards: who gives way has done so. Who is picked again goes on;
 * put_prev_task() and set_next_task() do not follow.
 */
static u64 pick(struct fair_call *c)
{
	struct task_struct *next = CLASS_OF(pick_task)(c->rq);

	clear_tsk_need_resched(c->rq->curr);
	if (next && next == c->rq->curr)
		saakm_goes_on(c->rq, next);
	per_cpu(picked, c->rq->cpu) = next;
	return (unsigned long)next;
}

static u64 put_prev(struct fair_call *c)
{
	CLASS_OF(put_prev_task)(c->rq, c->p, per_cpu(picked, c->rq->cpu));
	return 0;
}

static u64 set_next(struct fair_call *c)
{
	CLASS_OF(set_next_task)(c->rq, c->p, per_cpu(picked, c->rq->cpu) == c->p);
	per_cpu(picked, c->rq->cpu) = NULL;
	return 0;
}

static u64 tick_call(struct fair_call *c)
{
	CLASS_OF(task_tick)(c->rq, c->p, c->begin.arguments[2]);
	return 0;
}

static u64 reweight(struct fair_call *c)
{
	set_load_weight(c->p, true);
	return 0;
}

static u64 switched_from(struct fair_call *c)
{
	CLASS_OF(switched_from)(c->rq, c->p);
	return 0;
}

static u64 switched_to(struct fair_call *c)
{
	CLASS_OF(switched_to)(c->rq, c->p);
	return 0;
}

static u64 prio_changed(struct fair_call *c)
{
	CLASS_OF(prio_changed)(c->rq, c->p, c->begin.arguments[2]);
	return 0;
}

static u64 update_curr(struct fair_call *c)
{
	CLASS_OF(update_curr)(c->rq);
	return 0;
}

static const struct {
	const char *name;
	u64 (*make)(struct fair_call *c);
} table[] = {
	{ "enqueue_task_fair", enqueue }, { "dequeue_task_fair", dequeue },
	{ "yield_task_fair", yield_call }, { "check_preempt_wakeup_fair", wakeup_preempt_call },
	{ "pick_task_fair", pick }, { "put_prev_entity", put_prev },
	{ "set_next_entity", set_next }, { "task_tick_fair", tick_call },
	{ "reweight_task_fair", reweight }, { "switched_from_fair", switched_from },
	{ "switched_to_fair", switched_to }, { "prio_changed_fair", prio_changed },
	{ "update_curr_fair", update_curr },
};

/* Only whether it can be made: replay_run() of a recording of the class is not used. */
const struct replay_call *replay_find_call(const char *name)
{
	static struct replay_call known[ARRAY_SIZE(table)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (!strcmp(table[i].name, name)) {
			known[i].name = table[i].name;
			return &known[i];
		}
	return NULL;
}

const struct replay_member *replay_member(enum replay_kind kind, const char *name);
const struct replay_member *replay_member(enum replay_kind kind, const char *name)
{
	return NULL;
}

static struct sim_context enter(const struct fair_call *call)
{
	struct sim_context outer = sim_context;

	sim_enter_cpu(call->begin.cpu);
	sim_context.preempt = call->begin.preempt & (SIM_SOFTIRQ_MASK | SIM_HARDIRQ_MASK);
	sim_context.irqs_off = false;
	sim_context.task = NULL;
	raw_cpu_write(__irq_regs, call->begin.user ? &model_user_regs : &model_kernel_regs);
	return outer;
}

u64 fair_make(struct fair_call *call)
{
	const char *name = call->function->call->name;
	struct sim_context outer = enter(call);
	u64 returned;
	unsigned int i;

	for (i = 0; strcmp(table[i].name, name); i++)
		;
	sim_context.irqs_off = true;
	raw_spin_lock(&call->rq->__lock);
	returned = table[i].make(call);
	raw_spin_unlock(&call->rq->__lock);
	sim_context = outer;
	return returned;
}

void fair_on_cpu(struct fair_call *call, void (*fn)(struct fair_call *call))
{
	struct sim_context outer = enter(call);

	sim_context.preempt = 0;
	fn(call);
	sim_context = outer;
}
