// SPDX-License-Identifier: GPL-2.0
/* Hogs that start on the CPU which their policy's *_prepare names. */
#include "subject.h"
#include <fcntl.h>

static void joins_later(struct subject *self)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	if (sched_setaffinity(0, sizeof(all), &all))
		die("sched_setaffinity");
	saakm_join(policy_id);
	sleep_ms(1);	/* wakes where the policy says */
	while (!self->stop)
		self->progress++;
}

/*
 * While the first keeps CPU 1 to itself, the second must come to run elsewhere. If a thread of
 * the kernel has taken that CPU in between, it is the second that keeps it: until we take it.
 */
static void pair(void)
{
	struct subject first, second;

	/* Again and again CPU 3 gets idle, and looks for work. */
	pin(0, 3);
	subject_start(&first, hog, 1);
	AWAIT(first.progress);
	subject_start(&second, joins_later, -1);
	tell("kept", first.tid);
	tell("stolen", second.tid);
	AWAIT(second.progress);
	for (int tries = 0; tries < 100 && saakm_cpu(second.tid) == 1; tries++) {
		pin(0, 1);
		pin(0, 3);
		sleep_ms(1);
	}
	subject_stop(&second);
	subject_stop(&first);
}

static void unplug(void)
{
	static const char *const online = "/sys/devices/system/cpu/cpu2/online";
	struct subject s;
	cpu_set_t set;
	uint64_t seen;
	int fd = open(online, O_WRONLY);

	if (fd < 0)
		die("%s", online);
	subject_start(&s, hog, 2);
	tell("evicted", s.tid);
	AWAIT(s.progress);
	CPU_ZERO(&set);
	CPU_SET(2, &set);
	CPU_SET(3, &set);
	if (sched_setaffinity(s.tid, sizeof(set), &set))
		die("sched_setaffinity");
	if (pwrite(fd, "0", 1, 0) != 1)
		die("offline");
	seen = s.progress;
	AWAIT(s.progress != seen);
	if (pwrite(fd, "1", 1, 0) != 1)
		die("online");
	subject_stop(&s);
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{ "pair", pair },
		{ "unplug", unplug },
		{ NULL, NULL },
	};

	return run_scenario(argc, argv, scenarios);
}
