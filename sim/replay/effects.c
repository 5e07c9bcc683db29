// SPDX-License-Identifier: GPL-2.0
/*
 * What the class makes the core do. While a call is replayed, each of these functions takes the
 * next effect of the recording, has to be that one, and to be called with the same; it does what
 * the recording says that the core did. Otherwise (at boot) the model's own function is called,
 * which the build has renamed: model_of_NAME (src/saakm/lab/replay/build.py).
 *
 * Threads are moved here as in the model, for the class is called on the way.
 */
#include "members.h"

/* Here inline functions, and memory that is freed later: of that nothing is seen. */
static bool is_unseen(const char *name)
{
	static const char * const unseen[] = {
		"idle_cpu", "available_idle_cpu", "wake_up_process", "kvfree_call_rcu",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(unseen); i++)
		if (!strcmp(name, unseen[i]))
			return true;
	return false;
}

/*
 * The watchdog asks a CPU that it happens to see in a handler for a tick. What others are in the
 * middle of is not replayed, and nothing else depends on it unless a handler goes on for long.
 */
static bool is_probe(const struct replay_effect *e)
{
	struct rq *rq = replay_rq(e->arguments[0]);
	u64 offset;

	if (!rq || strcmp(replay_effects[e->effect].name, "irq_work_queue_on"))
		return false;
	offset = replay_fields[REPLAY_RQ][replay_find_field(REPLAY_RQ, "probe_at")].there;
	return e->arguments[0] == replay_rq_object(rq->cpu)->address + offset;
}

bool replay_is_unseen(const struct replay_effect *e)
{
	return is_unseen(replay_effects[e->effect].name) || is_probe(e);
}

struct replay_effect *replay_next_effect(void)
{
	struct replay_frame *f = replay_making;

	while (f->next_effect < f->nr_effects &&
	       replay_is_unseen(&f->effects[f->next_effect]))
		f->next_effect++;
	return f->next_effect < f->nr_effects ? &f->effects[f->next_effect] : NULL;
}

void replay_none_left(struct replay_frame *f)
{
	struct replay_effect *left = replay_next_effect();

	if (!left || f->differs)
		return;
	f->differs = true;
	snprintf(f->difference, sizeof(f->difference),
		 "the kernel's class called %s(%#llx, %#llx), and this one has not",
		 replay_effects[left->effect].name, left->arguments[0], left->arguments[1]);
}

/* It goes no further: what is to be shown is the state at this difference. */
static __noreturn void stop_here(struct replay_frame *f)
{
	f->differs = true;
	for (;;)
		replay_stop(f);
}

/* Whose runqueue, as the effect has it; its number of the CPU, or -1. */
static int rq_of(const struct replay_effect *e)
{
	struct rq *rq = replay_rq(e->arguments[0]);

	return rq ? rq->cpu : -1;
}

static void set_after(const struct replay_effect *e, struct rq *rq)
{
	const struct replay_object *o = replay_rq_object(rq->cpu);
	int queued = replay_find_field(REPLAY_RQ, "server_queued");
	int bits = replay_find_field(REPLAY_RQ, "server_bits");
	u64 empty = o->address + replay_fields[REPLAY_RQ][queued].there;

	rq->clock = e->after[AFTER_CLOCK];
	rq->clock_task = e->after[AFTER_CLOCK_TASK];
	rq->clock_update_flags |= RQCF_UPDATED;
	rq->nr_running = e->after[AFTER_NR_RUNNING];
	rq->saakm.server.runtime = e->after[AFTER_SERVER_RUNTIME];
	replay_set(replay_fields[REPLAY_RQ][bits].member, rq, e->after[AFTER_SERVER_BITS]);
	replay_set(replay_fields[REPLAY_RQ][queued].member, rq,
		   e->after[AFTER_SERVER_QUEUED] != empty);
	rq->curr->need_resched = !!(e->after[AFTER_THREAD_FLAGS] & BIT(3));
}

/*
 * The class calls @name now, about @a and @b: -1 for what is not compared. Does not return if it
 * was to do something else.
 */
static struct replay_effect *take_that(const char *name, s64 a, s64 b, bool changes)
{
	struct replay_frame *frame = replay_making;
	struct replay_effect *e = replay_next_effect();
	const struct replay_function *f;
	struct task_struct *p;
	s64 there[2];

	if (!e) {
		snprintf(frame->difference, sizeof(frame->difference),
			 "this class calls %s(%lld, %lld), and the kernel's did nothing more",
			 name, a, b);
		stop_here(frame);
	}
	f = &replay_effects[e->effect];
	there[0] = f->arguments[0] == 't' ?
		(p = replay_task(e->arguments[0])) ? p->pid : -1 :
		e->has_rq ? rq_of(e) : (int)e->arguments[0];
	there[1] = f->arguments[1] == 't' ?
		(p = replay_task(e->arguments[1])) ? p->pid : -1 : (s64)(int)e->arguments[1];
	if (strcmp(f->name, name) || (a != -1 && a != there[0]) || (b != -1 && b != there[1])) {
		snprintf(frame->difference, sizeof(frame->difference),
			 "this class calls %s(%lld, %lld), the kernel's called %s(%lld, %lld)",
			 name, a, b, f->name, there[0], there[1]);
		stop_here(frame);
	}
	frame->next_effect++;
	frame->is_cut = false;
	if (frame->interrupted)		/* others must not see what has not been done yet */
		replay_wait(e->position);
	jiffies = replay_jiffies(frame);
	if (changes && e->has_rq && replay_rq(e->arguments[0]))
		set_after(e, replay_rq(e->arguments[0]));
	if (changes)
		replay_turn_over();
	return e;
}

static struct replay_effect *take(const char *name, s64 a, s64 b)
{
	return take_that(name, a, b, true);
}

/* Of which CPU's runqueue this is a part, or -1. */
static int owner_of(const void *part)
{
	int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		if (part >= (void *)cpu_rq(cpu) && part < (void *)(cpu_rq(cpu) + 1))
			return cpu;
	return -1;
}

void replay_rq_lock(struct rq *rq)
{
	struct replay_effect *e = replay_making ?
		take_that("raw_spin_rq_lock_nested", rq->cpu, -1, false) : NULL;

	if (e)
		replay_wait(e->position);
	raw_spin_lock(&rq->__lock);
	replay_turn_over();
}

bool replay_rq_trylock(struct rq *rq)
{
	struct replay_effect *e;

	if (!replay_making)
		return raw_spin_trylock(&rq->__lock);
	e = take_that("raw_spin_rq_trylock", rq->cpu, -1, false);
	if (!e)
		return false;
	replay_wait(e->position);
	if ((u8)e->returned)
		raw_spin_lock(&rq->__lock);
	replay_turn_over();
	return (u8)e->returned;
}

void replay_rq_unlock(struct rq *rq)
{
	struct replay_effect *e = replay_making ?
		take_that("raw_spin_rq_unlock", rq->cpu, -1, false) : NULL;

	if (e)
		replay_wait(e->position);
	raw_spin_unlock(&rq->__lock);
	replay_turn_over();
}

void model_of_resched_curr(struct rq *rq);
void resched_curr(struct rq *rq)
{
	if (!replay_making)
		model_of_resched_curr(rq);
	else
		take("resched_curr", rq->cpu, -1);
}

void model_of_set_task_cpu(struct task_struct *p, unsigned int cpu);
void set_task_cpu(struct task_struct *p, unsigned int cpu)
{
	if (!replay_making) {
		model_of_set_task_cpu(p, cpu);
	} else {
		take("set_task_cpu", p->pid, cpu);
		__set_task_cpu(p, cpu);
	}
}

void model_of_update_rq_clock(struct rq *rq);
void update_rq_clock(struct rq *rq)
{
	if (!replay_making)
		model_of_update_rq_clock(rq);
	else
		take("update_rq_clock", rq->cpu, -1);
}

bool model_of_irq_work_queue(struct irq_work *work);
bool irq_work_queue(struct irq_work *work)
{
	struct replay_effect *e;

	if (!replay_making)
		return model_of_irq_work_queue(work);
	e = take("irq_work_queue", owner_of(work), -1);
	return e && (u8)e->returned;
}

bool model_of_irq_work_queue_on(struct irq_work *work, int cpu);
bool irq_work_queue_on(struct irq_work *work, int cpu)
{
	struct replay_effect *e;

	if (!replay_making)
		return model_of_irq_work_queue_on(work, cpu);
	if (work == &cpu_rq(cpu)->saakm.probe)
		return true;
	e = take("irq_work_queue_on", owner_of(work), cpu);
	return e && (u8)e->returned;
}

static void (*softirq)(void);

void model_of_open_softirq(int nr, void (*action)(void));
void open_softirq(int nr, void (*action)(void))
{
	if (nr == SCHED_SOFTIRQ_SAAKM)
		softirq = action;
	model_of_open_softirq(nr, action);
}

void replay_softirq(void)
{
	softirq();
}

void model_of_raise_softirq(unsigned int nr);
void raise_softirq(unsigned int nr)
{
	if (!replay_making)
		model_of_raise_softirq(nr);
	else
		take("raise_softirq", -1, -1);
}

void model_of___raise_softirq_irqoff(unsigned int nr);
void __raise_softirq_irqoff(unsigned int nr)
{
	if (!replay_making)
		model_of___raise_softirq_irqoff(nr);
	else
		take("__raise_softirq_irqoff", -1, -1);
}

void model_of_dl_server_start(struct sched_dl_entity *se);
void dl_server_start(struct sched_dl_entity *se)
{
	if (!replay_making)
		model_of_dl_server_start(se);
	else
		take("dl_server_start", owner_of(se), -1);
}

void model_of_dl_server_stop(struct sched_dl_entity *se);
void dl_server_stop(struct sched_dl_entity *se)
{
	if (!replay_making)
		model_of_dl_server_stop(se);
	else
		take("dl_server_stop", owner_of(se), -1);
}

void model_of_dl_server_update(struct sched_dl_entity *se, s64 delta);
void dl_server_update(struct sched_dl_entity *se, s64 delta)
{
	if (!replay_making)
		model_of_dl_server_update(se, delta);
	else
		take("dl_server_update", owner_of(se), delta);
}

void model_of_hrtimer_start(struct hrtimer *timer, ktime_t time, enum hrtimer_mode mode);
void hrtimer_start(struct hrtimer *timer, ktime_t time, enum hrtimer_mode mode)
{
	if (!replay_making)
		model_of_hrtimer_start(timer, time, mode);
	else
		take("hrtimer_start_range_ns", owner_of(timer), time);
}

int model_of_hrtimer_try_to_cancel(struct hrtimer *timer);
int hrtimer_try_to_cancel(struct hrtimer *timer)
{
	struct replay_effect *e;

	if (!replay_making)
		return model_of_hrtimer_try_to_cancel(timer);
	e = take("hrtimer_try_to_cancel", owner_of(timer), -1);
	return e ? (int)e->returned : 0;
}

bool model_of_tick_nohz_tick_stopped_cpu(int cpu);
bool tick_nohz_tick_stopped_cpu(int cpu)
{
	struct replay_effect *e;

	if (!replay_making)
		return model_of_tick_nohz_tick_stopped_cpu(cpu);
	e = take("tick_nohz_tick_stopped_cpu", cpu, -1);
	return e && (u8)e->returned;
}

u64 model_of_sched_clock_cpu(int cpu);
u64 sched_clock_cpu(int cpu)
{
	struct replay_effect *e;

	if (!replay_making)
		return model_of_sched_clock_cpu(cpu);
	e = replay_next_effect();
	if (e && !strcmp(replay_effects[e->effect].name, "local_clock"))
		e = take("local_clock", -1, -1);	/* a function of its own there */
	else
		e = take("sched_clock_cpu", cpu, -1);
	return e ? e->returned : cpu_rq(cpu)->clock;
}

void model_of_activate_task(struct rq *rq, struct task_struct *p, int flags);
void activate_task(struct rq *rq, struct task_struct *p, int flags)
{
	if (replay_making)
		take("activate_task", rq->cpu, p->pid);
	model_of_activate_task(rq, p, flags);
}

void model_of_deactivate_task(struct rq *rq, struct task_struct *p, int flags);
void deactivate_task(struct rq *rq, struct task_struct *p, int flags)
{
	if (replay_making)
		take("deactivate_task", rq->cpu, p->pid);
	model_of_deactivate_task(rq, p, flags);
}

/* As in the model, but that resched_curr() is ours. */
void model_of_wakeup_preempt(struct rq *rq, struct task_struct *p, int flags);
void wakeup_preempt(struct rq *rq, struct task_struct *p, int flags)
{
	if (!replay_making) {
		model_of_wakeup_preempt(rq, p, flags);
		return;
	}
	take("wakeup_preempt", rq->cpu, p->pid);
	if (p->sched_class == rq->curr->sched_class)
		p->sched_class->wakeup_preempt(rq, p, flags);
	else if (sched_class_above(p->sched_class, rq->curr->sched_class))
		resched_curr(rq);
}
