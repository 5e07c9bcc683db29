// SPDX-License-Identifier: GPL-2.0
/*
 * bomb POLICY REFUSALS
 *
 * A fork bomb: every process of a policy forks, down to a depth that keeps the
 * kernel's chains of anonymous memory short, for as long as there are pids.
 * Once REFUSALS forks have failed all are killed. Prints forks and refusals.
 */
#include "crowd.h"
#include <sys/prctl.h>

#define DEPTH 4

static struct {
	volatile uint64_t forks, refusals;
} *seen;

static void explode(void)
{
	for (int depth = 0;;) {
		pid_t pid = fork();

		if (pid > 0)
			__atomic_add_fetch(&seen->forks, 1, __ATOMIC_RELAXED);
		else if (pid < 0)
			__atomic_add_fetch(&seen->refusals, 1, __ATOMIC_RELAXED);
		else if (++depth == DEPTH)
			pause();
		sched_yield();
	}
}

static void bury_all(void)
{
	while (waitpid(-1, NULL, 0) > 0)
		;
}

int main(int argc, char **argv)
{
	uint64_t wanted;
	pid_t pid;

	if (argc != 3)
		fail("bomb POLICY REFUSALS");
	wanted = atoll(argv[2]);
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED || prctl(PR_SET_CHILD_SUBREAPER, 1))
		die("preparing");
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		saakm_join(find_policy(argv[1]));
		explode();
	}
	while (seen->refusals < wanted)
		sleep_ms(10);
	/* Who is being born meanwhile gets the signal, or is not born. */
	if (kill(-pid, SIGKILL))
		die("SIGKILL to the group");
	bury_all();
	printf("%lu %lu\n", (unsigned long)seen->forks, (unsigned long)seen->refusals);
	return 0;
}
