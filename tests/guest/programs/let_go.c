// SPDX-License-Identifier: GPL-2.0
/*
 * Hogs start on CPU 0 and may then use all. The others go idle again and again
 * until none of the hogs waits.
 *	let_go HOGS POLICY_ID
 */
#include "subject.h"

#define MAX_HOGS 8

static struct subject hogs[MAX_HOGS];

static void napper(struct subject *self)
{
	while (!self->stop)
		sleep_ms(1);
}

/* One stays where all were. */
static bool spread_out(int n)
{
	int left = 0;

	for (int i = 0; i < n; i++)
		left += saakm_cpu(hogs[i].tid) == 0;
	return left <= 1;
}

int main(int argc, char **argv)
{
	struct subject nappers[3];
	cpu_set_t all;
	int n;

	if (argc != 3)
		die("usage: %s HOGS POLICY_ID", argv[0]);
	n = atoi(argv[1]);
	if (n < 1 || n > MAX_HOGS)
		die("1 to %d hogs", MAX_HOGS);
	policy_id = atoi(argv[2]);
	memset(&all, 0xff, sizeof(all));
	for (int i = 0; i < 3; i++)
		subject_start(&nappers[i], napper, i + 1);
	for (int i = 0; i < n; i++) {
		subject_start(&hogs[i], hog, 0);
		AWAIT(is_member(hogs[i].tid));
		tell("hog", hogs[i].tid);
	}
	for (int i = 0; i < n; i++)
		if (sched_setaffinity(hogs[i].tid, sizeof(all), &all))
			die("sched_setaffinity");
	AWAIT(spread_out(n));
	for (int i = 0; i < n; i++)
		hogs[i].stop = 1;
	for (int i = 0; i < 3; i++)
		nappers[i].stop = 1;
	for (int i = 0; i < n; i++)
		subject_stop(&hogs[i]);
	for (int i = 0; i < 3; i++)
		subject_stop(&nappers[i]);
	return 0;
}
