// SPDX-License-Identifier: GPL-2.0
/* How a thread gets under the scheduler that is measured. */
#define _GNU_SOURCE
#include "cost.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define SCHED_EXT 7
#define SCHED_SAAKM 8

struct sched_attr_v2 {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
	uint32_t saakm_policy, saakm_param;
};

static const char *scheduler(void)
{
	return getenv("scheduler") ?: "eevdf";
}

static int is(const char *name)
{
	return !strcmp(scheduler(), name);
}

void load_modules(char *names)
{
	for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
		char path[256];
		int fd;

		snprintf(path, sizeof(path), "/%s", name);
		fd = open(path, O_RDONLY);
		if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
			die(path);
		close(fd);
	}
}

static uint32_t policy_id(const char *name)
{
	char line[512], found[64];
	FILE *f = fopen("/proc/saakm/policies", "r");
	unsigned int id;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%u %63s", &id, found) == 2 && !strcmp(found, name)) {
			fclose(f);
			return id;
		}
	}
	die(name);
}

void choose(int joining)
{
	/* Looked up once: reading the table is no part of any operation. */
	static uint32_t id;
	struct sched_attr_v2 attr = { .size = 48 };

	if (is("eevdf")) {
		attr.policy = joining ? SCHED_OTHER : SCHED_BATCH;
	} else if (is("sched_fifo")) {
		attr.policy = joining ? SCHED_FIFO : SCHED_OTHER;
		attr.priority = joining;
	} else if (is("scx_fifo")) {
		attr.policy = joining ? SCHED_EXT : SCHED_OTHER;
	} else if (joining) {
		if (!id)
			id = policy_id(scheduler());
		attr.size = sizeof(attr);
		attr.policy = SCHED_SAAKM;
		attr.saakm_policy = id;
	}
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		die("sched_setattr");
}

void start_scheduler(void)
{
	char answer[16] = "";
	int out[2];
	pid_t pid;

	if (!is("scx_fifo"))
		return;
	if (pipe(out))
		die("pipe");
	pid = fork();
	if (!pid) {
		dup2(out[1], STDOUT_FILENO);
		execl("/scx_fifo", "scx_fifo", NULL);
		die("/scx_fifo");
	}
	close(out[1]);
	errno = 0;
	if (read(out[0], answer, sizeof(answer) - 1) <= 0 || strcmp(answer, "ready\n"))
		die("scx_fifo did not start");
	close(out[0]);
}

static void check_sched_ext(void)
{
	char state[32] = "";
	FILE *f = fopen("/sys/kernel/sched_ext/state", "r");

	if (!f || !fgets(state, sizeof(state), f) || strcmp(state, "enabled\n"))
		die("sched_ext has ejected scx_fifo");
	fclose(f);
}

void check_scheduler(void)
{
	int want = is("eevdf") ? SCHED_OTHER : is("sched_fifo") ? SCHED_FIFO :
		   is("scx_fifo") ? SCHED_EXT : SCHED_SAAKM;

	errno = 0;
	if (sched_getscheduler(0) != want)
		die("the measured thread has lost its scheduler");
	if (want == SCHED_EXT)
		check_sched_ext();
}
