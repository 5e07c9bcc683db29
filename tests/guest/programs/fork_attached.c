// SPDX-License-Identifier: GPL-2.0
/*
 * fork_attached POLICY_ID FILE
 *
 * A thread of the policy that is in the midst of a fork is moved to the cgroup whose cgroup.procs
 * FILE is. Says what /proc/PID/saakm names as its policy, and as its child's.
 */
#include "slow_fork.h"

static void print_policy(pid_t pid)
{
	char line[64];

	snprintf(line, sizeof(line), "awk '/^name/ { print $2 }' /proc/%d/saakm", pid);
	if (system(line))
		die("%s", line);
}

int main(int argc, char **argv)
{
	pid_t pid;

	if (argc != 3)
		die("usage: %s POLICY_ID FILE", argv[0]);
	policy_id = atoi(argv[1]);
	pid = fork_while(argv[2], NULL);
	AWAIT(shared->progress);
	print_policy(pid);
	print_policy(shared->progress);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}
