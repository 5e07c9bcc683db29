// SPDX-License-Identifier: GPL-2.0
/*
 * forks_between FORKS POLICY_ID OTHER_ID
 *
 * A thread forks while another one moves it from policy to policy and back, each with a
 * parameter of its own. Says how many of its children were born in neither, and how many
 * with the parameter of the other.
 */
#include "subject.h"

#define MOVES	1000	/* at least, however rarely the other one runs */

static uint32_t other_id;
static unsigned long forks, strays, mixed;
static volatile unsigned long moves;
static char stack[64 * 1024] __attribute__((aligned(16)));

/* Parameters are the policies' ids: so a child says of which it has its own. */
static int join(pid_t tid, uint32_t id)
{
	return saakm_setattr(tid, SCHED_SAAKM, id, 0, id);
}

/* In its parent's memory, which waits for it. */
static int says_where(void *attr)
{
	syscall(SYS_sched_getattr, 0, attr, sizeof(struct saakm_attr), 0);
	syscall(SYS_exit, 0);
	return 0;
}

static void forker(struct subject *self)
{
	struct saakm_attr attr;
	pid_t pid;

	if (join(0, policy_id))
		die("sched_setattr");
	for (self->progress = 1; self->progress <= forks || moves < MOVES; self->progress++) {
		attr = (struct saakm_attr) {};	/* of no policy, if it cannot be had */
		pid = clone(says_where, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD,
			    &attr);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			die("clone");
		if (attr.sched_policy != SCHED_SAAKM)
			strays++;
		else if (attr.sched_saakm_param != attr.sched_saakm_policy)
			mixed++;
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
	for (; !subject.stop; moves++)
		if (join(subject.tid, moves % 2 ? policy_id : other_id) && !subject.stop)
			die("sched_setattr");
	subject_stop(&subject);
	printf("%lu %lu\n", strays, mixed);
	return 0;
}
