// SPDX-License-Identifier: GPL-2.0
/*
 * cookie_turns POLICY_ID MS: hogs on the siblings 2 and 3, each with a core scheduling
 * cookie of its own, so that one runs while the other's CPU idles. What each has used
 * of that time, in ms.
 */
#include "subject.h"

#ifndef PR_SCHED_CORE
#define PR_SCHED_CORE		62
#define PR_SCHED_CORE_CREATE	1
#endif

static void alone(struct subject *self)
{
	if (prctl(PR_SCHED_CORE, PR_SCHED_CORE_CREATE, 0, 0, 0))
		die("PR_SCHED_CORE_CREATE");
	hog(self);
}

static uint64_t used_ms(const struct subject *s)
{
	clockid_t clock;

	if (pthread_getcpuclockid(s->thread, &clock))
		die("pthread_getcpuclockid");
	return now_ns(clock) / 1000000;
}

int main(int argc, char **argv)
{
	struct subject hogs[2];
	uint64_t before[2];

	if (argc != 3)
		die("cookie_turns POLICY_ID MS");
	policy_id = atoi(argv[1]);
	pin(0, 0);
	for (int i = 0; i < 2; i++) {
		subject_start(&hogs[i], alone, 2 + i);
		AWAIT(is_member(hogs[i].tid));
	}
	for (int i = 0; i < 2; i++)
		before[i] = used_ms(&hogs[i]);
	sleep_ms(atoi(argv[2]));
	for (int i = 0; i < 2; i++)
		printf("%llu\n", (unsigned long long)(used_ms(&hogs[i]) - before[i]));
	/* Not joined: one might never run again. */
	fflush(stdout);
	_exit(0);
}
