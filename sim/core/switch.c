// SPDX-License-Identifier: GPL-2.0
/* Elections, and switches from one thread to the next. */
#include "machine.h"
#include "model.h"

DEFINE_PER_CPU(struct task_struct *, current_task);
DEFINE_PER_CPU(struct pt_regs *, __irq_regs);
struct pt_regs model_user_regs = { .user = true }, model_kernel_regs;
struct cpumask model_idle_mask;
struct model_stats model_stats;

/* Balance callbacks: work for when the lock of the runqueue is about to be dropped */

/* kernel/sched/sched.h, queue_balance_callback() */
void queue_balance_callback(struct rq *rq, struct balance_callback *head,
			    void (*func)(struct rq *rq))
{
	lockdep_assert_rq_held(rq);
	/* Once a CPU pushes, nothing else balances there. */
	if (head->next || rq->balance_callback == &balance_push_callback)
		return;
	head->func = func;
	head->next = rq->balance_callback;
	rq->balance_callback = head;
}

/* kernel/sched/core.c, __splice_balance_callbacks(). A CPU that pushes keeps its own. */
struct balance_callback *splice_balance_callbacks(struct rq *rq)
{
	struct balance_callback *head = rq->balance_callback;

	if (likely(!head))
		return NULL;
	if (head == &balance_push_callback)
		return NULL;
	rq->balance_callback = NULL;
	return head;
}

/* kernel/sched/core.c, do_balance_callbacks() */
static void do_balance_callbacks(struct rq *rq, struct balance_callback *head)
{
	struct balance_callback *next;

	while (head) {
		next = head->next;
		head->next = NULL;
		head->func(rq);
		head = next;
	}
}

/* kernel/sched/core.c, balance_callbacks() */
void balance_callbacks(struct rq *rq, struct balance_callback *head)
{
	if (unlikely(head)) {
		raw_spin_rq_lock_irq(rq);
		do_balance_callbacks(rq, head);
		raw_spin_rq_unlock_irq(rq);
	}
}

/* kernel/sched/core.c, __balance_callbacks(): at the end of each election, balance_push() too. */
static void __balance_callbacks(struct rq *rq)
{
	struct balance_callback *head = rq->balance_callback;

	if (likely(!head))
		return;
	if (head == &balance_push_callback) {
		head->func(rq);
		return;
	}
	rq->balance_callback = NULL;
	do_balance_callbacks(rq, head);
}

/* What the current thread computes */

/* It leaves the CPU: what is left of its burst, and of the cost that came before that. */
static void stop_burst(struct rq *rq, struct task_struct *prev)
{
	rq->burst_stale = true;
	if (!sim_event_is_set(&rq->burst))
		return;
	if (sim_now < rq->burst_from_ns)
		rq->charged_ns += rq->burst_from_ns - sim_now;
	prev->burst_ns = rq->burst.at - max(sim_now, rq->burst_from_ns);
}

static void start_burst(struct rq *rq)
{
	struct task_struct *curr = rq->curr;

	rq->burst_stale = false;
	if (curr == rq->idle) {
		sim_event_cancel(&rq->burst);
		return;
	}
	rq->burst_from_ns = sim_now + rq->charged_ns;
	rq->charged_ns = 0;
	sim_event_set(&rq->burst, rq->burst_from_ns + curr->burst_ns);
	/* stop_burst() says what is left. */
	curr->burst_ns = 0;
}

/*
 * This strand has been told to go on: as the thread that it is, on whatever CPU that is current,
 * unless it has lost that since.
 */
static void arrive(struct task_struct *p)
{
	struct rq *rq;

	for (;;) {
		p->going_on = false;
		rq = task_rq(p);
		if (rq->curr == p && !sim_cpu_occupied(rq->cpu))
			break;
		/* An event of that CPU is put aside: the burst begins anew at its end. */
		if (rq->curr == p)
			rq->burst_stale = true;
		p->strand = sim_strand;
		p->parked = true;
		sim_park();
		p->parked = false;
	}
	sim_move_to_cpu(rq->cpu);
	p->strand = NULL;
	rq->burst_stale = true;
}

/* A kernel thread has the CPU for the first time. */
static void begin_thread(void *arg)
{
	struct task_struct *p = arg;

	arrive(p);
	p->exit_code = p->entry(p->entry_arg);
	model_exit();
	model_task_exit();
}

/* It computes no more, and has been in the kernel: there it goes on. */
static void continue_strand(struct rq *rq, struct task_struct *p)
{
	if (p->going_on)
		return;
	p->going_on = true;
	if (p->parked)
		sim_unpark(p->strand, rq->cpu);
	else if (!p->strand)
		sim_spawn(begin_thread, p, rq->cpu, NULL);
	/* Else it is about to park elsewhere, and will see that it need not. */
}

/* Event: the current thread has computed for as long as it had to. */
static void burst_over(struct sim_event *event)
{
	struct rq *rq = container_of(event, struct rq, burst);
	struct task_struct *p = rq->curr;

	/* It was set for another thread; or an interrupt is put aside, and it begins after that. */
	if (unlikely(rq->burst_stale || sim_cpu_interrupted(rq->cpu))) {
		rq->burst_stale = true;
		return;
	}
	if (unlikely(rq->charged_ns)) {
		start_burst(rq);
		return;
	}
	if (unlikely(p->strand || !p->step)) {
		continue_strand(rq, p);
		return;
	}
	rq->burst_stale = true;
	p->step(p);
	model_task_exit();
}

void model_init_burst(struct rq *rq)
{
	sim_event_init(&rq->burst, burst_over, rq->cpu);
	rq->burst_stale = true;
}

/* Elections */

/* kernel/sched/sched.h, put_prev_set_next_task() */
static void put_prev_set_next_task(struct rq *rq, struct task_struct *prev,
				   struct task_struct *next)
{
	if (next == prev)
		return;
	prev->sched_class->put_prev_task(rq, prev, next);
	next->sched_class->set_next_task(rq, next, true);
}

/* kernel/sched/core.c, prev_balance() */
static void prev_balance(struct rq *rq, struct rq_flags *rf)
{
	const struct sched_class *class = rq->donor->sched_class;

	if (saakm_enabled() && sched_class_above(&saakm_sched_class, class))
		class = &saakm_sched_class;
	for (; class < &idle_sched_class; class++) {
		if (class->balance && class->balance(rq, rq->donor, rf))
			break;
	}
	if (saakm_enabled() && sched_class_above(class, &saakm_sched_class))
		saakm_balance_late(rq, rf);
}

/* kernel/sched/core.c, __pick_next_task(), behind its label restart */
static struct task_struct *pick_among_classes(struct rq *rq, struct rq_flags *rf)
{
	const struct sched_class *class;
	struct task_struct *p;

	prev_balance(rq, rf);
	for_each_class(class) {
		p = class->pick_task(rq);
		if (p) {
			put_prev_set_next_task(rq, rq->donor, p);
			return p;
		}
	}
	BUG();
}

/* kernel/sched/core.c, __pick_next_task(). pick_next_task_fair() returns no RETRY_TASK here. */
static struct task_struct *pick_next_task(struct rq *rq, struct rq_flags *rf)
{
	struct task_struct *p;

	rq->dl_server = NULL;
	if (!sched_class_above(rq->donor->sched_class, &fair_sched_class) &&
	    rq->nr_running == rq->cfs.h_nr_queued) {
		p = pick_task_fair(rq);
		if (!p) {
			if (fair_newly_idle(rq, rf) ||
			    (saakm_enabled() && saakm_newly_idle(rq, rf)))
				return pick_among_classes(rq, rf);
			p = rq->idle;
		}
		put_prev_set_next_task(rq, rq->donor, p);
		return p;
	}
	p = saakm_pick_alone(rq, rf);
	if (p) {
		put_prev_set_next_task(rq, rq->donor, p);
		return p;
	}
	return pick_among_classes(rq, rf);
}

/* The last switch of a thread: kernel/sched/core.c, finish_task_switch(). */
static void bury(struct task_struct *prev)
{
	struct model_thread *model = prev->model;

	if (prev->sched_class->task_dead)
		prev->sched_class->task_dead(prev);
	saakm_task_dead(prev);
	if (model)
		model_load_dead(prev);
	put_task_struct_rcu_user(prev);
}

/* kernel/sched/core.c, finish_task_switch(); here before the stacks are switched. */
static void finish_task_switch(struct rq *rq, struct task_struct *prev, unsigned int prev_state)
{
	smp_store_release(&prev->on_cpu, 0);
	__balance_callbacks(rq);
	raw_spin_rq_unlock_irq(rq);
	if (unlikely(prev_state == TASK_DEAD))
		bury(prev);
}

/* What is charged to an idle CPU takes time there, until another thread comes. */
static void charge_idle(struct rq *rq)
{
	if (rq->idle_since_ns < sim_now) {
		rq->idle_ns += sim_now - rq->idle_since_ns;
		rq->idle_since_ns = sim_now;
	}
	rq->idle_since_ns += rq->charged_ns;
	rq->charged_ns = 0;
}

static void end_idle(struct rq *rq)
{
	if (rq->idle_since_ns <= sim_now)
		rq->idle_ns += sim_now - rq->idle_since_ns;
	else
		model_stats.cost_ns -= rq->idle_since_ns - sim_now;
}

/* It fetches anew what it had in the caches where it ran last, whichever CPUs it waited on meanwhile. */
static void charge_migration(struct rq *rq, struct task_struct *p)
{
	if (p->ran_on >= 0 && p->ran_on != rq->cpu)
		model_charge_on(rq, MODEL_COST_MIGRATION_SMT + model_distance(p->ran_on, rq->cpu));
	p->ran_on = rq->cpu;
}

/* Who waits, and who idles; the host's part of a switch. */
static void account_switch(struct rq *rq, struct task_struct *prev, struct task_struct *next)
{
	stop_burst(rq, prev);
	model_stats.switches++;
	model_hash(sim_now ^ (u64)next->pid << 32 ^ (u64)rq->cpu << 56);
	model_charge_on(rq, MODEL_COST_SWITCH);
	if (next != rq->idle)
		charge_migration(rq, next);
	if (prev->model)
		model_load_off(rq, prev, task_on_rq_queued(prev) && !prev->se.sched_delayed);
	if (next->model)
		model_load_on(rq, next);
	if (prev == rq->idle) {
		end_idle(rq);
		__cpumask_clear_cpu(rq->cpu, &model_idle_mask);
		tick_nohz_idle_exit_cpu(rq);
	} else if (next == rq->idle) {
		rq->idle_since_ns = sim_now;
		if (!rq->nr_running)
			__cpumask_set_cpu(rq->cpu, &model_idle_mask);
		tick_nohz_idle_enter_cpu(rq);
	}
}

/* kernel/sched/core.c, context_switch() */
static void context_switch(struct rq *rq, struct task_struct *prev, struct task_struct *next,
			   struct rq_flags *rf)
{
	unsigned int prev_state = READ_ONCE(prev->__state);

	WRITE_ONCE(next->on_cpu, 1);
	raw_cpu_write(current_task, next);
	account_switch(rq, prev, next);
	rq_unpin_lock(rq, rf);
	finish_task_switch(rq, prev, prev_state);
}

/* kernel/sched/core.c, try_to_block_task(). No signals are modelled; the special state is death. */
static void try_to_block_task(struct rq *rq, struct task_struct *p, unsigned int state)
{
	block_task(rq, p, DEQUEUE_NOCLOCK | (state & TASK_DEAD ? DEQUEUE_SPECIAL : 0));
}

/* __schedule(), where another thread has been elected. */
static void switch_to(struct rq *rq, struct task_struct *prev, struct task_struct *next,
		      struct rq_flags *rf, bool preempt, unsigned int prev_state)
{
	rq->nr_switches++;
	RCU_INIT_POINTER(rq->curr, next);
	if (preempt || !prev_state)
		prev->nivcsw++;
	else
		prev->nvcsw++;
	migrate_disable_switch(rq, prev);
	if (unlikely(model_tracing))
		model_trace_switch(prev, next, preempt, prev_state);
	context_switch(rq, prev, next, rf);
}

/* __schedule(), where the current thread has been elected again. */
static void go_on(struct rq *rq, struct task_struct *prev, struct rq_flags *rf)
{
	saakm_goes_on(rq, prev);
	rq_unpin_lock(rq, rf);
	__balance_callbacks(rq);
	raw_spin_rq_unlock_irq(rq);
}

/*
 * kernel/sched/core.c, __schedule(). Returns upon the same stack, whoever is current then: see
 * schedule() and model.h.
 */
void __schedule(int sched_mode)
{
	struct task_struct *prev, *next;
	bool preempt = sched_mode == SM_PREEMPT;
	unsigned int prev_state;
	struct rq_flags rf;
	struct rq *rq;

	if (unlikely(machine_nr_raised))
		machine_self_interrupt();
	if (saakm_enabled() && saakm_sleeps_in_handler())
		return;
	preempt_disable();
	rq = this_rq();
	prev = rq->curr;
	local_irq_disable();
	rq_lock(rq, &rf);
	rq->clock_update_flags <<= 1;
	update_rq_clock(rq);
	rq->clock_update_flags = RQCF_UPDATED;

	prev_state = READ_ONCE(prev->__state);
	if (sched_mode == SM_IDLE) {
		if (!rq->nr_running && !saakm_kicked(rq)) {
			next = prev;
			goto picked;
		}
	} else if (!preempt && prev_state) {
		saakm_note_state(prev, prev_state);
		try_to_block_task(rq, prev, prev_state);
	}
	next = pick_next_task(rq, &rf);
	saakm_elected(prev);
picked:
	clear_tsk_need_resched(prev);
	clear_preempt_need_resched();
	if (likely(prev != next))
		switch_to(rq, prev, next, &rf, preempt, prev_state);
	else
		go_on(rq, prev, &rf);
	preempt_enable_no_resched();
}

/* Ways into it */

/* kernel/sched/core.c, preempt_schedule_common(), preempt_schedule_irq(): in the kernel. */
static void preempt_schedule(void)
{
	saakm_note_preemption();
	__schedule(SM_PREEMPT);
}

/*
 * The end of an interrupt or of a system call. The idle loop elects by schedule_idle(); on the
 * way to user mode by schedule(), as kernel/entry/common.c, exit_to_user_mode_loop().
 */
static void resched(struct rq *rq)
{
	struct task_struct *curr;

	if (unlikely(machine_nr_raised))
		machine_self_interrupt();
	while (test_tsk_need_resched(rq->curr)) {
		curr = rq->curr;
		if (curr == rq->idle)
			__schedule(SM_IDLE);
		else if (!model_in_user(curr) || READ_ONCE(curr->__state))
			preempt_schedule();
		else
			__schedule(SM_NONE);
	}
}

/*
 * The current thread has made a step. One that has nothing to compute yet is in the kernel: it is
 * preempted there.
 */
static void preempt_in_step(struct rq *rq)
{
	struct task_struct *curr = rq->curr;

	if (likely(!test_tsk_need_resched(curr)) || curr == rq->idle || curr->burst_ns)
		return;
	preempt_schedule();
}

/* So many steps that take no time follow each other in one event. */
#define STEPS_AT_ONCE	4

/*
 * The current thread computes what it has to, if it is another one, or that is new. If there is
 * nothing it is in the kernel already, and goes on: the event that would say so is left out.
 * @steps: how often, at the most; 0 where the stack is another thread's.
 */
static void compute(struct rq *rq, unsigned int steps)
{
	struct task_struct *curr;

	for (;;) {
		resched(rq);
		curr = rq->curr;
		if (!rq->burst_stale)
			break;
		if (!steps-- || curr->burst_ns | rq->charged_ns || !curr->step || curr->strand) {
			start_burst(rq);
			break;
		}
		sim_events++;
		/* It is still that of the thread before. */
		sim_event_cancel(&rq->burst);
		curr->step(curr);
		rq = model_rq();
		preempt_in_step(rq);
	}
	if (curr == rq->idle)
		charge_idle(rq);
}

/* kernel/softirq.c, irq_exit_rcu(). Whoever was interrupted in a softirq serves what is new. */
void model_irq_leave(void)
{
	sim_context.preempt -= SIM_HARDIRQ_OFFSET;
	if (unlikely(raw_cpu_read(model_softirqs)) && !in_interrupt() &&
	    !sim_cpu_interrupted_in(sim_context.cpu, SIM_HARDIRQ_MASK | SIM_SOFTIRQ_MASK))
		model_do_softirqs();
	sim_context.irqs_off = 0;
	raw_cpu_write(__irq_regs, NULL);
}

void model_irq_exit(void)
{
	struct rq *rq = model_rq();

	model_irq_leave();
	if (unlikely(sim_cpu_interrupted(rq->cpu))) {
		if (unlikely(machine_nr_raised))
			machine_self_interrupt();
		return;
	}
	compute(rq, STEPS_AT_ONCE);
}

static void leave_kernel(unsigned int steps)
{
	struct rq *rq = model_rq();

	if (unlikely(raw_cpu_read(model_softirqs)))
		model_do_softirqs();
	sim_context.irqs_off = 0;
	preempt_in_step(rq);
	compute(rq, steps);
}

void model_task_exit(void)
{
	leave_kernel(STEPS_AT_ONCE);
}

/* The stack of @p, which keeps it */
static void park_until_elected(struct task_struct *p)
{
	leave_kernel(0);
	if (!p->going_on) {
		p->parked = true;
		sim_park();
		p->parked = false;
	}
	arrive(p);
}

/*
 * An election in the middle of the kernel, with a stack that must not be lost. If another thread
 * has the CPU now that goes to work for it, and this stack sleeps until @p is elected. From when
 * on_cpu is cleared others may elect it, before it sleeps.
 */
static void schedule_here(struct task_struct *p, int sched_mode)
{
	p->strand = sim_strand;
	if (sched_mode == SM_PREEMPT)
		preempt_schedule();
	else
		__schedule(sched_mode);
	if (model_rq()->curr == p) {
		p->strand = NULL;
		return;
	}
	park_until_elected(p);
}

/* kernel/sched/core.c, schedule(), __schedule_loop() */
void schedule(void)
{
	struct task_struct *p = current;

	/* Before @p says where it goes on: it may be about to leave the CPU, with a stack. */
	if (saakm_enabled() && saakm_sleeps_in_handler())
		return;
	do {
		schedule_here(p, SM_NONE);
	} while (need_resched());
}

void schedule_preempt_disabled(void)
{
	preempt_enable_no_resched();
	schedule();
	preempt_disable();
}

void io_schedule(void)
{
	schedule();
}

/* kernel/sched/core.c, __cond_resched(): the current thread, which has a stack, is preempted. */
int __cond_resched(void)
{
	struct task_struct *p = current;

	if (preempt_count() || irqs_disabled())
		return 0;
	sim_context.delays = 0;		/* whoever spins lets others go on */
	if (!need_resched())
		return 0;
	schedule_here(p, SM_PREEMPT);
	return 1;
}

/* kernel/sched/syscalls.c, do_sched_yield() */
static void do_sched_yield(void)
{
	struct rq_flags rf;
	struct rq *rq = model_rq();

	rq_lock_irq(rq, &rf);
	rq->curr->sched_class->yield_task(rq);
	rq_unlock_irq(rq, &rf);
}

/* kernel/sched/syscalls.c, yield() */
void yield(void)
{
	set_current_state(TASK_RUNNING);
	do_sched_yield();
	schedule();
}

/* Ways into it that end a step of a workload's thread: see model.h */

void model_block(unsigned int state)
{
	if (state)
		set_current_state(state);
	__schedule(SM_NONE);
}

void model_yield(void)
{
	model_charge(MODEL_COST_YIELD);
	do_sched_yield();
	__schedule(SM_NONE);
}

void model_run_user(u64 ns)
{
	struct task_struct *p = current;

	p->burst_ns = ns;
	p->in_user = true;
	p->strand = sim_strand;
	model_rq()->burst_stale = true;
	park_until_elected(p);
	p->in_user = false;
}
