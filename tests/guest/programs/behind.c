// SPDX-License-Identifier: GPL-2.0
/*
 * One thread has CPU 1, and may use no other. A second one may use it, too, but is queued on
 * CPU 2, which a real-time thread keeps. How long until it gets CPU 1?
 *	behind runs|yields POLICY_ID PARAM OTHER_PARAM ROUNDS LIMIT_MS
 * The first one runs on, or yields all the time. Says us for each round, or -1 if it was not
 * within the limit.
 */
#include "gates.h"
#include <sys/eventfd.h>

#define MAX_ROUNDS	64
#define CPU		1
#define BUSY_CPU	2

struct other {
	struct subject subject;
	int event;
	volatile uint64_t ran_ns;
};

static struct other others[MAX_ROUNDS];
static uint32_t first_param, other_param;
static volatile bool yields;

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
		if (yields)
			sched_yield();
	}
}

static void waits(struct subject *self)
{
	struct other *other = (struct other *)self;
	uint64_t value;

	join_with(other_param);
	self->progress = 1;
	if (read(other->event, &value, sizeof(value)) != sizeof(value))
		die("eventfd");
	other->ran_ns = now_ns(CLOCK_MONOTONIC);
}

static void prepare(struct other *other)
{
	other->event = eventfd(0, 0);
	subject_start(&other->subject, waits, BUSY_CPU);
	AWAIT(other->subject.progress && in_state(other->subject.tid, "BLOCKED"));
	allow(other->subject.tid, 1ul << CPU | 1ul << BUSY_CPU);
}

/* us, or -1 */
static long long wake(struct other *other, unsigned int limit_ms)
{
	uint64_t one = 1, begin_ns = now_ns(CLOCK_MONOTONIC);

	if (write(other->event, &one, sizeof(one)) != sizeof(one))
		die("eventfd");
	return WITHIN(limit_ms, other->ran_ns) ? (long long)(other->ran_ns - begin_ns) / 1000 : -1;
}

int main(int argc, char **argv)
{
	static struct subject first;
	int rounds = argc == 7 ? atoi(argv[5]) : 0;

	if (rounds < 1 || rounds > MAX_ROUNDS)
		die("usage: %s runs|yields POLICY_ID PARAM OTHER_PARAM ROUNDS LIMIT_MS", argv[0]);
	policy_id = atoi(argv[2]);
	first_param = atoi(argv[3]);
	other_param = atoi(argv[4]);
	pin(0, 0);
	for (int i = 0; i < rounds; i++)
		prepare(&others[i]);
	close_gate(BUSY_CPU);
	subject_start(&first, keeps_the_cpu, CPU);
	AWAIT(first.progress);
	yields = !strcmp(argv[1], "yields");
	for (int i = 0; i < rounds; i++)
		printf("%lld\n", wake(&others[i], atoi(argv[6])));
	open_gate(BUSY_CPU);
	first.stop = 1;
	subject_stop(&first);
	for (int i = 0; i < rounds; i++)
		subject_stop(&others[i].subject);
	return 0;
}
