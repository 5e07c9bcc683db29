// SPDX-License-Identifier: GPL-2.0
/*
 * made DIRECTORY COMMAND
 *
 * Prints the name of each file that comes to be in the directory while the
 * command runs, also of those that are gone again. Its exit status is ours.
 */
#include "subject.h"
#include <sys/inotify.h>
#include <sys/wait.h>

int main(int argc, char **argv)
{
	char buffer[4096] __attribute__((aligned(8)));
	int file = inotify_init1(IN_NONBLOCK), status;
	ssize_t got;

	if (argc != 3)
		die("made DIRECTORY COMMAND");
	if (inotify_add_watch(file, argv[1], IN_CREATE) < 0)
		die("watching %s: %m", argv[1]);
	status = system(argv[2]);
	while ((got = read(file, buffer, sizeof(buffer))) > 0) {
		struct inotify_event *event = (void *)buffer;

		for (; (char *)event < buffer + got; event = (void *)(event + 1) + event->len)
			puts(event->name);
	}
	return WEXITSTATUS(status);
}
