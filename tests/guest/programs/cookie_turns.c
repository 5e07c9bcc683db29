// SPDX-License-Identifier: GPL-2.0
/*
 * cookie_turns POLICY_ID MS: hogs on the siblings 2 and 3, each with a core scheduling
 * cookie of its own, so that one runs while the other's CPU idles. What each has used
 * of that time, in ms, and the longest part of it in which it used none.
 */
#include "subject.h"

#define LOOK_MS			2

static void alone(struct subject *self)
{
	if (prctl(PR_SCHED_CORE, PR_SCHED_CORE_CREATE, 0, 0, 0))
		die("PR_SCHED_CORE_CREATE");
	hog(self);
}

struct turns {
	uint64_t used_ms, waits_ms, longest_ms;
};

static void look(struct turns *t, uint64_t used_ms)
{
	t->waits_ms = used_ms > t->used_ms ? 0 : t->waits_ms + LOOK_MS;
	if (t->waits_ms > t->longest_ms)
		t->longest_ms = t->waits_ms;
	t->used_ms = used_ms;
}

int main(int argc, char **argv)
{
	struct turns turns[2] = {};
	struct subject hogs[2];
	uint64_t before[2], begin_ns;

	if (argc != 3)
		die("cookie_turns POLICY_ID MS");
	policy_id = atoi(argv[1]);
	pin(0, 0);
	for (int i = 0; i < 2; i++) {
		subject_start(&hogs[i], alone, 2 + i);
		AWAIT(is_member(hogs[i].tid));
	}
	for (int i = 0; i < 2; i++)
		before[i] = turns[i].used_ms = subject_used_ms(&hogs[i]);
	begin_ns = now_ns(CLOCK_MONOTONIC);
	for (int left = atoi(argv[2]); left > 0; left -= LOOK_MS) {
		sleep_ms(LOOK_MS);
		for (int i = 0; i < 2; i++)
			look(&turns[i], subject_used_ms(&hogs[i]));
	}
	printf("%llu\n", (unsigned long long)((now_ns(CLOCK_MONOTONIC) - begin_ns) / 1000000));
	for (int i = 0; i < 2; i++)
		printf("%llu %llu\n", (unsigned long long)(turns[i].used_ms - before[i]),
		       (unsigned long long)turns[i].longest_ms);
	/* Not joined: one might never run again. */
	fflush(stdout);
	_exit(0);
}
