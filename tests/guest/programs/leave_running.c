// SPDX-License-Identifier: GPL-2.0
/*
 * The running thread of a policy moves itself to a later one, while another thread
 * of the first waits: how long does that wait go on? Says the milliseconds.
 *	leave_running FIRST_ID LATER_ID
 */
#include "subject.h"

static uint32_t later_id;
static volatile bool go;
static volatile uint64_t left_ns, ran_ns;

static void leaver(struct subject *self)
{
	saakm_join(policy_id);
	self->progress = 1;
	while (!go)
		;
	left_ns = now_ns(CLOCK_MONOTONIC);
	saakm_join(later_id);
	while (!self->stop)
		;
}

static void waiter(struct subject *self)
{
	saakm_join(policy_id);
	/* Whether it gets a turn before, or not. */
	while (!left_ns)
		sched_yield();
	ran_ns = now_ns(CLOCK_MONOTONIC);
	while (!self->stop)
		;
}

int main(int argc, char **argv)
{
	struct subject first, second;

	if (argc != 3)
		die("usage: %s FIRST_ID LATER_ID", argv[0]);
	policy_id = atoi(argv[1]);
	later_id = atoi(argv[2]);
	pin(0, 1);
	subject_start(&first, leaver, 0);
	AWAIT(first.progress);
	subject_start(&second, waiter, 0);
	AWAIT(is_member(second.tid));
	sleep_ms(50);
	go = true;
	AWAIT(ran_ns);
	printf("%lld\n", (long long)(ran_ns - left_ns) / 1000000);
	subject_stop(&first);
	subject_stop(&second);
	return 0;
}
