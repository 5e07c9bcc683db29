// SPDX-License-Identifier: GPL-2.0
/*
 * notified POLICY_ID ROUNDS: wakes a thread of modules/services, of which the module's kthread is
 * notified, and waits until that has seen it. There is no other event that could help.
 */
#include "sleeper.h"
#include <fcntl.h>

static void sleeps(struct subject *self)
{
	saakm_join(policy_id);
	sleeper_run(self);
}

static int parameter(const char *name)
{
	char path[64], text[16] = "";
	int fd, value;

	snprintf(path, sizeof(path), "/sys/module/services/parameters/%s", name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0 || sscanf(text, "%d", &value) != 1)
		die("%s", path);
	close(fd);
	return value;
}

int main(int argc, char **argv)
{
	struct subject sleeper;
	uint64_t before;
	int posted;

	if (argc != 3)
		die("usage: %s POLICY_ID ROUNDS", argv[0]);
	policy_id = atoi(argv[1]);
	sleeper_event = eventfd(0, 0);
	pin(0, 0);
	for (int left = atoi(argv[2]), cpu = 0; left; left--, cpu = !cpu) {
		if (left == atoi(argv[2]))
			subject_start(&sleeper, sleeps, 1);
		AWAIT(in_state(sleeper.tid, "BLOCKED"));
		AWAIT(parameter("seen") == parameter("posted"));
		posted = parameter("posted");
		before = sleeper.progress;
		/* From the CPU that it sleeps on, and from another one. */
		pin(0, cpu);
		sleeper_wake();
		AWAIT(sleeper.progress > before);
		if (parameter("posted") != posted + 1)
			die("%d wakeups instead of one", parameter("posted") - posted);
	}
	AWAIT(parameter("seen") == parameter("posted"));
	sleeper.stop = 1;
	sleeper_wake();
	subject_stop(&sleeper);
	return 0;
}
