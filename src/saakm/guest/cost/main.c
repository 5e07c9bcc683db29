// SPDX-License-Identifier: GPL-2.0
/*
 * The first process of the measuring guest: loads modules, runs each operation
 * in a process of its own, prints "RESULT operation instructions count", powers
 * off.
 *
 * Arguments, from the kernel command line: scheduler=NAME (fair, sched_fifo,
 * scx_NAME or a policy), modules=a.ko,b.ko, parameters=a=1,b=2 (of the policy),
 * bystanders=N (policies that bystanders.ko shall register), agent="PROGRAM OPTIONS" (that
 * decides for the policy `user`), options="A B" (of scx_NAME), operations=a,b, scale=PERCENT
 * (of the usual number of rounds), runnable=N (more runnable threads), switches=1 (the checks
 * of /sys/kernel/saakm on), features=A,NO_B (of the fair class), symbols=1 (print those of
 * modules, and where programs have their code).
 */
#define _GNU_SOURCE
#include "cost.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

struct operation {
	const char *name;
	double (*run)(long rounds);
	long rounds;
};

/* Always in this order: what ran before leaves traces of some instructions. */
static const struct operation operations[] = {
	{ "pipe",	run_pipe,	20000 },
	{ "pipe2",	run_pipe2,	10000 },
	{ "futex",	run_futex,	20000 },
	{ "eventfd",	run_eventfd,	20000 },
	{ "yield",	run_yield,	40000 },
	{ "sleep",	run_sleep,	4000 },
	{ "newidle",	run_newidle,	200 },
	{ "tick",	run_tick,	100 },
	{ "slice",	run_slice,	100 },
	{ "fork",	run_fork,	1000 },
	{ "exec",	run_exec,	400 },
	{ "setattr",	run_setattr,	10000 },
	{ "migration",	run_migration,	4000 },
	{ "crowd",	run_crowd,	20000 },
};

uint64_t counted;

static void set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		die(path);
	close(fd);
}

static void print_lines(const char *path, const char *which, const char *title)
{
	FILE *f = fopen(path, "r");
	char line[512];

	if (!f)
		return;	/* The process has ended. */
	while (fgets(line, sizeof(line), f))
		if (strstr(line, which))
			printf("%s %s", title, line);
	fclose(f);
}

/* The host knows those of the kernel itself, and of programs if it is told where these are. */
static void print_symbols(void)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	char path[300];

	if (access("/proc/kallsyms", R_OK))
		die("/proc/kallsyms");
	print_lines("/proc/kallsyms", "[", "SYMBOL");
	if (!processes)
		die("/proc");
	while ((entry = readdir(processes))) {
		snprintf(path, sizeof(path), "/proc/%s/maps", entry->d_name);
		if (atoi(entry->d_name))
			print_lines(path, " r-xp ", "MAPPING");
	}
	closedir(processes);
	fflush(stdout);
}

/* Says which there are if one of @names is none: the host has words for it. */
static void set_features(char *names)
{
	const char *path = "/sys/kernel/debug/sched/features";
	char *name, line[4096] = "";
	FILE *f;

	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	for (name = strtok(names, ","); name; name = strtok(NULL, ",")) {
		int fd = open(path, O_WRONLY);

		if (fd < 0)
			die(path);
		if (write(fd, name, strlen(name)) < 0) {
			f = fopen(path, "r");
			if (f && fgets(line, sizeof(line), f))
				printf("FEATURES %s\n", line);
			die(name);
		}
		close(fd);
	}
}

static int is_wanted(const char *name)
{
	char list[512], *word;

	snprintf(list, sizeof(list), "%s", getenv("operations") ?: "pipe");
	for (word = strtok(list, ","); word; word = strtok(NULL, ","))
		if (!strcmp(word, name))
			return 1;
	return 0;
}

static void measure(const struct operation *operation)
{
	long rounds = operation->rounds * number("scale", 100) / 100;
	int status;
	pid_t pid = fork();

	if (!pid) {
		double result;

		pin(0);
		choose(JOIN);
		counted = rounds > 1 ? rounds : 1;
		result = operation->run(counted);
		check_scheduler();
		printf("RESULT %s %.2f %lu\n", operation->name, result, counted);
		fflush(stdout);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die(operation->name);
	/* Its threads' remains (RCU) belong to nobody else's figures. */
	usleep(300000);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[0], EXEC_LINK))
		return exec_link(argv);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	if (getenv("modules"))
		load_modules(getenv("modules"));
	if (getenv("switches")) {
		set("/sys/kernel/saakm/check_transitions", "1");
		set("/sys/kernel/saakm/log_violations", "1");
	}
	if (getenv("features"))
		set_features(getenv("features"));
	if (number("runnable", 0))
		set("/proc/sys/kernel/threads-max", "100000");
	start_scheduler();
	pin(0);
	/* Boot work (RCU, deferred initialisation) would be measured too. */
	sleep(3);
	arm();
	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		if (is_wanted(operations[i].name))
			measure(&operations[i]);
	if (number("symbols", 0))
		print_symbols();
	sync();
	reboot(RB_POWER_OFF);
	return 0;
}
