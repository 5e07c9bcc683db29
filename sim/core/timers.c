// SPDX-License-Identifier: GPL-2.0
/*
 * Timers: kernel/time/hrtimer.c, timer.c, sleep_timeout.c; and delays. A timer's CPU is the one
 * that starts it. Timers of jiffies are run by TIMER_SOFTIRQ at the beginning of their jiffy,
 * whether the CPU ticks or not: an idle one would program its clock for that.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>

#include "machine.h"
#include "model.h"

/* ---- to the ns ---- */

/* A CPU's timer whose function is being called. That may free it: nothing of this is in it. */
static DEFINE_PER_CPU(struct hrtimer *, running_timer);

static void expired(struct sim_event *event);

static bool is_running(const struct hrtimer *timer)
{
	return per_cpu(running_timer, timer->event.cpu) == timer;
}

void hrtimer_init(struct hrtimer *timer, clockid_t clock, enum hrtimer_mode mode)
{
	*timer = (struct hrtimer){ };
}

void hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *timer),
		   clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}

void hrtimer_start(struct hrtimer *timer, ktime_t time, enum hrtimer_mode mode)
{
	/* switch_hrtimer_base(): as long as its function runs it stays on that CPU. */
	int cpu = is_running(timer) ? timer->event.cpu : sim_context.cpu;

	timer->expires = mode & HRTIMER_MODE_REL ? (ktime_t)sim_now + time : time;
	sim_event_cancel(&timer->event);
	sim_event_init(&timer->event, expired, cpu);
	sim_event_set(&timer->event, max(timer->expires, 0LL));
}

static void expired(struct sim_event *event)
{
	struct hrtimer *timer = container_of(event, struct hrtimer, event);
	enum hrtimer_restart restart;

	model_irq_enter();
	raw_cpu_write(running_timer, timer);
	machine_calls(timer->function);
	restart = timer->function(timer);
	/* Who starts it in its function, and says NORESTART, has started it. */
	if (restart == HRTIMER_RESTART && !sim_event_is_set(event))
		sim_event_set(event, max(timer->expires, 0LL));
	raw_cpu_write(running_timer, NULL);
	model_irq_exit();
}

int hrtimer_try_to_cancel(struct hrtimer *timer)
{
	if (is_running(timer))
		return -1;
	return sim_event_cancel(&timer->event);
}

int hrtimer_cancel(struct hrtimer *timer)
{
	int active;

	while ((active = hrtimer_try_to_cancel(timer)) < 0)
		cpu_relax();
	return active;
}

bool hrtimer_active(const struct hrtimer *timer)
{
	return is_running(timer) || sim_event_is_set(&timer->event);
}

u64 hrtimer_forward(struct hrtimer *timer, ktime_t now, ktime_t interval)
{
	u64 overruns;

	if (now < timer->expires)
		return 0;
	overruns = (u64)(now - timer->expires) / interval + 1;
	timer->expires += overruns * interval;
	return overruns;
}

/* ---- timers of jiffies ---- */

struct cpu_timers {
	struct list_head	list;		/* by expiry; next NULL: never used */
	struct sim_event	event;
	struct timer_list	*running;
};

static DEFINE_PER_CPU(struct cpu_timers, timers);

/*
 * The kernel's wheel has levels, each coarser than the one before by 8, and rounds up:
 * calc_wheel_index(). The level is kept in the upper bits of timer_list.flags.
 */
#define LEVEL_SHIFT	28
#define NR_LEVELS	9

static unsigned int wheel_level(unsigned long expires)
{
	long delta = expires - jiffies;
	unsigned int level = 0;

	while (level < NR_LEVELS - 1 && delta >= 63L << 3 * level)
		level++;
	return level;
}

/* The jiffy in which it goes off. */
static unsigned long due(const struct timer_list *timer)
{
	unsigned int shift = 3 * (timer->flags >> LEVEL_SHIFT);

	return ((timer->expires >> shift) + 1) << shift;
}

/* When that begins. */
static u64 due_ns(const struct timer_list *timer)
{
	return max((long)(due(timer) - INITIAL_JIFFIES), 0L) * (u64)TICK_NSEC;
}

static struct timer_list *first_timer(struct cpu_timers *its)
{
	return list_first_entry_or_null(&its->list, struct timer_list, entry);
}

/* TIMER_SOFTIRQ. A function may free its timer, and start others. */
static void run_timers(void)
{
	struct cpu_timers *mine = raw_cpu_ptr(&timers);
	struct timer_list *timer;

	if (!mine->list.next)
		return;
	while ((timer = first_timer(mine)) && due_ns(timer) <= sim_now) {
		list_del(&timer->entry);
		timer->entry.next = NULL;
		mine->running = timer;
		machine_calls(timer->function);
		timer->function(timer);
		mine->running = NULL;
	}
	if (timer)
		sim_event_set(&mine->event, due_ns(timer));
}

static void interrupt(struct sim_event *event)
{
	model_irq_enter();
	__raise_softirq_irqoff(TIMER_SOFTIRQ);
	model_irq_exit();
}

void add_timer_on(struct timer_list *timer, int cpu)
{
	struct cpu_timers *its = per_cpu_ptr(&timers, cpu);
	struct list_head *place;

	WARN_ON(timer_pending(timer));
	timer->flags &= (1U << LEVEL_SHIFT) - 1;
	timer->flags |= wheel_level(timer->expires) << LEVEL_SHIFT;
	if (!its->list.next) {
		INIT_LIST_HEAD(&its->list);
		sim_event_init(&its->event, interrupt, cpu);
		open_softirq(TIMER_SOFTIRQ, run_timers);
	}
	list_for_each_prev(place, &its->list) {
		if (!time_before(due(timer), due(list_entry(place, struct timer_list, entry))))
			break;
	}
	list_add(&timer->entry, place);
	timer->cpu = cpu;
	sim_event_set(&its->event, due_ns(first_timer(its)));
}

void add_timer(struct timer_list *timer)
{
	add_timer_on(timer, sim_context.cpu);
}

int timer_delete(struct timer_list *timer)
{
	if (!timer_pending(timer))
		return 0;
	list_del(&timer->entry);
	timer->entry.next = NULL;
	return 1;
}

int timer_delete_sync(struct timer_list *timer)
{
	while (per_cpu(timers, timer->cpu).running == timer)
		cpu_relax();
	return timer_delete(timer);
}

int mod_timer(struct timer_list *timer, unsigned long expires)
{
	int pending = timer_delete(timer);

	timer->expires = expires;
	add_timer(timer);
	return pending;
}

/* kernel/time/timer.c, timers_dead_cpu() */
void machine_cpu_dead(int cpu)
{
	struct cpu_timers *its = per_cpu_ptr(&timers, cpu);
	struct timer_list *timer, *next;

	if (!its->list.next)
		return;
	sim_event_cancel(&its->event);
	/* It may have been moved with what else was to come on that CPU. */
	sim_event_init(&its->event, interrupt, cpu);
	list_for_each_entry_safe(timer, next, &its->list, entry) {
		timer_delete(timer);
		add_timer(timer);
	}
}

/* ---- sleeping for a time ---- */

struct sleeper {
	struct timer_list	timer;
	struct task_struct	*task;
};

static void wake_sleeper(struct timer_list *timer)
{
	wake_up_process(container_of(timer, struct sleeper, timer)->task);
}

long schedule_timeout(long timeout)
{
	struct sleeper sleeper = { .timer = { .function = wake_sleeper }, .task = current };
	unsigned long end = jiffies + timeout;

	if (timeout == MAX_SCHEDULE_TIMEOUT) {
		schedule();
		return timeout;
	}
	if (WARN(timeout < 0, "schedule_timeout: %ld jiffies", timeout)) {
		__set_current_state(TASK_RUNNING);
		return 0;
	}
	sleeper.timer.expires = end;
	add_timer(&sleeper.timer);
	schedule();
	timer_delete_sync(&sleeper.timer);
	return max((long)(end - jiffies), 0L);
}

long schedule_timeout_interruptible(long timeout)
{
	__set_current_state(TASK_INTERRUPTIBLE);
	return schedule_timeout(timeout);
}

long schedule_timeout_uninterruptible(long timeout)
{
	__set_current_state(TASK_UNINTERRUPTIBLE);
	return schedule_timeout(timeout);
}

long schedule_timeout_idle(long timeout)
{
	__set_current_state(TASK_IDLE);
	return schedule_timeout(timeout);
}

void msleep(unsigned int ms)
{
	long timeout = msecs_to_jiffies(ms);

	might_sleep();
	while (timeout)
		timeout = schedule_timeout_uninterruptible(timeout);
}

unsigned long msleep_interruptible(unsigned int ms)
{
	msleep(ms);
	return 0;
}

struct ns_sleeper {
	struct hrtimer		timer;
	struct task_struct	*task;
};

static enum hrtimer_restart wake_ns_sleeper(struct hrtimer *timer)
{
	struct ns_sleeper *sleeper = container_of(timer, struct ns_sleeper, timer);
	struct task_struct *task = sleeper->task;

	sleeper->task = NULL;
	wake_up_process(task);
	return HRTIMER_NORESTART;
}

void usleep_range_state(unsigned long min, unsigned long max, unsigned int state)
{
	static struct sim_random random;
	struct ns_sleeper sleeper = { .task = current };
	u64 us = min;

	might_sleep();
	if (!random.s[0])
		sim_random_init(&random, "usleep_range", 0);
	if (max > min)
		us += sim_random_below(&random, max - min + 1);
	hrtimer_setup(&sleeper.timer, wake_ns_sleeper, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	hrtimer_start(&sleeper.timer, us * NSEC_PER_USEC, HRTIMER_MODE_REL);
	for (;;) {
		set_current_state(state);
		if (!sleeper.task)
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	hrtimer_cancel(&sleeper.timer);
}

/* ---- busy waits: the CPU is occupied, and others go on ---- */

/* What has been charged to the CPU takes its time first. */
static void delay(u64 ns)
{
	struct rq *rq = model_rq();

	ns += rq->charged_ns;
	rq->charged_ns = 0;
	sim_pause(ns);
}

void ndelay(unsigned long ns)
{
	delay(ns);
}

void cpu_relax(void)
{
	ndelay(10);
}

void udelay(unsigned long us)
{
	delay(us * NSEC_PER_USEC);
}

void mdelay(unsigned long ms)
{
	delay(ms * NSEC_PER_MSEC);
}
