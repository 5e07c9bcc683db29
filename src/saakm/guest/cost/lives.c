// SPDX-License-Identifier: GPL-2.0
/* Threads that begin, end, change scheduler or move. */
#define _GNU_SOURCE
#include "cost.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define WARM_UP 20

/* --- fork, exit and wait --- */

static void fork_rounds(long rounds)
{
	while (rounds--) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			die("fork");
	}
}

double run_fork(long rounds)
{
	uint64_t start;

	fork_rounds(WARM_UP);
	start = begin();
	fork_rounds(rounds);
	return (double)(end() - start) / rounds;
}

/* --- exec: a process that replaces itself by the same program again and again --- */

enum { NAME, LEFT, ROUNDS, START, RESULT, WORDS };

static void next_link(long left, long rounds, uint64_t start, int result)
{
	char words[WORDS][24], *argv[WORDS + 1], *environment[] = { NULL };

	snprintf(words[NAME], sizeof(words[NAME]), EXEC_LINK);
	snprintf(words[LEFT], sizeof(words[LEFT]), "%ld", left);
	snprintf(words[ROUNDS], sizeof(words[ROUNDS]), "%ld", rounds);
	snprintf(words[START], sizeof(words[START]), "%lu", start);
	snprintf(words[RESULT], sizeof(words[RESULT]), "%d", result);
	for (int i = 0; i < WORDS; i++)
		argv[i] = words[i];
	argv[WORDS] = NULL;
	execve("/init", argv, environment);
	die("/init");
}

int exec_link(char **argv)
{
	long left = atol(argv[LEFT]), rounds = atol(argv[ROUNDS]);
	uint64_t start = strtoull(argv[START], NULL, 10);
	int result = atoi(argv[RESULT]);

	if (!left) {
		start = end() - start;
		if (write(result, &start, sizeof(start)) != sizeof(start))
			die("write");
		return 0;
	}
	if (left == rounds)
		start = begin();
	next_link(left - 1, rounds, start, result);
	return 1;
}

double run_exec(long rounds)
{
	uint64_t instructions;
	int result[2];
	pid_t child;

	if (pipe(result))
		die("pipe");
	child = fork();
	if (!child)
		next_link(rounds + WARM_UP, rounds, 0, result[1]);
	if (child < 0 || read(result[0], &instructions, sizeof(instructions)) != sizeof(instructions))
		die("exec");
	waitpid(child, NULL, 0);
	return (double)instructions / rounds;
}

/* --- out of the scheduler and in again --- */

static void setattr_rounds(long rounds)
{
	while (rounds--) {
		choose(LEAVE);
		choose(JOIN);
	}
}

double run_setattr(long rounds)
{
	uint64_t start;

	setattr_rounds(WARM_UP);
	start = begin();
	setattr_rounds(rounds);
	return (double)(end() - start) / rounds;
}

/* --- to the other CPU and back --- */

static uint64_t there_and_back(void)
{
	uint64_t start = begin();

	pin(1);
	pin(0);
	return end() - start;
}

double run_migration(long rounds)
{
	uint64_t *took = room_for(rounds);

	for (int i = 0; i < WARM_UP; i++)
		there_and_back();
	for (long i = 0; i < rounds; i++)
		took[i] = there_and_back();
	return first_quartile(took, rounds);
}
