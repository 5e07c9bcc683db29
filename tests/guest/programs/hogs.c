// SPDX-License-Identifier: GPL-2.0
/*
 * Hogs until somebody kills us.
 *	hogs POLICY_ID CPU free|pinned PARAM...
 * One for each parameter, started on the CPU. Says their thread ids.
 */
#include "subject.h"

static uint32_t param;

static void hog_with_param(struct subject *self)
{
	int ret = saakm_setattr(0, SCHED_SAAKM, policy_id, 0, param);

	if (ret)
		die("sched_setattr: %d", ret);
	self->progress = 1;
	for (;;)
		;
}

int main(int argc, char **argv)
{
	static struct subject hogs[64];
	cpu_set_t all;

	if (argc < 5)
		die("usage: %s POLICY_ID CPU free|pinned PARAM...", argv[0]);
	policy_id = atoi(argv[1]);
	memset(&all, 0xff, sizeof(all));
	for (int i = 0; i < argc - 4 && i < 64; i++) {
		param = atoi(argv[4 + i]);
		subject_start(&hogs[i], hog_with_param, atoi(argv[2]));
		AWAIT(is_member(hogs[i].tid));
		if (!strcmp(argv[3], "free") && sched_setaffinity(hogs[i].tid, sizeof(all), &all))
			die("sched_setaffinity");
		printf("%d ", hogs[i].tid);
	}
	printf("\n");
	fflush(stdout);
	pause();
	return 0;
}
