// SPDX-License-Identifier: GPL-2.0
/*
 * wakers HOW POLICY_ID TIMES: a thread of the policy sleeps and is woken so often
 *	task	by this program's main thread, whose id it says
 *	timer	by a timer that interrupts (hrtimer)
 *	softirq	by a timer of the timer wheel: the timeout of a socket
 *	fork	not at all: as many children are born
 */
#include "sleeper.h"
#include <sys/socket.h>

static int times;

static void on_task(struct subject *self)
{
	saakm_join(policy_id);
	sleeper_run(self);
}

static void by_task(void)
{
	struct subject sleeper;
	uint64_t before;

	sleeper_event = eventfd(0, 0);
	subject_start(&sleeper, on_task, 1);
	for (int i = 0; i < times; i++) {
		AWAIT(in_state(sleeper.tid, "BLOCKED"));
		before = sleeper.progress;
		sleeper_wake();
		AWAIT(sleeper.progress > before);
	}
	/* It is killed in its sleep: no wakeup more that somebody could count. */
	printf("%d\n", gettid_());
	fflush(stdout);
	_exit(0);
}

static void by_timer(void)
{
	pin(0, 1);
	saakm_join(policy_id);
	for (int i = 0; i < times; i++)
		sleep_ms(2);
}

static void by_softirq(void)
{
	struct timeval timeout = { .tv_usec = 8000 };
	int pair[2];
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
	    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)))
		die("socketpair");
	pin(0, 1);
	saakm_join(policy_id);
	for (int i = 0; i < times; i++)
		if (recv(pair[0], &byte, 1, 0) != -1 || errno != EAGAIN)
			die("recv");
}

static void is_born(void)
{
}

static void by_fork(void)
{
	saakm_join(policy_id);
	for (int i = 0; i < times; i++)
		process_reap(process_start(is_born), 0);
	printf("%d\n", gettid_());
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{ "task", by_task }, { "timer", by_timer }, { "softirq", by_softirq },
		{ "fork", by_fork }, {}
	};

	if (argc != 4)
		die("usage: %s task|timer|softirq|fork POLICY_ID TIMES", argv[0]);
	times = atoi(argv[3]);
	return run_scenario(argc, argv, scenarios);
}
