// SPDX-License-Identifier: GPL-2.0
/*
 * Hogs that all sit on CPU 0 are let go: how long until each CPU has as many?
 *	spread POLICY_ID HOGS
 */
#include "subject.h"

#define MAX_HOGS 64

static struct subject hogs[MAX_HOGS];

static bool even(int n, int cpus)
{
	int count[64] = {};

	for (int i = 0; i < n; i++)
		count[saakm_cpu(hogs[i].tid) & 63]++;
	for (int cpu = 0; cpu < cpus; cpu++)
		if (count[cpu] != n / cpus)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	int n, cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t begin;
	cpu_set_t all;

	if (argc != 3)
		die("usage: %s POLICY_ID HOGS", argv[0]);
	policy_id = atoi(argv[1]);
	n = atoi(argv[2]);
	CPU_ZERO(&all);
	for (int cpu = 0; cpu < cpus; cpu++)
		CPU_SET(cpu, &all);
	for (int i = 0; i < n; i++)
		subject_start(&hogs[i], hog, 0);
	for (int i = 0; i < n; i++)
		AWAIT(hogs[i].progress);
	begin = now_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < n; i++)
		if (sched_setaffinity(hogs[i].tid, sizeof(all), &all))
			die("sched_setaffinity");
	AWAIT(even(n, cpus));
	printf("%llu\n", (unsigned long long)(now_ns(CLOCK_MONOTONIC) - begin) / 1000000);
	for (int i = 0; i < n; i++)
		hogs[i].stop = 1;
	for (int i = 0; i < n; i++)
		subject_stop(&hogs[i]);
	return 0;
}
