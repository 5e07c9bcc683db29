// SPDX-License-Identifier: GPL-2.0
/*
 * fork_held POLICY_ID HOLD MODULE
 *
 * A thread of the policy is in the midst of a fork. A word to the file HOLD makes the policy elect
 * nobody; so the thread, once it could go on, waits on a CPU that idles. Says how many ms it
 * takes to unload MODULE: no command does it, for time leaps while its files are read.
 */
#include "slow_fork.h"

#define LONG_MS	20

int main(int argc, char **argv)
{
	uint64_t begin_ns;
	pid_t pid;

	if (argc != 4)
		die("usage: %s POLICY_ID HOLD MODULE", argv[0]);
	policy_id = atoi(argv[1]);
	pid = fork_while(argv[2], "1");
	AWAIT(in_state(pid, "READY"));
	sleep_ms(LONG_MS);
	if (shared->progress || !in_state(pid, "READY"))
		die("it is not held back");
	begin_ns = now_ns(CLOCK_MONOTONIC);
	if (syscall(SYS_delete_module, argv[3], 0))
		die("%s", argv[3]);
	printf("%lu\n", (now_ns(CLOCK_MONOTONIC) - begin_ns) / 1000000);
	AWAIT(shared->progress);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}
