// SPDX-License-Identifier: GPL-2.0
/* starved POLICY_ID: under a policy that elects nobody, a thread that wakes waits. */
#include "subject.h"

static void naps(void)
{
	saakm_join(policy_id);
	sleep_ms(20);
	shared->progress = 1;
	pause();
}

int main(int argc, char **argv)
{
	pid_t pid;

	if (argc != 2)
		die("usage: %s POLICY_ID", argv[0]);
	policy_id = atoi(argv[1]);
	make_shared();
	pid = process_start(naps);
	AWAIT(in_state(pid, "READY"));
	sleep_ms(100);
	if (shared->progress || !in_state(pid, "READY"))
		die("it ran, though nobody elected it");
	printf("waits\n");
	fflush(stdout);
	if (saakm_setattr(pid, SCHED_OTHER, 0, 0, 0))
		die("leave");
	AWAIT(shared->progress);
	kill(pid, SIGKILL);
	process_reap(pid, SIGKILL);
	return 0;
}
