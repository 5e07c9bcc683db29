// SPDX-License-Identifier: GPL-2.0
/*
 * cookie_waits POLICY_ID MS runs|sleeps|may-leave: a thread of the policy with a core scheduling
 * cookie on CPU 2, which runs or sleeps until there is a fair hog without one on its sibling, 3,
 * for whose sake CPU 2 idles. What the thread uses of that time, in ms. With may-leave it runs,
 * and may use other CPUs by then.
 */
#include "subject.h"

static bool sleeps, may_leave;
static cpu_set_t any_cpu;
static int doorbell[2];

static void alone(struct subject *self)
{
	char letter;

	if (prctl(PR_SCHED_CORE, PR_SCHED_CORE_CREATE, 0, 0, 0))
		die("PR_SCHED_CORE_CREATE");
	saakm_join(policy_id);
	if (may_leave && sched_setaffinity(0, sizeof(any_cpu), &any_cpu))
		die("sched_setaffinity");
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
		die("cookie_waits POLICY_ID MS runs|sleeps|may-leave");
	policy_id = atoi(argv[1]);
	sleeps = !strcmp(argv[3], "sleeps");
	may_leave = !strcmp(argv[3], "may-leave");
	if (sched_getaffinity(0, sizeof(any_cpu), &any_cpu) || pipe(doorbell))
		die("sched_getaffinity, pipe");
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
