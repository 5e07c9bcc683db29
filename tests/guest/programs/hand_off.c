// SPDX-License-Identifier: GPL-2.0
/*
 * hand_off POLICY_ID ROUNDS
 *
 * A lock of the kernel's (modules/handoff) is handed to a thread of the policy that waits on
 * CPU 1, and wants it for so long that nobody else may take it. Before it runs there, the
 * thread which has the CPU wants it, too: that one must make way, and not spin for the lock.
 * Says how many ms the first one waits at most.
 */
#include "subject.h"
#include <fcntl.h>

#define LONG_MS	20	/* more than RWSEM_WAIT_TIMEOUT */

static int file;
static volatile uint64_t begin_ns, longest_ns;

static void do_lock(const char *letter)
{
	if (pwrite(file, letter, 1, 0) != 1)	/* write() locks the position */
		die("/proc/handoff: %s", letter);
}

static void heir(struct subject *self)
{
	uint64_t waited_ns;

	saakm_join(policy_id);
	self->progress = 1;
	do_lock("l");
	self->progress = 2;
	waited_ns = now_ns(CLOCK_MONOTONIC) - begin_ns;
	if (waited_ns > longest_ns)
		longest_ns = waited_ns;
	do_lock("u");
}

static void rival(struct subject *self)
{
	saakm_join(policy_id);
	while (!self->stop)
		self->progress++;
	begin_ns = now_ns(CLOCK_MONOTONIC);
	do_lock("l");
	do_lock("u");
}

static void hand_over(void)
{
	struct subject waits, runs;

	do_lock("l");
	subject_start(&waits, heir, 1);
	AWAIT(waits.progress);
	sleep_ms(LONG_MS);
	do_lock("s");
	sleep_ms(LONG_MS);	/* it came too late, and has the lock handed over next time */
	if (waits.progress > 1)
		die("the lock could not be stolen");
	subject_start(&runs, rival, 1);
	AWAIT(runs.progress);
	do_lock("u");
	AWAIT(in_state(waits.tid, "READY"));
	subject_stop(&runs);
	subject_stop(&waits);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		die("usage: %s POLICY_ID ROUNDS", argv[0]);
	policy_id = atoi(argv[1]);
	file = open("/proc/handoff", O_WRONLY);
	if (file < 0)
		die("/proc/handoff");
	pin(0, 0);
	for (int i = atoi(argv[2]); i > 0; i--)
		hand_over();
	printf("%lu\n", longest_ns / 1000000);
	return 0;
}
