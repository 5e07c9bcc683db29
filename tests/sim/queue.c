// SPDX-License-Identifier: GPL-2.0
/*
 * The event queue against one that looks at all events: random operations, many distributions of
 * times.
 */
#include "check.h"

#define MAX_EVENTS	300

static struct sim_event events[MAX_EVENTS];
static unsigned int nr_events;
static sim_u64 order[MAX_EVENTS];	/* the naive one: when it was set, 0: it is not set */
static sim_u64 now_order;
static struct sim_random random_numbers;
static bool crowded;			/* many events in few buckets of the ring, each in some chunks */

static void happens(struct sim_event *event)
{
	(void)event;
}

static struct sim_event *naive_first(void)
{
	struct sim_event *first = NULL;
	unsigned int i;

	for (i = 0; i < nr_events; i++) {
		if (!order[i])
			continue;
		if (!first || events[i].at < first->at ||
		    (events[i].at == first->at && order[i] < order[first - events]))
			first = &events[i];
	}
	return first;
}

static sim_u64 below(sim_u64 n)
{
	return sim_random_below(&random_numbers, n);
}

/* At once, near, at the next tick, beyond the ring, and very far: all of them mixed. */
static sim_u64 some_time(void)
{
	if (crowded)
		return (sim_now / 1000000 + 1 + below(3)) * 1000000 + below(8) * below(1000);
	switch (below(8)) {
	case 0:
		return sim_now;
	case 1:
		return sim_now + below(3);
	case 2:
		return sim_now + below(1000);
	case 3:
		return (sim_now / 4000000 + 1) * 4000000;
	case 4:
		return sim_now + below(10000000);
	case 5:
		return sim_now + 2048 * 8192 - 10000 + below(20000);
	case 6:
		return sim_now + below(5000000000);
	default:				/* past: it is to be now */
		return sim_now ? below(sim_now) : 0;
	}
}

static void set_one(unsigned int i)
{
	sim_u64 at = some_time();

	sim_event_set(&events[i], at);
	order[i] = ++now_order;
	CHECK_NUMBER(events[i].at, at < sim_now ? sim_now : at);
	CHECK(sim_event_is_set(&events[i]));
}

static void cancel_one(unsigned int i)
{
	CHECK_NUMBER(sim_event_cancel(&events[i]), order[i] != 0);
	order[i] = 0;
	CHECK(!sim_event_is_set(&events[i]));
}

static void pop_one(void)
{
	struct sim_event *expected = naive_first(), *is;
	sim_u64 limit = expected ? expected->at : 0;

	CHECK(sim_queue_first() == expected);
	if (expected && limit) {
		CHECK(!sim_queue_pop(limit - 1));
		CHECK(sim_queue_first() == expected);
	}
	is = sim_queue_pop(SIM_NEVER);
	CHECK(is == expected, "%td, not %td", is - events, expected - events);
	if (!is)
		return;
	CHECK_NUMBER(sim_now, is->at);
	CHECK(!sim_event_is_set(is));
	order[is - events] = 0;
}

static unsigned int nr_set(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr_events; i++)
		n += order[i] != 0;
	return n;
}

static void run(unsigned int n, unsigned int steps)
{
	unsigned int i;

	for (nr_events = n; steps; steps--) {
		i = below(n);
		switch (below(8)) {
		case 0 ... 3:
			set_one(i);
			break;
		case 4:
			cancel_one(i);
			break;
		default:
			pop_one();
			break;
		}
		CHECK_NUMBER(sim_queue_length(), nr_set());
	}
	while (nr_set())
		pop_one();
	CHECK(!sim_queue_first());
}

int main(void)
{
	unsigned int i;

	sim_random_init(&random_numbers, "test of the queue", 0);
	for (i = 0; i < MAX_EVENTS; i++)
		sim_event_init(&events[i], happens, 0);
	run(1, 2000);
	run(3, 20000);
	run(30, 50000);
	run(MAX_EVENTS, 100000);
	crowded = true;
	run(MAX_EVENTS, 100000);
	return 0;
}
