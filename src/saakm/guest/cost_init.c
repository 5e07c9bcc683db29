// SPDX-License-Identifier: GPL-2.0
/*
 * The only process of the measuring guest: loads modules, runs a ping-pong
 * between two processes on CPU 0, prints what a round trip costs, powers off.
 *
 * With QEMU's -icount shift=0 a nanosecond of guest time is one executed
 * instruction, so the clock counts instructions.
 *
 * Arguments, from the kernel command line: scheduler=NAME (eevdf, sched_fifo or
 * a policy), modules=a.ko,b.ko, rounds=N, switches=1 (all debugging switches
 * of /sys/kernel/saakm on).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

static void die(const char *what)
{
	printf("ERROR %s: %m\n", what);
	fflush(stdout);
	reboot(RB_POWER_OFF);
	_exit(1);
}

static void load(char *modules)
{
	for (char *name = strtok(modules, ","); name; name = strtok(NULL, ",")) {
		char path[256];
		int fd;

		snprintf(path, sizeof(path), "/%s", name);
		fd = open(path, O_RDONLY);
		if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
			die(path);
		close(fd);
	}
}

static unsigned int policy_id(const char *name)
{
	char line[512], found[64];
	FILE *f = fopen("/proc/saakm/policies", "r");
	unsigned int id;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%u %63s", &id, found) == 2 && !strcmp(found, name))
			return id;
	}
	die(name);
	return 0;
}

static void choose(const char *scheduler)
{
	struct sched_attr_v2 attr = { .size = sizeof(attr) };

	if (!strcmp(scheduler, "eevdf"))
		return;
	if (!strcmp(scheduler, "sched_fifo")) {
		attr.size = 48;
		attr.policy = SCHED_FIFO;
		attr.priority = 1;
	} else {
		attr.policy = SCHED_SAAKM;
		attr.saakm_policy = policy_id(scheduler);
	}
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		die("sched_setattr");
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void bounce(int in, int out, long rounds, int first)
{
	char c = 0;

	for (long i = 0; i < rounds; i++) {
		if (first && write(out, &c, 1) != 1)
			die("write");
		if (read(in, &c, 1) != 1)
			die("read");
		if (!first && write(out, &c, 1) != 1)
			die("write");
	}
}

static double ping_pong(long rounds)
{
	int there[2], back[2];
	uint64_t start;
	pid_t child;

	if (pipe(there) || pipe(back))
		die("pipe");
	child = fork();
	if (!child) {
		bounce(there[0], back[1], 1000 + rounds, 0);
		_exit(0);
	}
	bounce(back[0], there[1], 1000, 1);
	start = now_ns();
	bounce(back[0], there[1], rounds, 1);
	start = now_ns() - start;
	waitpid(child, NULL, 0);
	return (double)start / rounds;
}

static void switch_all(void)
{
	const char *names[] = { "check_transitions", "log_violations" };

	for (int i = 0; i < 2; i++) {
		char path[64];
		int fd;

		snprintf(path, sizeof(path), "/sys/kernel/saakm/%s", names[i]);
		fd = open(path, O_WRONLY);
		if (fd < 0 || write(fd, "1", 1) != 1)
			die(path);
		close(fd);
	}
}

int main(int argc, char **argv, char **envp)
{
	char *modules = getenv("modules"), *scheduler = getenv("scheduler");
	char *rounds = getenv("rounds");
	cpu_set_t cpus;

	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	if (modules)
		load(modules);
	if (getenv("switches"))
		switch_all();
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("sched_setaffinity");
	/* Boot work (RCU, deferred initialisation) would be measured too. */
	sleep(3);
	choose(scheduler ? scheduler : "eevdf");
	printf("RESULT %.1f\n", ping_pong(rounds ? atol(rounds) : 20000));
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	return 0;
}
