// SPDX-License-Identifier: GPL-2.0
/*
 * Beside a thread that keeps CPU 1, another one of the policy wakes there. How long until it
 * gets the CPU?
 *	wakes_beside POLICY_ID PARAM OTHER_PARAM ROUNDS LIMIT_MS
 * Says us for each round, or -1 if it was not within the limit. Each round lasts until it has.
 */
#include "gates.h"
#include "sleeper.h"

#define CPU	1

static uint32_t first_param, other_param;
static volatile bool pauses;
static volatile uint64_t ran_ns;

static void join_with(uint32_t param)
{
	int ret = saakm_setattr(0, SCHED_SAAKM, policy_id, 0, param);

	if (ret)
		die("sched_setattr: %d", ret);
}

static void keeps_the_cpu(struct subject *self)
{
	join_with(first_param);
	while (!self->stop) {
		self->progress++;
		while (pauses && !self->stop)
			sleep_ms(1);
	}
}

static void wakes(struct subject *self)
{
	uint64_t value;

	join_with(other_param);
	while (!self->stop) {
		if (read(sleeper_event, &value, sizeof(value)) != sizeof(value))
			die("eventfd");
		ran_ns = now_ns(CLOCK_MONOTONIC);
		self->progress++;
	}
}

static long long one_round(struct subject *other, unsigned int limit_ms)
{
	uint64_t begin_ns = now_ns(CLOCK_MONOTONIC), before = other->progress;
	bool ran;

	sleeper_wake();
	ran = WITHIN(limit_ms, other->progress > before);
	pauses = true;
	AWAIT(other->progress > before && in_state(other->tid, "BLOCKED"));
	pauses = false;
	return ran ? (long long)(ran_ns - begin_ns) / 1000 : -1;
}

int main(int argc, char **argv)
{
	struct subject first, other;
	uint64_t seen;

	if (argc != 6)
		die("usage: %s POLICY_ID PARAM OTHER_PARAM ROUNDS LIMIT_MS", argv[0]);
	policy_id = atoi(argv[1]);
	first_param = atoi(argv[2]);
	other_param = atoi(argv[3]);
	sleeper_event = eventfd(0, 0);
	pin(0, 0);
	subject_start(&other, wakes, CPU);
	AWAIT(in_state(other.tid, "BLOCKED"));
	subject_start(&first, keeps_the_cpu, CPU);
	for (int left = atoi(argv[4]); left; left--) {
		/* It has seen that it shall not pause any more. */
		seen = first.progress;
		AWAIT(first.progress > seen + 1 && in_state(first.tid, "RUNNING"));
		printf("%lld\n", one_round(&other, atoi(argv[5])));
	}
	first.stop = other.stop = 1;
	sleeper_wake();
	subject_stop(&other);
	subject_stop(&first);
	return 0;
}
