/* SPDX-License-Identifier: GPL-2.0 */
/* What the guest programs of the tests share. */
#ifndef SAAKM_USER_H
#define SAAKM_USER_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "saakm_attr.h"

static inline void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *fmt, ...)
{
	va_list args;
	int error = errno;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, " (errno: %s)\n", strerror(error));
	exit(1);
}

static inline pid_t gettid_(void)
{
	return syscall(SYS_gettid);
}

/* 0 or -errno. */
static inline int saakm_setattr(pid_t tid, int policy, uint32_t id, int nice,
				uint32_t param)
{
	struct saakm_attr attr = {
		.size = sizeof(attr), .sched_policy = policy, .sched_nice = nice,
		.sched_saakm_policy = id, .sched_saakm_param = param,
	};

	return syscall(SYS_sched_setattr, tid, &attr, 0) ? -errno : 0;
}

static inline void saakm_join(uint32_t id)
{
	int ret = saakm_setattr(0, SCHED_SAAKM, id, 0, 0);

	if (ret) {
		errno = -ret;
		die("cannot join policy %u", id);
	}
}

static inline void saakm_leave(void)
{
	int ret = saakm_setattr(0, SCHED_OTHER, 0, 0, 0);

	if (ret) {
		errno = -ret;
		die("cannot leave");
	}
}

static inline void pin(pid_t tid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(tid, sizeof(set), &set))
		die("cannot pin %d to CPU %d", tid, cpu);
}

static inline uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static inline void sleep_ms(unsigned int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000l };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* Until `ns` of this thread's own CPU time have passed. */
static inline void burn_ns(uint64_t ns)
{
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

/* The state in /proc/<tid>/saakm, or "" for a thread of no policy. */
static inline const char *saakm_state(pid_t tid, char state[32])
{
	char path[64], line[128];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/saakm", tid);
	file = fopen(path, "r");
	state[0] = 0;
	if (!file)
		return state;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "state %31s", state) == 1)
			break;
	fclose(file);
	return state;
}

/* The CPU in /proc/<tid>/saakm, or -1 for a thread of no policy. */
static inline int saakm_cpu(pid_t tid)
{
	char path[64], line[128];
	int cpu = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/saakm", tid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "cpu %d", &cpu);
	if (file)
		fclose(file);
	return cpu;
}

#endif /* SAAKM_USER_H */
