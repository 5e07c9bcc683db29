// SPDX-License-Identifier: GPL-2.0
/* What each operation needs. */
#define _GNU_SOURCE
#include "cost.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/reboot.h>
#include <unistd.h>

void die(const char *what)
{
	if (errno)
		printf("ERROR %s: %m\n", what);
	else
		printf("ERROR %s\n", what);
	fflush(stdout);
	reboot(RB_POWER_OFF);
	_exit(1);
}

void pin(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("sched_setaffinity");
}

long number(const char *variable, long otherwise)
{
	char *text = getenv(variable);

	return text ? atol(text) : otherwise;
}
