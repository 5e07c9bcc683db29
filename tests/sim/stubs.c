// SPDX-License-Identifier: GPL-2.0
/* What the engine calls of the kernel's side, for tests that have none. */
#include "check.h"

unsigned int left_contexts;

unsigned int sim_core_max_cpus(void)
{
	return 4096;
}

void sim_core_boot(void)
{
}

void sim_core_finish(void)
{
}

void sim_core_check(void)
{
}

void sim_core_fetch(const struct sim_event *event, unsigned int step)
{
	(void)event, (void)step;
}

void sim_core_left_context(int cpu, const void *fn)
{
	left_contexts++;
	sim_context = (struct sim_context){ .cpu = cpu };
	(void)fn;
}

void sim_core_loops(const struct sim_event *event, unsigned int count)
{
	(void)event;
	fprintf(stderr, "loops: %u\n", count);
}

void sim_core_hangs(void)
{
	fputs("hangs\n", stderr);
}

void sim_core_waits(void)
{
	fputs("waits\n", stderr);
}

void sim_core_deadlock(int cpu, void *task, const char *what, sim_u64 ns)
{
	(void)task;
	printf("deadlock of CPU %d: %s, %llu ns\n", cpu, what, ns);
}

void sim_core_stuck(sim_u64 ns, sim_u64 pauses)
{
	printf("stuck on CPU %d: %llu ns, %llu pauses\n", sim_context.cpu, ns, pauses);
}

sim_u64 sim_core_thread_bytes(void)
{
	return 0;
}

void sim_core_out_of_memory(sim_u64 held, _Bool by_host)
{
	printf("no memory: %llu bytes are held, by the host: %d\n", held, by_host);
}
