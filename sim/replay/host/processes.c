// SPDX-License-Identifier: GPL-2.0
/* The host's side: what is to be done, and processes that stand at places of the recording. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../engine/engine.h"

_Bool replay_listen(char *line, unsigned int size);
_Bool replay_beget(int *status);
void replay_exit(void);

/* The next line of standard input. Those after it may be for others: nothing is buffered. */
_Bool replay_listen(char *line, unsigned int size)
{
	unsigned int used = 0;
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1) {
		if (c == '\n') {
			line[used] = 0;
			return 1;
		}
		if (used + 1 < size)
			line[used++] = c;
	}
	return 0;
}

/* True: this is the new process. False: it has ended, with @status, 0 if it was told to. */
_Bool replay_beget(int *status)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child) {
		sim_signals_init();	/* a timer is not inherited */
		return 1;
	}
	if (child < 0)
		sim_bad_input(NULL, 0, "no process can be begotten");
	waitpid(child, status, 0);
	return 0;
}

void replay_exit(void)
{
	exit(fflush(NULL) ? 2 : 0);
}
