// SPDX-License-Identifier: GPL-2.0
/*
 * What the simulator prints at its end, by itself, for test_sim_result.py.
 *
 *	print_result times < NUMBERS	a result whose group has waited for so long each
 *	print_result texts TEXT		one with that text as a reason and warning
 *	print_result costs FILE		the costs of two names, in ns
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "result.h"

struct sim_options sim_options = { .cpus = 4, .seed = 18446744073709551615ULL };
_Bool sim_interrupted;

void *sim_alloc(unsigned long size)
{
	return calloc(1, size ? size : 1);
}

void sim_free(void *memory)
{
	free(memory);
}

void sim_out_of_memory(void)
{
	abort();
}

void sim_bad_input(const char *file, unsigned int line, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "%s:%u: ", file, line);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputs("\n", stderr);
	exit(2);
}

static void print_costs(const char *path)
{
	static const char * const names[] = { "switch", "wakeup" };
	sim_u64 ns[2];

	sim_costs_read(path, names, ns, 2);
	printf("%llu %llu\n", ns[0], ns[1]);
}

static void read_times(struct sim_histogram *times)
{
	sim_u64 ns;

	while (scanf("%llu", &ns) == 1)
		sim_histogram_add(times, ns);
}

int main(int argc, char **argv)
{
	static struct sim_histogram times, none;
	struct sim_result_mark marks[] = { { "a", &none }, { "b", &times } };
	struct sim_result_group group = {
		.name = "g", .policy = "rt:5", .threads = 1, .run_ns = 2, .switches = 3,
		.preemptions = 4, .migrations = 5, .iterations = 6, .waits = &times,
		.marks = marks, .nr_marks = 2,
	};
	struct sim_result_policy policies[] = {
		{ "fifo", 1, 7, NULL, NULL, 0 },
		{ "rr", 2, 0, "stall", argc > 2 ? argv[2] : "", 9 },
	};
	struct sim_result result = {
		.end_ns = 10, .events = 11, .switches = 12, .wakeups = 13, .ticks = 14, .forks = 15,
		.migrations = { 16, 17, 18, 19 }, .idle_ns = 20, .cost_ns = 21, .hash = 0xabc,
		.policies = policies, .nr_policies = 2, .groups = &group, .nr_groups = 1,
	};

	if (!strcmp(argv[1], "costs")) {
		print_costs(argv[2]);
		return 0;
	}
	if (!strcmp(argv[1], "times"))
		read_times(&times);
	if (argc > 2) {
		sim_warning(argv[2]);
		sim_warning("another");
		sim_warning(argv[2]);
	}
	sim_result_print(&result);
	return 0;
}
