// SPDX-License-Identifier: GPL-2.0
/*
 * hand_off POLICY_ID ROUNDS saakm|fair
 *
 * A lock of the kernel's (modules/handoff) is handed to a thread of the policy that waits on
 * CPU 1, and wants it for so long that nobody else may take it. Before it runs there, the
 * thread which has the CPU, of the policy or fair, wants it, too: that one must make way, and
 * not spin for the lock. Says how many ms the first one waits at most.
 */
#include "subject.h"
#include <fcntl.h>

#define LONG_MS	20	/* more than RWSEM_WAIT_TIMEOUT */

static int file;
static bool rival_is_fair;
static volatile uint64_t begin_ns, waited_ns;

/* write() would lock the file's position. */
static void do_lock(const char *letter)
{
	if (pwrite(file, letter, 1, 0) != 1)
		die("/proc/handoff: %s", letter);
}

/* If the rival was preempted before it wanted the lock, nobody was in the way. */
static void heir(struct subject *self)
{
	saakm_join(policy_id);
	self->progress = 1;
	do_lock("l");
	waited_ns = begin_ns ? now_ns(CLOCK_MONOTONIC) - begin_ns : 0;
	self->progress = 2;
	do_lock("u");
}

static void rival(struct subject *self)
{
	if (!rival_is_fair)
		saakm_join(policy_id);
	self->progress = 1;
	while (!self->stop)
		;
	begin_ns = now_ns(CLOCK_MONOTONIC);
	do_lock("l");
	do_lock("u");
}

/* How long the heir waited; 0: nobody was in the way. */
static uint64_t hand_over(void)
{
	struct subject waits, runs;

	begin_ns = 0;
	do_lock("l");
	subject_start(&waits, heir, 1);
	AWAIT(waits.progress);
	sleep_ms(LONG_MS);
	do_lock("s");
	sleep_ms(LONG_MS);	/* it came too late, and has the lock handed over next time */
	subject_start(&runs, rival, 1);
	AWAIT(runs.progress);
	do_lock("u");
	AWAIT(waits.progress > 1 || in_state(waits.tid, "READY"));
	subject_stop(&runs);
	subject_stop(&waits);
	return waited_ns;
}

int main(int argc, char **argv)
{
	uint64_t longest_ns = 0;
	int rounds, tries;

	if (argc != 4)
		die("usage: %s POLICY_ID ROUNDS saakm|fair", argv[0]);
	policy_id = atoi(argv[1]);
	rival_is_fair = !strcmp(argv[3], "fair");
	file = open("/proc/handoff", O_WRONLY);
	if (file < 0)
		die("/proc/handoff");
	pin(0, 0);
	rounds = atoi(argv[2]);
	for (tries = 10 * rounds; rounds && tries; tries--) {
		uint64_t ns = hand_over();

		rounds -= ns > 0;
		longest_ns = ns > longest_ns ? ns : longest_ns;
	}
	if (rounds)
		die("nobody was in the way, %d times too often", rounds);
	printf("%lu\n", longest_ns / 1000000);
	return 0;
}
