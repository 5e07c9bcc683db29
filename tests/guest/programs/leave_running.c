// SPDX-License-Identifier: GPL-2.0
/*
 * The running thread of a policy moves itself to a later one, while another thread
 * of the first waits on its CPU. Says whether the one that moved was back in user
 * mode before the other had the CPU: 1, else 0. How long that took says nothing: a
 * fair thread goes before both.
 *	leave_running FIRST_ID LATER_ID
 */
#include "subject.h"

static uint32_t later_id;
static volatile bool go, goes_on, ran, overtaken;

static uint32_t policy_of(pid_t tid)
{
	struct saakm_attr attr;

	if (syscall(SYS_sched_getattr, tid, &attr, sizeof(attr), 0))
		die("sched_getattr");
	return attr.sched_saakm_policy;
}

static void leaver(struct subject *self)
{
	saakm_join(policy_id);
	self->progress = 1;
	while (!go)
		;
	saakm_join(later_id);
	goes_on = true;
	while (!self->stop)
		;
}

static struct subject first, second;

static void waiter(struct subject *self)
{
	saakm_join(policy_id);
	/* Whether it gets a turn before, or not. */
	while (policy_of(first.tid) != later_id)
		sched_yield();
	overtaken = goes_on;
	ran = true;
	while (!self->stop)
		;
}

int main(int argc, char **argv)
{
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
	AWAIT(ran);
	printf("%d\n", overtaken);
	subject_stop(&second);
	subject_stop(&first);
	return 0;
}
