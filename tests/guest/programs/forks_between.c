// SPDX-License-Identifier: GPL-2.0
/*
 * forks_between FORKS POLICY_ID OTHER_ID
 *
 * A thread forks while another one moves it from policy to policy and back. Says how many of
 * its children were born in neither.
 */
#include "subject.h"

static uint32_t other_id;
static unsigned long forks, strays;
static char stack[64 * 1024] __attribute__((aligned(16)));

/* In its parent's memory, which waits for it. */
static int says_where(void *born_in)
{
	*(volatile int *)born_in = syscall(SYS_sched_getscheduler, 0);
	syscall(SYS_exit, 0);
	return 0;
}

static void forker(struct subject *self)
{
	volatile int born_in;
	pid_t pid;

	saakm_join(policy_id);
	for (self->progress = 1; self->progress <= forks; self->progress++) {
		pid = clone(says_where, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD,
			    (void *)&born_in);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			die("clone");
		strays += born_in != SCHED_SAAKM;
	}
	self->stop = 1;
}

int main(int argc, char **argv)
{
	struct subject subject;

	if (argc != 4)
		die("usage: %s FORKS POLICY_ID OTHER_ID", argv[0]);
	forks = atol(argv[1]);
	policy_id = atoi(argv[2]);
	other_id = atoi(argv[3]);
	pin(0, 0);
	subject_start(&subject, forker, 1);
	AWAIT(subject.progress);
	for (unsigned long moves = 0; !subject.stop; moves++)
		if (saakm_setattr(subject.tid, SCHED_SAAKM, moves % 2 ? policy_id : other_id, 0, 0) &&
		    !subject.stop)
			die("sched_setattr");
	subject_stop(&subject);
	printf("%lu\n", strays);
	return 0;
}
