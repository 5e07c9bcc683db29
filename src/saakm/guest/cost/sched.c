// SPDX-License-Identifier: GPL-2.0
/* How a thread gets under the scheduler that is measured. */
#define _GNU_SOURCE
#include "cost.h"
#include "saakm_attr.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCHED_EXT 7

static const char *scheduler(void)
{
	return getenv("scheduler") ?: "fair";
}

static int is(const char *name)
{
	return !strcmp(scheduler(), name);
}

static int is_sched_ext(void)
{
	return !strncmp(scheduler(), "scx_", 4);
}

/* With what the class has to say of a policy, if it has. */
static void die_refused(const char *path)
{
	char why[512] = "";
	int error = errno;
	FILE *f = fopen("/sys/kernel/saakm/last_error", "r");

	if (f && fgets(why, sizeof(why), f))
		why[strcspn(why, "\n")] = 0;
	errno = error;
	die(why[0] ? why : path);
}

/* Of the policy that is measured, behind what stands in @options. */
static void add_parameters(char *options, size_t room)
{
	char *rest = options + strlen(options);

	snprintf(rest, room - strlen(options), " %s", getenv("parameters") ?: "");
	for (; *rest; rest++)
		if (*rest == ',')
			*rest = ' ';
}

void load_modules(char *names)
{
	char measured[256];

	snprintf(measured, sizeof(measured), "%s.ko", scheduler());
	for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
		char path[256], options[2048] = "";
		int fd;

		snprintf(path, sizeof(path), "/%s", name);
		if (!strcmp(name, "bystanders.ko"))
			snprintf(options, sizeof(options), "count=%ld", number("bystanders", 1));
		else if (number("runnable", 0))
			/* One in debt waits for as many times what it owes: that is no stall. */
			snprintf(options, sizeof(options), "timeout_ms=0");
		if (!strcmp(name, measured))
			add_parameters(options, sizeof(options));
		fd = open(path, O_RDONLY);
		if (fd < 0 || syscall(SYS_finit_module, fd, options, 0))
			die_refused(path);
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

static void set_attr(const struct saakm_attr *attr)
{
	if (syscall(SYS_sched_setattr, 0, attr, 0))
		die("sched_setattr");
}

static struct saakm_attr attr_for(int joining)
{
	struct saakm_attr attr = { .size = 48 };

	if (is("fair")) {
		attr.sched_policy = joining ? SCHED_OTHER : SCHED_BATCH;
	} else if (is("sched_fifo")) {
		attr.sched_policy = joining ? SCHED_FIFO : SCHED_OTHER;
		attr.sched_priority = joining;
	} else if (is_sched_ext()) {
		attr.sched_policy = joining ? SCHED_EXT : SCHED_OTHER;
	} else if (joining) {
		attr.size = sizeof(attr);
		attr.sched_policy = SCHED_SAAKM;
		attr.sched_saakm_policy = policy_id(scheduler());
	}
	return attr;
}

void choose(int joining)
{
	/* Made once: finding out what to ask for is no part of any operation. */
	static struct saakm_attr attrs[JOIN + 1];

	if (!attrs[joining].size)
		attrs[joining] = attr_for(joining);
	set_attr(&attrs[joining]);
}

/* Only where a lower thread really never runs: SCHED_FIFO, and policies by nice value. */
void lower(void)
{
	if (is("sched_fifo"))
		set_attr(&(struct saakm_attr){
			.size = 48, .sched_policy = SCHED_FIFO, .sched_priority = 1 });
	else if (setpriority(PRIO_PROCESS, syscall(SYS_gettid), 19))
		die("setpriority");
}

void raise_above_lower(void)
{
	if (is("sched_fifo"))
		set_attr(&(struct saakm_attr){
			.size = 48, .sched_policy = SCHED_FIFO, .sched_priority = 2 });
}

static int sched_ext_is(const char *wanted)
{
	char state[32] = "";
	FILE *f = fopen("/sys/kernel/sched_ext/state", "r");

	if (f) {
		if (!fgets(state, sizeof(state), f))
			state[0] = 0;
		fclose(f);
	}
	return !strcmp(state, wanted);
}

static int agents(void)
{
	int found = 0;
	FILE *f = fopen("/sys/module/user/parameters/agents", "r");

	if (!f || fscanf(f, "%d", &found) != 1)
		die("the policy user has no agents");
	fclose(f);
	return found;
}

/* A program that lies in /, with what stands behind its name. */
static pid_t start(char *line)
{
	char *words[32], path[256];
	int n = 0;
	pid_t pid;

	for (char *word = strtok(line, " "); word && n < 31; word = strtok(NULL, " "))
		words[n++] = word;
	words[n] = NULL;
	snprintf(path, sizeof(path), "/%s", words[0]);
	pid = fork();
	if (!pid) {
		execv(path, words);
		die(path);
	}
	return pid;
}

/* A program that decides. Its instructions count as anybody's: it runs where and when it must. */
static void start_agent(char *line)
{
	pid_t pid;

	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	pid = start(line);
	while (!agents()) {
		usleep(10000);
		errno = 0;
		if (waitpid(pid, NULL, WNOHANG))
			die("the agent did not start");
	}
}

/* The verifier takes up to a minute for a large one. */
void start_scheduler(void)
{
	char line[1024];
	pid_t pid;

	if (getenv("agent"))
		start_agent(getenv("agent"));
	if (!is_sched_ext())
		return;
	/* scx_lavd asks there what the kernel knows. */
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	snprintf(line, sizeof(line), "%s %s", scheduler(), getenv("options") ?: "");
	pid = start(line);
	while (!sched_ext_is("enabled\n")) {
		usleep(10000);
		errno = 0;
		if (waitpid(pid, NULL, WNOHANG))
			die("the scheduler did not start");
	}
}

void check_scheduler(void)
{
	int want = is("fair") ? SCHED_OTHER : is("sched_fifo") ? SCHED_FIFO :
		   is_sched_ext() ? SCHED_EXT : SCHED_SAAKM;

	errno = 0;
	if (sched_getscheduler(0) != want)
		die("the measured thread has lost its scheduler");
	if (getenv("agent") && !agents())
		die("the agent has left the policy");
	if (want == SCHED_EXT && !sched_ext_is("enabled\n"))
		die("sched_ext has ejected the scheduler");
}
