// SPDX-License-Identifier: GPL-2.0
/* The calls: how each is made here, and in which context. */
#include "replay.h"

#define A(n)		(begin->arguments[n])
#define RQ(n)		replay_rq(A(n))
#define TASK(n)		replay_task(A(n))
#define CALL(name_, ...)							\
	static u64 call_##name_(const struct replay_begin *begin) { __VA_ARGS__ }

static struct rq_flags rf;

CALL(enqueue_task_saakm,
     saakm_sched_class.enqueue_task(RQ(0), TASK(1), A(2)); return 0;)
CALL(dequeue_task_saakm,
     return saakm_sched_class.dequeue_task(RQ(0), TASK(1), A(2));)
CALL(yield_task_saakm, saakm_sched_class.yield_task(RQ(0)); return 0;)
CALL(wakeup_preempt_saakm,
     saakm_sched_class.wakeup_preempt(RQ(0), TASK(1), A(2)); return 0;)
CALL(balance_saakm, return saakm_sched_class.balance(RQ(0), TASK(1), &rf);)
CALL(saakm_pick_task, return (unsigned long)saakm_pick_task(RQ(0));)
CALL(put_prev_task_saakm,
     saakm_sched_class.put_prev_task(RQ(0), TASK(1), TASK(2)); return 0;)
CALL(set_next_task_saakm,
     saakm_sched_class.set_next_task(RQ(0), TASK(1), (u8)A(2)); return 0;)
CALL(select_task_rq_saakm,
     return saakm_sched_class.select_task_rq(TASK(0), A(1), A(2));)
CALL(task_tick_saakm, saakm_sched_class.task_tick(RQ(0), TASK(1), A(2)); return 0;)
CALL(task_fork_saakm, saakm_sched_class.task_fork(TASK(0)); return 0;)
CALL(switched_from_saakm, saakm_sched_class.switched_from(RQ(0), TASK(1)); return 0;)
CALL(switched_to_saakm, saakm_sched_class.switched_to(RQ(0), TASK(1)); return 0;)
CALL(prio_changed_saakm,
     saakm_sched_class.prio_changed(RQ(0), TASK(1), A(2)); return 0;)
CALL(saakm_update_curr, saakm_sched_class.update_curr(RQ(0)); return 0;)

CALL(__saakm_newly_idle, return __saakm_newly_idle(RQ(0), &rf);)
CALL(__saakm_refill, __saakm_refill(RQ(0), &rf); return 0;)
CALL(saakm_pick_shared, return (unsigned long)saakm_pick_shared(RQ(0));)
CALL(__saakm_goes_on, __saakm_goes_on(RQ(0), TASK(1)); return 0;)
CALL(saakm_prio_less, return saakm_prio_less(TASK(0), TASK(1));)
CALL(saakm_can_stop_tick, return saakm_can_stop_tick(RQ(0));)
CALL(saakm_trigger_balance, saakm_trigger_balance(RQ(0)); return 0;)
CALL(saakm_nohz_kick, saakm_nohz_kick(RQ(0)); return 0;)
CALL(saakm_count_kicks_anew, saakm_count_kicks_anew(RQ(0)); return 0;)
CALL(__saakm_enter_idle, __saakm_enter_idle(RQ(0)); return 0;)
CALL(saakm_exit_idle, saakm_exit_idle(RQ(0), TASK(1)); return 0;)
CALL(__saakm_note_forced_idle, __saakm_note_forced_idle(RQ(0), (u8)A(1)); return 0;)

/* The state of one sched_setattr(), by its address on the stack there. */
static struct change {
	u64 address;			/* 0: unused */
	struct saakm_setsched state;
} changes[64];

static struct change *change_at(u64 address)
{
	struct change *c, *unused = NULL;

	for (c = changes; c < changes + ARRAY_SIZE(changes); c++) {
		if (c->address == address)
			return c;
		if (!c->address)
			unused = c;
	}
	BUG_ON(!unused);
	unused->address = address;
	return unused;
}

static struct saakm_setsched *setsched(u64 address)
{
	return &change_at(address)->state;
}

static void setsched_ends(u64 address)
{
	*change_at(address) = (struct change) { };
}

static const struct sched_attr *attributes(const struct replay_begin *begin)
{
	static struct sched_attr attr;

	BUILD_BUG_ON(sizeof(attr) != sizeof(begin->attributes));
	memcpy(&attr, begin->attributes, sizeof(attr));
	return &attr;
}

CALL(__saakm_setsched_prepare,
     return __saakm_setsched_prepare(setsched(A(0)), TASK(1), attributes(begin), A(3), (u8)A(4));)
CALL(__saakm_setsched_check, return __saakm_setsched_check(setsched(A(0)), TASK(1));)
CALL(__saakm_setsched_apply,
     __saakm_setsched_apply(setsched(A(0)), RQ(1), TASK(2), attributes(begin)); return 0;)
CALL(__saakm_setsched_done,
     __saakm_setsched_done(setsched(A(0))); setsched_ends(A(0)); return 0;)

static u64 call_saakm_getattr(const struct replay_begin *begin)
{
	struct sched_attr attr = { };

	saakm_getattr(TASK(0), &attr);
	return 0;
}

CALL(saakm_fork, return saakm_fork(TASK(0));)
CALL(saakm_cancel_fork, saakm_cancel_fork(TASK(0)); return 0;)
CALL(saakm_post_fork, saakm_post_fork(TASK(0)); return 0;)
CALL(saakm_execve, saakm_execve(); return 0;)
CALL(saakm_task_dead, saakm_task_dead(TASK(0)); return 0;)

CALL(saakm_balance_softirq, replay_softirq(); return 0;)
CALL(saakm_kick_work,
     RQ(0)->saakm.kick.func(&RQ(0)->saakm.kick); return 0;)
CALL(saakm_slice_kick,
     RQ(0)->saakm.slice_kick.func(&RQ(0)->saakm.slice_kick); return 0;)
CALL(saakm_slice_timer,
     return RQ(0)->saakm.slice_timer.function(&RQ(0)->saakm.slice_timer);)
CALL(saakm_probe,
     RQ(0)->saakm.probe.func(&RQ(0)->saakm.probe); return 0;)
CALL(saakm_server_pick,
     return (unsigned long)RQ(0)->saakm.server.server_pick_task(&RQ(0)->saakm.server);)

#define ENTRY(name_, context_) { #name_, context_, call_##name_ }

static const struct replay_call table[] = {
	ENTRY(enqueue_task_saakm, RQ_LOCKED), ENTRY(dequeue_task_saakm, RQ_LOCKED),
	ENTRY(yield_task_saakm, RQ_LOCKED), ENTRY(wakeup_preempt_saakm, RQ_LOCKED),
	ENTRY(balance_saakm, RQ_LOCKED), ENTRY(saakm_pick_task, RQ_LOCKED),
	ENTRY(put_prev_task_saakm, RQ_LOCKED), ENTRY(set_next_task_saakm, RQ_LOCKED),
	ENTRY(select_task_rq_saakm, PI_LOCKED), ENTRY(task_tick_saakm, RQ_LOCKED),
	ENTRY(task_fork_saakm, PI_LOCKED), ENTRY(switched_from_saakm, RQ_LOCKED),
	ENTRY(switched_to_saakm, RQ_LOCKED), ENTRY(prio_changed_saakm, RQ_LOCKED),
	ENTRY(saakm_update_curr, RQ_LOCKED), ENTRY(__saakm_newly_idle, RQ_LOCKED),
	ENTRY(__saakm_refill, RQ_LOCKED), ENTRY(saakm_pick_shared, RQ_LOCKED),
	ENTRY(__saakm_goes_on, RQ_LOCKED), ENTRY(saakm_prio_less, RQ_LOCKED),
	ENTRY(saakm_can_stop_tick, IRQS_OFF), ENTRY(saakm_trigger_balance, IRQS_OFF),
	ENTRY(saakm_nohz_kick, IRQS_OFF), ENTRY(saakm_count_kicks_anew, RQ_LOCKED),
	ENTRY(__saakm_enter_idle, RQ_LOCKED), ENTRY(saakm_exit_idle, RQ_LOCKED),
	ENTRY(__saakm_note_forced_idle, RQ_LOCKED), ENTRY(__saakm_setsched_prepare, UNLOCKED),
	ENTRY(__saakm_setsched_check, RQ_LOCKED), ENTRY(__saakm_setsched_apply, RQ_LOCKED),
	ENTRY(__saakm_setsched_done, UNLOCKED), ENTRY(saakm_getattr, UNLOCKED),
	ENTRY(saakm_fork, UNLOCKED), ENTRY(saakm_cancel_fork, UNLOCKED),
	ENTRY(saakm_post_fork, UNLOCKED), ENTRY(saakm_execve, UNLOCKED),
	ENTRY(saakm_task_dead, UNLOCKED), ENTRY(saakm_balance_softirq, UNLOCKED),
	ENTRY(saakm_kick_work, IRQS_OFF), ENTRY(saakm_slice_kick, IRQS_OFF),
	ENTRY(saakm_slice_timer, IRQS_OFF), ENTRY(saakm_probe, IRQS_OFF),
	ENTRY(saakm_server_pick, RQ_LOCKED),
};

const struct replay_call *replay_find_call(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

/* The runqueue whose lock the caller holds: of the argument, or of the thread. */
static struct rq *locked_rq(const struct replay_function *f, const struct replay_begin *begin)
{
	const char *argument = strchr(f->arguments, 'r');

	if (argument)
		return replay_rq(A(argument - f->arguments));
	argument = strchr(f->arguments, 't');
	return argument ? task_rq(replay_task(A(argument - f->arguments))) : RQ(0);
}

static u64 run_locked(const struct replay_function *f, const struct replay_begin *begin)
{
	struct rq *rq = locked_rq(f, begin);
	u64 returned;

	raw_spin_lock(&rq->__lock);
	returned = f->call->call(begin);
	raw_spin_unlock(&rq->__lock);
	return returned;
}

u64 replay_run(const struct replay_function *f, const struct replay_begin *begin)
{
	struct sim_context outer = sim_context;
	u64 returned;

	sim_enter_cpu(begin->cpu);
	sim_context.preempt = begin->preempt & (SIM_SOFTIRQ_MASK | SIM_HARDIRQ_MASK);
	sim_context.irqs_off = f->call->context != UNLOCKED;
	sim_context.task = NULL;
	raw_cpu_write(__irq_regs, begin->user ? &model_user_regs : &model_kernel_regs);
	if (f->call->context == RQ_LOCKED)
		returned = run_locked(f, begin);
	else
		returned = f->call->call(begin);
	sim_context = outer;
	return returned;
}
