// SPDX-License-Identifier: GPL-2.0
/*
 * The simulator in an agent's program, whose main() is not ours. Of its words those before -- are
 * the simulator's, and the agent is to see the others alone. Standard output is the result's: what
 * the agent prints there comes with the other messages.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"

static char **words;
static int nr_words;
static bool begun, over;

/* By exit(), of which the agent's own are no end of a simulation. 2: whoever refuses says why. */
static void ends(int status, void *unused)
{
	(void)unused;
	if (over || status == 2 || (begun && !sim_events))
		return;
	fprintf(stderr, "%sthe agent's program has ended by itself, with status %d\n",
		begun ? "" : "before it began to schedule, ", status);
	_exit(2);
}

static void part_outputs(void)
{
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return;
	sim_result_fd = fd;
}

static void split(int argc, char **argv, char **environment)
{
	int i, next = 1;

	(void)environment;
	words = malloc((argc + 1) * sizeof(*words));
	if (!words)
		sim_out_of_memory();
	for (i = 0; i < argc && strcmp(argv[i], "--"); i++)
		words[nr_words++] = argv[i];
	/* Who reads the rest stops at the first NULL: the count that he is given is the old one. */
	for (i++; i < argc; i++)
		argv[next++] = argv[i];
	while (next < argc)
		argv[next++] = NULL;
	part_outputs();
	on_exit(ends, NULL);
}

/* Before any other code sees the words: Rust's runtime keeps them before its main() begins. */
__attribute__((section(".preinit_array"), used))
static void (*const split_first)(int argc, char **argv, char **environment) = split;

int sim_begin(const struct sim_agents *agents)
{
	int status;

	sim_agents = agents;
	begun = true;
	status = sim_main(nr_words, words);
	over = true;
	return status;
}

/*
 * What a program may ask libc for that would make runs differ: the seeds of its tables, and the
 * time. Nothing of the engine asks for either.
 */

ssize_t getrandom(void *to, size_t size, unsigned int flags)
{
	(void)flags;
	memset(to, 0x5a, size);
	return size;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	(void)clock;
	time->tv_sec = sim_now / 1000000000;
	time->tv_nsec = sim_now % 1000000000;
	return 0;
}
