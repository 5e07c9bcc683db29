// SPDX-License-Identifier: GPL-2.0
/* Strands: who waits, who goes on when, what comes in between, and that all of it is repeatable. */
#include <stdarg.h>

#include "check.h"

extern unsigned int left_contexts;

static char said[4096];

/* "10:name " of what happens at 10 */
static void say(const char *name)
{
	size_t n = strlen(said);

	snprintf(said + n, sizeof(said) - n, "%llu:%s/%d ", sim_now, name, sim_context.cpu);
}

struct test {
	struct sim_event	event;
	const char		*name;
};

static void at(sim_u64 time, struct test *test, void (*fn)(struct sim_event *event), int cpu,
	       const char *name)
{
	test->name = name;
	sim_event_init(&test->event, fn, cpu);
	sim_event_set(&test->event, time);
}

static void says(struct sim_event *event)
{
	say(container_of(event, struct test, event)->name);
}

static void expect(const char *expected)
{
	sim_run();
	CHECK_TEXT(said, expected);
	CHECK(!sim_queue_first());
	CHECK_NUMBER(left_contexts, 0);
	said[0] = 0;
}

static sim_u64 begin;

static void pauses(struct sim_event *event)
{
	volatile char frame[2000];
	const char *name = container_of(event, struct test, event)->name;
	unsigned int i;

	for (i = 0; i < sizeof(frame); i++)
		frame[i] = i;
	say(name);
	sim_context.preempt = 3;
	sim_pause(10);
	CHECK_NUMBER(sim_context.preempt, 3);
	sim_context.preempt = 0;
	say("after");
	sim_pause(5);
	say("end");
	for (i = 0; i < sizeof(frame); i++)
		CHECK(frame[i] == (char)i);
}

/* Others go on; an event of the same CPU is an interrupt. */
static void test_pause(void)
{
	struct test a, b, c, d;

	at(0, &a, pauses, 0, "a");
	at(4, &b, pauses, 1, "b");
	at(7, &c, says, 0, "irq");
	at(12, &d, says, 0, "irq");
	expect("0:a/0 4:b/1 7:irq/0 10:after/0 12:irq/0 14:after/1 15:end/0 19:end/1 ");
}

static void pauses_with_irqs_off(struct sim_event *event)
{
	(void)event;
	sim_context.irqs_off = 1;
	say("off");
	sim_pause(10);
	sim_context.irqs_off = 0;
	say("on");
	sim_pause(10);
	say("end");
}

static struct test cancelled;

static void cancels(struct sim_event *event)
{
	(void)event;
	CHECK(sim_event_is_set(&cancelled.event));
	CHECK(sim_event_cancel(&cancelled.event));
	CHECK(!sim_event_is_set(&cancelled.event));
	CHECK(!sim_event_cancel(&cancelled.event));
}

/* With interrupts off its events wait, in their order, and come when these are on. */
static void test_deferral(void)
{
	struct test a, b, c, d, e;

	begin = sim_now;
	at(begin, &a, pauses_with_irqs_off, 0, "a");
	at(begin + 2, &b, says, 0, "first");
	at(begin + 3, &c, says, 0, "second");
	at(begin + 3, &d, says, 1, "other");
	at(begin + 4, &cancelled, says, 0, "cancelled");
	at(begin + 6, &e, cancels, 1, "");
	expect("19:off/0 22:other/1 29:on/0 29:first/0 29:second/0 39:end/0 ");
}

/* What was due at the end of the run comes yet, but nothing that is later. */
static void test_end(void)
{
	struct test a, b, c;

	begin = sim_now;
	sim_options.end_ns = begin + 5;
	at(begin, &a, pauses_with_irqs_off, 0, "a");
	at(begin + 5, &b, says, 0, "due");
	at(begin + 11, &c, says, 1, "late");
	sim_run();
	CHECK_TEXT(said, "39:off/0 49:on/0 49:due/0 ");
	sim_options.end_ns = SIM_NEVER;
	expect("39:off/0 49:on/0 49:due/0 50:late/1 59:end/0 ");
}

static struct sim_waiters waiters;
static struct sim_strand *parked;

static void waits(struct sim_event *event)
{
	say(container_of(event, struct test, event)->name);
	sim_wait(&waiters, "the test");
	say(container_of(event, struct test, event)->name);
}

static void wakes_one(struct sim_event *event)
{
	(void)event;
	sim_wake_one(&waiters);
	say("wakes");
}

static void wakes_all(struct sim_event *event)
{
	(void)event;
	sim_wake_all(&waiters);
	say("wakes all");
}

static void test_wait(void)
{
	struct test a, b, c, d, e;

	begin = sim_now;
	at(begin + 1, &a, waits, 0, "a");
	at(begin + 2, &b, waits, 1, "b");
	at(begin + 3, &c, waits, 2, "c");
	at(begin + 4, &d, wakes_one, 3, "");
	at(begin + 5, &e, wakes_all, 3, "");
	expect("60:a/0 61:b/1 62:c/2 63:wakes/3 63:a/0 64:wakes all/3 64:b/1 64:c/2 ");
}

static void parks(struct sim_event *event)
{
	(void)event;
	say("parks");
	parked = sim_strand;
	sim_park();
	say("goes on");
	CHECK(!sim_cpu_interrupted(sim_context.cpu));
}

static void unparks(struct sim_event *event)
{
	(void)event;
	CHECK(!sim_cpu_interrupted(3));
	sim_unpark(parked, 3);
	/* It has the CPU that it was told, before it runs. */
	CHECK(sim_cpu_interrupted(3) && sim_cpu_occupied(3) && !sim_cpu_occupied(0));
	say("unparks");
}

static void test_park(void)
{
	struct test a, b, c;

	begin = sim_now;
	at(begin, &a, parks, 0, "");
	at(begin + 1, &b, says, 0, "free");
	at(begin + 2, &c, unparks, 1, "");
	expect("64:parks/0 65:free/0 66:unparks/1 66:goes on/3 ");
}

static void goes_elsewhere(struct sim_event *event)
{
	(void)event;
	sim_context.irqs_off = 1;
	sim_pause(10);
	sim_context.irqs_off = 0;
	sim_move_to_cpu(1);
	say("there");
}

/* What waits for the CPU that it leaves is not forgotten. */
static void test_move_to_cpu(void)
{
	struct test a, b;

	begin = sim_now;
	at(begin, &a, goes_elsewhere, 0, "");
	at(begin + 5, &b, says, 0, "waited");
	expect("126:there/1 126:waited/0 ");
}

static void dies(struct sim_event *event)
{
	(void)event;
	sim_context.irqs_off = 1;
	sim_pause(10);
	CHECK(!sim_others_atomic());
	sim_move_events(sim_context.cpu, 3);
	sim_context.irqs_off = 0;
	say("dies");
	sim_pause(5);
	say("idles");
}

/* Events move, whether they wait for the CPU, are near, or far; the strand that is there stays. */
static void test_move_events(void)
{
	struct test a, b, c, d;

	begin = sim_now;
	at(begin, &a, dies, 2, "");
	at(begin + 5, &b, says, 2, "waited");
	at(begin + 20, &c, says, 2, "near");
	at(begin + 1000000000, &d, says, 2, "far");
	expect("136:dies/2 136:waited/3 141:idles/2 146:near/3 1000000126:far/3 ");
}

static void worker(void *arg)
{
	say(arg);
	CHECK(sim_context.task == &waiters);
	sim_pause(10);
	CHECK(sim_context.task == &waiters);
	sim_context.preempt = 1;
	sim_pause(10);
	sim_context.preempt = 0;
	say("done");
}

static void spawns(struct sim_event *event)
{
	(void)event;
	sim_spawn(worker, "worker", 0, &waiters);
	say("spawns");
}

static void looks(struct sim_event *event)
{
	(void)event;
	say(sim_cpu_interrupted(0) ? "as an interrupt" : "alone");
}

/* A worker that may be preempted is in nobody's way. */
static void test_spawn(void)
{
	struct test a, b, c;

	begin = sim_now;
	at(begin, &a, spawns, 0, "");
	at(begin + 5, &b, looks, 0, "");
	at(begin + 15, &c, looks, 0, "");
	expect("66:spawns/0 66:worker/0 71:alone/0 81:as an interrupt/0 86:done/0 ");
}

/* A worker moves as well. */
static void test_move_worker(void)
{
	struct test a, b;

	begin = sim_now;
	at(begin, &a, spawns, 0, "");
	at(begin + 1, &b, dies, 0, "");
	expect("1000000126:spawns/0 1000000126:worker/0 1000000137:dies/0 1000000142:idles/0 "
	       "1000000147:done/3 ");
}

static sim_u64 mark;

static void reads(struct sim_event *event)
{
	(void)event;
	sim_context.rcu = 1;
	sim_pause(10);
	sim_context.rcu = 0;
	say("read");
	sim_pause(10);
	sim_context.rcu = 1;
	sim_pause(10);
	sim_context.rcu = 0;
}

static void marks(struct sim_event *event)
{
	(void)event;
	mark = sim_quiet_mark();
	CHECK(!sim_quiet_since(mark));
	sim_context.preempt = 1;
	CHECK(!sim_quiet_since(mark));
	sim_context.preempt = 0;
	say("mark");
}

static void asks(struct sim_event *event)
{
	(void)event;
	say(sim_quiet_since(mark) ? "quiet" : "not quiet");
}

/* A reader that began before the mark counts, one that began later does not. */
static void test_quiet(void)
{
	struct test a, b, c, d, e;

	begin = sim_now;
	at(begin, &a, reads, 0, "");
	at(begin + 5, &b, marks, 1, "");
	at(begin + 9, &c, asks, 1, "");
	at(begin + 11, &d, asks, 1, "");
	at(begin + 25, &e, asks, 1, "");
	expect("91:mark/1 95:not quiet/1 96:read/0 97:quiet/1 111:quiet/1 ");
}

static void interleaves(struct sim_event *event)
{
	unsigned int i;

	for (i = 0; i < 1000; i++)
		sim_interleave();
	say(container_of(event, struct test, event)->name);
}

static void test_interleave(void)
{
	struct test tests[4];
	unsigned int i;

	begin = sim_now;
	sim_options.interleave = 3;
	sim_options.window_ns = 100;
	for (i = 0; i < 4; i++)
		at(begin, &tests[i], interleaves, i, "i");
	sim_run();
	sim_options.interleave = sim_interleaving = 0;
	puts(said);
	said[0] = 0;
}

static void leaves_a_lock(struct sim_event *event)
{
	(void)event;
	sim_context.locks = 1;
}

static void test_reports(void)
{
	struct test a, b;

	begin = sim_now;
	at(begin, &a, leaves_a_lock, 0, "");
	at(begin + 1, &b, waits, 1, "b");
	sim_run();
	CHECK_NUMBER(left_contexts, 1);
}

int main(void)
{
	sim_options.cpus = 4;
	sim_options.end_ns = SIM_NEVER;
	sim_percpu_init(4);
	sim_booted = true;
	test_pause();
	test_deferral();
	test_end();
	test_wait();
	test_park();
	test_spawn();
	test_quiet();
	test_move_to_cpu();
	test_move_events();
	test_move_worker();
	test_interleave();
	test_reports();
	return 0;
}
