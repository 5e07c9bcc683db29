// SPDX-License-Identifier: GPL-2.0
/*
 * The event loop, and strands. The loop runs upon a strand like everything else. When the function
 * of an event must wait, its strand is put aside as it is, and another one, a new or an idle one,
 * goes on with the loop; when the wait is over, that one lies idle again, and the first returns
 * from its wait, ends its event, and is the one that runs the loop. So an event that does not wait
 * costs no switch.
 *
 * For each CPU there is a stack of the strands that occupy it: on top who was put aside last,
 * below whom it had interrupted.
 */
#include <stdlib.h>

#include "engine.h"

/*
 * Code that has delayed itself so long, or so often, in one event, and done nothing else, waits for
 * what never comes. After the end so much time is left for what was due before.
 */
#define MAX_DELAY_NS	10000000000ULL
#define MAX_DELAYS	10000000

/* As many events at one instant mean that nothing goes on. 4,096 CPUs may have a dozen each. */
#define MAX_AT_ONCE	500000

enum strand_state {
	RUNS,
	IDLE,			/* in the pool */
	PAUSED,			/* until its event */
	WAITS,			/* for sim_wake_*() */
	PARKED,			/* for sim_unpark() */
};

struct sim_strand {
	struct sim_stack	stack;
	struct sim_context	context;	/* while it does not run */
	struct sim_event	wake;
	enum strand_state	state;
	bool			occupies;	/* is in the stack of its CPU */
	struct sim_strand	*below;		/* in the stack of its CPU */
	struct sim_strand	*next;		/* in the pool, or of those who wait */
	struct sim_strand	*later, *earlier;	/* of all that were put aside */
	sim_u64			quiet;		/* number of the mark before it began to read */
	sim_u64			since;		/* when was it put aside? */
	sim_u64			delays_since;	/* sim_context.delays */
	const char		*what;		/* it waits for */
};

struct cpu {
	struct sim_strand	*top;
	struct sim_event	*first, *last;	/* deferred */
	struct cpu		*next_ready;
	bool			is_ready;	/* for some of these, perhaps */
};

/* The boot is no part of the time that a run has; but a module may wait for what never comes. */
#define LONGEST_BOOT_NS	1000000000000ULL

sim_u64 sim_now;
sim_u64 sim_events;
bool sim_booted;
struct sim_context sim_context = { .cpu = -1 };
struct sim_strand *sim_strand;
unsigned int sim_interleaving;

static struct sim_strand main_strand;
static struct sim_strand *pool;
static struct sim_strand *aside;		/* all that were put aside, latest first */
static struct cpu *cpus;
static unsigned int nr_occupied;		/* strands that occupy a CPU */
static unsigned int nr_deferred;		/* events */
static struct cpu *ready, **ready_end = &ready;	/* CPUs, in order */
static volatile bool stopping;
static sim_u64 mark, quiet;			/* of RCU: the latest, and when this event began */
static sim_u64 instant;				/* guard against loops */
static unsigned int at_once;
static const struct sim_strand *stuck_strand;	/* that is to say so itself */
static struct sim_random interleaving;

void sim_stop(void)
{
	stopping = true;
}

/* ---- events that wait for their CPU ---- */

static void defer(struct sim_event *event)
{
	struct cpu *cpu = &cpus[event->cpu];

	event->position = SIM_DEFERRED;
	event->deferred = NULL;
	*(cpu->last ? &cpu->last->deferred : &cpu->first) = event;
	cpu->last = event;
	nr_deferred++;
}

void sim_undefer(struct sim_event *event)
{
	struct cpu *cpu = &cpus[event->cpu];
	struct sim_event *before = NULL, *other;

	for (other = cpu->first; other != event; other = other->deferred)
		before = other;
	*(before ? &before->deferred : &cpu->first) = event->deferred;
	if (cpu->last == event)
		cpu->last = before;
	event->position = 0;
	nr_deferred--;
}

/* It may be their turn, once this event is over. */
static void recall_deferred(int number)
{
	struct cpu *cpu = &cpus[number];

	if (!nr_deferred || !cpu->first || cpu->is_ready)
		return;
	cpu->is_ready = true;
	cpu->next_ready = NULL;
	*ready_end = cpu;
	ready_end = &cpu->next_ready;
}

/* ---- who occupies a CPU ---- */

static void occupy(struct sim_strand *strand, int cpu)
{
	strand->occupies = true;
	strand->below = cpus[cpu].top;
	cpus[cpu].top = strand;
	nr_occupied++;
}

static void leave(struct sim_strand *strand)
{
	struct sim_strand **link = &cpus[strand->context.cpu].top;

	if (!strand->occupies)
		return;
	while (*link != strand)
		link = &(*link)->below;
	*link = strand->below;
	strand->occupies = false;
	nr_occupied--;
}

bool sim_cpu_occupied(int cpu)
{
	return nr_occupied && cpus[cpu].top;
}

/* The strand that runs is in no stack. */
bool sim_cpu_interrupted(int cpu)
{
	return sim_cpu_occupied(cpu);
}

bool sim_cpu_interrupted_in(int cpu, unsigned int mask)
{
	const struct sim_strand *strand;

	if (!nr_occupied)
		return false;
	for (strand = cpus[cpu].top; strand; strand = strand->below)
		if (strand->context.preempt & mask)
			return true;
	return false;
}

bool sim_others_atomic(void)
{
	const struct sim_strand *strand;

	for (strand = aside; strand; strand = strand->earlier)
		if (strand->context.preempt || strand->context.irqs_off)
			return true;
	return false;
}

void sim_move_to_cpu(int cpu)
{
	if (sim_context.cpu >= 0 && sim_context.cpu != cpu)
		recall_deferred(sim_context.cpu);
	sim_enter_cpu(cpu);
}

static inline bool takes_interrupts(const struct sim_context *context)
{
	return !context->irqs_off && !(context->preempt & SIM_HARDIRQ_MASK);
}

static inline bool reads(const struct sim_context *context)
{
	return context->rcu || context->preempt || context->irqs_off;
}

static void wake_strand(struct sim_event *event);
static void spawned(struct sim_event *event);

static inline bool belongs_to_strand(const struct sim_event *event)
{
	return event->fn == wake_strand || event->fn == spawned;
}

/* Can @event not happen now, for somebody occupies its CPU? */
static bool must_wait(const struct sim_event *event)
{
	const struct sim_strand *top = cpus[event->cpu].top;

	if (!top || &top->wake == event)
		return false;
	if (belongs_to_strand(event))
		return true;
	return !takes_interrupts(&top->context);
}

/* Of those whose CPU may have become ready for them the first one that can happen now, or NULL. */
static struct sim_event *recalled(void)
{
	struct sim_event *event;

	for (; ready; ready = ready->next_ready) {
		for (event = ready->first; event; event = event->deferred) {
			if (must_wait(event))
				continue;
			sim_undefer(event);
			return event;
		}
		ready->is_ready = false;
	}
	ready_end = &ready;
	return NULL;
}

/* Does an event wait for its CPU that was due before the end? */
static bool somebody_is_due(void)
{
	const struct sim_event *event;
	unsigned int i;

	for (i = 0; nr_deferred && i < sim_options.cpus; i++)
		for (event = cpus[i].first; event; event = event->deferred)
			if (event->at <= sim_options.end_ns)
				return true;
	return false;
}

/* ---- switching ---- */

/* A strand of the pool begins like that, and is in the loop ever after. */
static void strand_begins(void)
{
	sim_stack_begins();
	sim_loop();
}

static struct sim_strand *idle_strand(void)
{
	struct sim_strand *strand = pool;

	if (strand) {
		pool = strand->next;
	} else {
		strand = sim_alloc(sizeof(*strand));
		sim_stack_make(&strand->stack, strand_begins);
	}
	return strand;
}

static void switch_to(struct sim_strand *to)
{
	struct sim_strand *from = sim_strand;

	sim_strand = to;
	to->state = RUNS;
	sim_stack_switch(&from->stack, &to->stack);
}

static void put_aside(struct sim_strand *strand, enum strand_state state)
{
	strand->state = state;
	strand->since = sim_now;
	strand->context = sim_context;
	strand->quiet = reads(&sim_context) ? quiet : mark;
	strand->earlier = aside;
	strand->later = NULL;
	if (aside)
		aside->later = strand;
	aside = strand;
}

static void take_up(struct sim_strand *strand)
{
	*(strand->later ? &strand->later->earlier : &aside) = strand->earlier;
	if (strand->earlier)
		strand->earlier->later = strand->later;
	leave(strand);
}

/*
 * The strand that runs waits; the loop goes on upon another one, and comes back in wake_strand().
 */
static void suspend(enum strand_state state)
{
	struct sim_strand *strand = sim_strand;
	bool worker = sim_context.task && !reads(&sim_context);

	put_aside(strand, state);
	if (state != PARKED && sim_context.cpu >= 0 && !worker)
		occupy(strand, sim_context.cpu);
	if (sim_context.cpu >= 0)
		recall_deferred(sim_context.cpu);
	sim_context = (struct sim_context){ .cpu = -1 };
	switch_to(idle_strand());
	sim_context = strand->context;
	quiet = strand->quiet;
}

static void wake_strand(struct sim_event *event)
{
	struct sim_strand *strand = container_of(event, struct sim_strand, wake);
	struct sim_strand *loop = sim_strand;

	take_up(strand);
	loop->state = IDLE;
	loop->next = pool;
	pool = loop;
	switch_to(strand);
	/* Here again, out of the pool: who had our place waits, and we go on with the loop. */
}

static void wake_at(struct sim_strand *strand, sim_u64 at)
{
	sim_event_init(&strand->wake, wake_strand, strand->context.cpu);
	sim_event_set(&strand->wake, at);
}

/* It is @strand that cannot go on. */
__attribute__((cold, noreturn))
static void stuck(const struct sim_strand *strand, const struct sim_context *context)
{
	sim_context = *context;
	sim_core_stuck(sim_now - strand->delays_since, context->delays);
	sim_die();
}

static void count_delay(struct sim_strand *strand)
{
	if (!sim_context.delays++)
		strand->delays_since = sim_now;
	if (unlikely(sim_context.delays > MAX_DELAYS ||
		     sim_now - strand->delays_since > MAX_DELAY_NS))
		stuck(strand, &sim_context);
}

void sim_pause(sim_u64 ns)
{
	count_delay(sim_strand);
	sim_strand->context.cpu = sim_context.cpu;
	wake_at(sim_strand, sim_now + ns);
	suspend(PAUSED);
	if (unlikely(stuck_strand))
		stuck(sim_strand, &sim_context);
}

void __sim_interleave(void)
{
	if (sim_context.cpu < 0 || sim_random_below(&interleaving, sim_interleaving))
		return;
	sim_pause(sim_random_below(&interleaving, sim_options.window_ns + 1));
}

void sim_wait(struct sim_waiters *waiters, const char *what)
{
	struct sim_strand *strand = sim_strand;

	sim_context.delays = 0;
	strand->what = what;
	strand->next = waiters->last ? waiters->last->next : strand;
	if (waiters->last)
		waiters->last->next = strand;
	waiters->last = strand;
	suspend(WAITS);
}

void sim_wake_one(struct sim_waiters *waiters)
{
	struct sim_strand *last = waiters->last, *strand;

	if (!last)
		return;
	strand = last->next;
	last->next = strand->next;
	if (strand == last)
		waiters->last = NULL;
	strand->state = PAUSED;
	wake_at(strand, sim_now);
}

void sim_wake_all(struct sim_waiters *waiters)
{
	while (waiters->last)
		sim_wake_one(waiters);
}

void sim_park(void)
{
	sim_context.delays = 0;
	suspend(PARKED);
}

void sim_unpark(struct sim_strand *strand, int cpu)
{
	strand->context.cpu = cpu;
	strand->context.offset = sim_percpu_offset[cpu];
	strand->state = PAUSED;
	wake_at(strand, sim_now);
	if (!strand->context.task)
		occupy(strand, cpu);
}

struct spawn {
	struct sim_event	event;
	void			(*fn)(void *arg);
	void			*arg;
	void			*task;
};

static void spawned(struct sim_event *event)
{
	struct spawn spawn = *(struct spawn *)event;

	sim_free(event);
	sim_context.task = spawn.task;
	spawn.fn(spawn.arg);
	sim_context.task = NULL;
}

void sim_spawn(void (*fn)(void *arg), void *arg, int cpu, void *task)
{
	struct spawn *spawn = sim_alloc(sizeof(*spawn));

	sim_event_init(&spawn->event, spawned, cpu);
	spawn->fn = fn;
	spawn->arg = arg;
	spawn->task = task;
	sim_event_set(&spawn->event, sim_now);
}

/* ---- CPUs that die ---- */

static void move_event(struct sim_event *event, int to)
{
	if (event->position == SIM_DEFERRED) {
		sim_undefer(event);
		event->cpu = to;
		sim_event_set(event, sim_now);
	} else {
		event->cpu = to;
	}
}

/* Threads end there what they are in the middle of. Workers move, see below. */
static bool is_thread(const struct sim_event *event)
{
	return event->fn == wake_strand || (event->fn == spawned && !((struct spawn *)event)->task);
}

struct move {
	int	from, to;
};

static void move_queued(struct sim_event *event, void *arg)
{
	const struct move *move = arg;

	if (event->cpu == move->from && !is_thread(event))
		move_event(event, move->to);
}

/* Those that do not occupy the CPU, whether an event will wake them or somebody. */
static void move_workers(int from, int to)
{
	struct sim_strand *strand;

	for (strand = aside; strand; strand = strand->earlier) {
		if (strand->context.cpu != from || !strand->context.task || strand->occupies)
			continue;
		strand->context.cpu = to;
		strand->context.offset = sim_percpu_offset[to];
		if (sim_event_is_set(&strand->wake))
			move_event(&strand->wake, to);
	}
}

void sim_move_events(int from, int to)
{
	struct sim_event *event, *next;

	move_workers(from, to);
	sim_queue_each(move_queued, &(struct move){ from, to });
	for (event = cpus[from].first; event; event = next) {
		next = event->deferred;
		if (!is_thread(event))
			move_event(event, to);
	}
}

/* With fake frames of AddressSanitizer a variable may lie elsewhere, which nobody can tell then. */
bool sim_on_stack(const void *address)
{
	const struct sim_stack *stack = &sim_strand->stack;

	return (const char *)address >= (const char *)stack->low &&
	       (const char *)address < (const char *)stack->low + stack->size;
}

bool sim_below_stack(const void *address)
{
	const char *low = sim_strand ? sim_strand->stack.low : NULL;

	return low && (const char *)address < low &&
	       (const char *)address >= low - SIM_STACK_GUARD;
}

/* ---- grace periods ---- */

sim_u64 sim_quiet_mark(void)
{
	return ++mark;
}

bool sim_quiet_since(sim_u64 number)
{
	const struct sim_strand *strand;

	if (reads(&sim_context) && quiet < number)
		return false;
	for (strand = aside; strand; strand = strand->earlier)
		if (reads(&strand->context) && strand->quiet < number)
			return false;
	return true;
}

/* ---- the loop ---- */

static void count_at_once(const struct sim_event *event)
{
	if (sim_now != instant) {
		instant = sim_now;
		at_once = 0;
	} else if (++at_once > MAX_AT_ONCE) {
		sim_core_loops(event, at_once);
		sim_die();
	}
}

/* The event, or what followed upon its wait, is over. */
static inline void end_event(const void *fn)
{
	struct sim_context *context = &sim_context;

	if (unlikely(context->preempt | context->irqs_off | context->rcu | context->locks |
		     context->delays || context->task)) {
		context->delays = 0;
		if (context->preempt | context->irqs_off | context->rcu | context->locks ||
		    context->task)
			sim_core_left_context(context->cpu, fn);
	}
	sim_events++;
	if (sim_options.check)
		sim_core_check();
	if (unlikely(nr_deferred && context->cpu >= 0))
		recall_deferred(context->cpu);
}

/* Does whoever has waited long wait for ever? */
static void report_deadlocks(void)
{
	const struct sim_strand *strand;

	for (strand = aside; strand; strand = strand->earlier)
		if (strand->state == WAITS)
			sim_core_deadlock(strand->context.cpu, strand->context.task, strand->what,
					  sim_now - strand->since);
}

/*
 * What was due before the end does not come to happen: who has been in the way longest? A debugger
 * that stops at the report then sees the stack of that one.
 */
static void report_stuck(void)
{
	struct sim_strand *strand, *longest = NULL;

	for (strand = aside; strand; strand = strand->earlier)
		if (strand->state == PAUSED && strand->context.delays &&
		    (!longest || strand->delays_since < longest->delays_since))
			longest = strand;
	if (!longest)
		return;
	stuck_strand = longest;
	take_up(longest);
	switch_to(longest);
}

/* What was due before the end happens, though its CPU was occupied then. NULL: the end. */
static struct sim_event *next_event(void)
{
	struct sim_event *event = unlikely(ready) ? recalled() : NULL;

	if (!event)
		event = sim_queue_pop(sim_booted ? sim_options.end_ns : LONGEST_BOOT_NS);
	if (unlikely(!event) && somebody_is_due()) {
		event = sim_queue_pop(SIM_NEVER);
		if (event && sim_now > sim_options.end_ns + MAX_DELAY_NS) {
			report_stuck();
			event = NULL;		/* they wait, as will be said */
		}
	}
	return event;
}

void sim_loop(void)
{
	while (!stopping) {
		struct sim_event *event = next_event();
		void (*fn)(struct sim_event *event);

		if (!event)
			break;
		if (event->cpu >= 0) {
			if (unlikely(nr_occupied) && must_wait(event)) {
				defer(event);
				continue;
			}
			sim_enter_cpu(event->cpu);
		} else {
			sim_context.cpu = -1;
		}
		count_at_once(event);
		quiet = mark;
		fn = event->fn;
		fn(event);
		if (likely(fn != wake_strand))
			end_event(fn);
	}
	switch_to(&main_strand);
	abort();				/* nobody comes back from there */
}

void sim_run(void)
{
	if (!cpus)
		cpus = sim_alloc(sim_options.cpus * sizeof(*cpus));
	sim_interleaving = sim_options.interleave;
	sim_random_init(&interleaving, "interleave", 0);
	sim_strand = &main_strand;
	switch_to(idle_strand());
	if (!sim_queue_first() || sim_now >= sim_options.end_ns)
		report_deadlocks();
}
