// SPDX-License-Identifier: GPL-2.0
/*
 * One thread joins and leaves a policy for ever, another asks for its attributes.
 *	getattr_race POLICY_ID CALLS
 */
#include "subject.h"

static void toggler(struct subject *self)
{
	while (!self->stop) {
		saakm_join(policy_id);
		saakm_leave();
		self->progress++;
	}
}

int main(int argc, char **argv)
{
	struct saakm_attr attr;
	struct subject victim;
	long calls, members = 0;

	if (argc != 3)
		die("usage: %s POLICY_ID CALLS", argv[0]);
	policy_id = atoi(argv[1]);
	calls = atol(argv[2]);
	pin(0, 0);
	subject_start(&victim, toggler, 1);
	AWAIT(victim.progress);
	/* Until it has been asked in both. */
	for (long n = 0; n < calls || !members || members == n; n++) {
		if (syscall(SYS_sched_getattr, victim.tid, &attr, sizeof(attr), 0))
			die("sched_getattr");
		members += attr.sched_saakm_policy == policy_id;
	}
	subject_stop(&victim);
	printf("%ld of %ld\n", members, calls);
	return 0;
}
