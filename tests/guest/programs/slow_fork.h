/* SPDX-License-Identifier: GPL-2.0 */
/* A thread of a policy that waits in the midst of a fork, for the lock of its memory. */
#ifndef SLOW_FORK_H
#define SLOW_FORK_H

#include "subject.h"
#include <fcntl.h>

#define AREA	(128ul << 20)

static void *area;

/* Locks the memory, and is not done with it soon. */
static void filler(struct subject *self)
{
	shared->step = 1;
	if (mlock(area, AREA))
		die("mlock");
	self->progress = 1;
}

/* On CPU 1. The child lives as long; shared->progress is its PID. */
static void slow_forker(void)
{
	struct subject fills;
	pid_t pid;

	pin(0, 1);
	area = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		die("mmap");
	subject_start(&fills, filler, 2);
	saakm_join(policy_id);
	AWAIT(shared->step);
	pid = fork();
	if (pid < 0)
		die("fork");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pid)
		shared->progress = pid;
	for (;;)
		pause();
}

/*
 * Writes the word, or the thread's PID, to a file while it is there. A command would first wait
 * for files of the host's, and meanwhile the fork goes on.
 */
static pid_t fork_while(const char *file, const char *word)
{
	int fd = open(file, O_WRONLY);
	char digits[16];
	pid_t pid;

	if (fd < 0)
		die("%s", file);
	make_shared();
	pin(0, 0);
	pid = process_start(slow_forker);
	AWAIT(kernel_state(pid) == 'D');
	snprintf(digits, sizeof(digits), "%d", pid);
	word = word ?: digits;
	if (write(fd, word, strlen(word)) < 0)
		die("'%s' to %s", word, file);
	if (kernel_state(pid) != 'D')
		die("'%s' to %s came too late", word, file);
	close(fd);
	return pid;
}

#endif /* SLOW_FORK_H */
