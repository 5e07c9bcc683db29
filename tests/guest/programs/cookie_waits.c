// SPDX-License-Identifier: GPL-2.0
/*
 * cookie_waits POLICY_ID MS runs|sleeps: a thread of the policy with a core scheduling cookie on
 * CPU 2, which runs or sleeps until there is a fair hog without one on its sibling, 3, for whose
 * sake CPU 2 idles. What the thread uses of that time, in ms.
 */
#include "subject.h"

static bool sleeps;
static int doorbell[2];

static void alone(struct subject *self)
{
	char letter;

	if (prctl(PR_SCHED_CORE, PR_SCHED_CORE_CREATE, 0, 0, 0))
		die("PR_SCHED_CORE_CREATE");
	saakm_join(policy_id);
	self->progress = 1;
	if (sleeps && read(doorbell[0], &letter, 1) != 1)
		die("read");
	for (;;)
		;
}

static void fair_hog(struct subject *self)
{
	self->progress = 1;
	for (;;)
		;
}

int main(int argc, char **argv)
{
	struct subject waits, holds;
	uint64_t before_ms;

	if (argc != 4)
		die("cookie_waits POLICY_ID MS runs|sleeps");
	policy_id = atoi(argv[1]);
	sleeps = !strcmp(argv[3], "sleeps");
	if (pipe(doorbell))
		die("pipe");
	pin(0, 0);
	subject_start(&waits, alone, 2);
	AWAIT(waits.progress);
	/* Until it sleeps, if it does. */
	sleep_ms(50);
	subject_start(&holds, fair_hog, 3);
	AWAIT(holds.progress);
	before_ms = subject_used_ms(&waits);
	if (write(doorbell[1], "", 1) != 1)
		die("write");
	sleep_ms(atoi(argv[2]));
	printf("%llu\n", (unsigned long long)(subject_used_ms(&waits) - before_ms));
	/* Not joined: it may never run again. */
	fflush(stdout);
	_exit(0);
}
