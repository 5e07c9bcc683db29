// SPDX-License-Identifier: GPL-2.0
/*
 * held CPU COMMAND: runs the command while peers/scx_hold keeps a runnable thread on the CPU from
 * running, which runs as soon as it is released.
 */
#include "subject.h"
#include <sys/eventfd.h>
#include <sys/resource.h>

#define SCHED_EXT	7
#define HELD_NICE	19

static int event;

static void is_held(struct subject *self)
{
	struct sched_param param = {};
	uint64_t value;

	/* The libc's own refuses a policy that it does not know. */
	if (syscall(SYS_sched_setscheduler, 0, SCHED_EXT, &param) ||
	    setpriority(PRIO_PROCESS, self->tid, HELD_NICE))
		die("SCHED_EXT");
	self->progress = 1;
	if (read(event, &value, sizeof(value)) != sizeof(value))
		die("eventfd");
	self->progress = 2;
}

int main(int argc, char **argv)
{
	struct subject subject;
	uint64_t one = 1;
	int status;

	if (argc != 3)
		die("usage: %s CPU COMMAND", argv[0]);
	pin(0, 0);
	event = eventfd(0, 0);
	subject_start(&subject, is_held, atoi(argv[1]));
	AWAIT(subject.progress == 1 && kernel_state(subject.tid) == 'S');
	if (write(event, &one, sizeof(one)) != sizeof(one))
		die("eventfd");
	status = system(argv[2]);
	if (subject.progress != 1 || kernel_state(subject.tid) == 'S')
		die("it was not held back");
	if (setpriority(PRIO_PROCESS, subject.tid, 0))
		die("setpriority");
	subject_stop(&subject);
	return status ? 1 : 0;
}
