// SPDX-License-Identifier: GPL-2.0
/* Options: sim [NAME=VALUE ...] PROGRAM. A wrong one is said in a sentence, with exit status 2. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

struct sim_options sim_options = {
	.cpus		= 4,
	.smt		= 1,
	.seed		= 1,
	.end_ns		= 1000000000,
	.ipi_ns		= 1000,
	.window_ns	= 200000,
	.transitions	= 1,
	.progress_fd	= -1,
};

enum kind {
	COUNT,			/* unsigned int */
	LONG_NUMBER,		/* sim_u64 */
	FLAG,
	DESCRIPTOR,
	PATH,
};

static const struct option {
	const char	*name;
	enum kind	kind;
	void		*place;
	sim_u64		min, max;
} options[] = {
	{ "cpus",	 COUNT,	      &sim_options.cpus,	1, 65536 },
	{ "smt",	 COUNT,	      &sim_options.smt,		1, 65536 },
	{ "llc",	 COUNT,	      &sim_options.llc,		1, 65536 },
	{ "node",	 COUNT,	      &sim_options.node,	1, 65536 },
	{ "seed",	 LONG_NUMBER, &sim_options.seed,	0, ~0ULL },
	{ "for",	 LONG_NUMBER, &sim_options.end_ns,	1, 1ULL << 62 },
	{ "costs",	 PATH,	      &sim_options.costs,	0, 0 },
	{ "ipi",	 LONG_NUMBER, &sim_options.ipi_ns,	0, 1000000 },
	{ "interleave",	 COUNT,	      &sim_options.interleave,	0, 1U << 31 },
	{ "window",	 LONG_NUMBER, &sim_options.window_ns,	0, 1000000000 },
	{ "fail",	 COUNT,	      &sim_options.fail,	0, 1U << 31 },
	{ "trace",	 PATH,	      &sim_options.trace,	0, 0 },
	{ "progress",	 DESCRIPTOR,  &sim_options.progress_fd,	0, 1023 },
	{ "check",	 FLAG,	      &sim_options.check,	0, 1 },
	{ "transitions", FLAG,	      &sim_options.transitions,	0, 1 },
};

#define NR_OPTIONS	(sizeof(options) / sizeof(options[0]))

static void parse_number(const struct option *option, const char *value)
{
	const char *name = option->name;
	sim_u64 number;
	char *end;

	errno = 0;
	number = strtoull(value, &end, 10);
	if (!isdigit((unsigned char)*value) || *end)
		sim_bad_input(NULL, 0, "option %s=%s: a whole number is expected", name, value);
	if (errno || number < option->min || number > option->max)
		sim_bad_input(NULL, 0, "option %s=%s: between %llu and %llu is possible", name,
			      value, option->min, option->max);
	if (option->kind == COUNT)
		*(unsigned int *)option->place = number;
	else if (option->kind == LONG_NUMBER)
		*(sim_u64 *)option->place = number;
	else if (option->kind == FLAG)
		*(_Bool *)option->place = number;
	else
		*(int *)option->place = number;
}

static void add(struct sim_setting **list, unsigned int *n, const char *name, const char *value)
{
	*list = realloc(*list, (*n + 1) * sizeof(**list));
	if (!*list)
		sim_out_of_memory();
	(*list)[(*n)++] = (struct sim_setting){ name, value, 0 };
}

/* set=PATH:VALUE. The PATH has no colon. */
static void parse_set(char *value)
{
	char *colon = strchr(value, ':');

	if (!colon || colon == value)
		sim_bad_input(NULL, 0, "option set=%s: FILE:VALUE is expected, as in "
			      "set=on_violation:warn", value);
	*colon = 0;
	add(&sim_options.sets, &sim_options.nr_sets, value, colon + 1);
}

/* at=NS:VERB:WHOM. */
static void parse_at(char *value)
{
	char *colon = strchr(value, ':');

	if (!colon || colon == value)
		sim_bad_input(NULL, 0, "option at=%s: NS:offline:CPU, NS:online:CPU or NS:eject:POLICY "
			      "is expected", value);
	*colon = 0;
	add(&sim_options.ats, &sim_options.nr_ats, value, colon + 1);
}

static void unknown(const char *name)
{
	char known[512] = "";
	unsigned int i;

	for (i = 0; i < NR_OPTIONS; i++) {
		strcat(known, options[i].name);
		strcat(known, "=, ");
	}
	sim_bad_input(NULL, 0, "there is no option %s=; there are %sset=, at=, read= and "
		      "POLICY.PARAMETER=", name, known);
}

static void parse_option(char *name, char *value)
{
	unsigned int i;

	if (strchr(name, '.')) {
		add(&sim_options.params, &sim_options.nr_params, name, value);
		return;
	}
	if (!strcmp(name, "set")) {
		parse_set(value);
		return;
	}
	if (!strcmp(name, "at")) {
		parse_at(value);
		return;
	}
	if (!strcmp(name, "read")) {
		add(&sim_options.reads, &sim_options.nr_reads, value, NULL);
		return;
	}
	for (i = 0; i < NR_OPTIONS; i++) {
		if (strcmp(name, options[i].name))
			continue;
		if (options[i].kind == PATH)
			*(const char **)options[i].place = value;
		else
			parse_number(&options[i], value);
		return;
	}
	unknown(name);
}

/* Fills in what was not said, and what is said must fit together. */
static void check_topology(void)
{
	struct sim_options *o = &sim_options;

	o->node = o->node ? o->node : o->cpus;
	o->llc = o->llc ? o->llc : o->node;
	if (o->llc % o->smt)
		sim_bad_input(NULL, 0,
			      "llc=%u is no multiple of smt=%u: a core would have two caches",
			      o->llc, o->smt);
	if (o->node % o->llc)
		sim_bad_input(NULL, 0, "node=%u is no multiple of llc=%u: a cache in two nodes",
			      o->node, o->llc);
	if (o->cpus % o->node)
		sim_bad_input(NULL, 0, "cpus=%u is no multiple of node=%u", o->cpus, o->node);
	if (o->cpus > sim_core_max_cpus())
		sim_bad_input(NULL, 0, "cpus=%u: this simulator was built for at most %u", o->cpus,
			      sim_core_max_cpus());
}

static void usage(void)
{
	puts("sim [OPTION=VALUE ...] PROGRAM\n"
	     "Runs the threads that PROGRAM describes (-: standard input) on a simulated machine.\n"
	     "  cpus=N smt=N llc=N node=N  CPUs; CPUs to a core, a last-level cache, a node\n"
	     "  seed=N           all that is random comes from it (1)\n"
	     "  for=NS           at most so much simulated time (1000000000)\n"
	     "  costs=FILE       what operations cost: lines NAME INSTRUCTIONS; free: nothing\n"
	     "  ipi=NS           how long an interrupt to another CPU is on its way (1000)\n"
	     "  interleave=N     1 in N operations on locks lets others run first\n"
	     "  window=NS        for as long as this (200000)\n"
	     "  fail=N           1 in N allocations of memory fails\n"
	     "  trace=FILE       write events there\n"
	     "  progress=FD      write SIMULATED_NS EVENTS there, for each per cent\n"
	     "  check=1          check invariants after each event\n"
	     "  transitions=0    do not check the class's own\n"
	     "  POLICY.NAME=V    parameter NAME of module POLICY\n"
	     "  set=FILE:V       write V to /sys/kernel/saakm/FILE, or to a /proc or debugfs path\n"
	     "  at=NS:WHAT       do that then: offline:CPU, online:CPU, eject:POLICY\n"
	     "  read=FILE        print that at the end, on standard error");
	exit(0);
}

void sim_options_parse(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		char *equals = strchr(argv[i], '=');

		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			usage();
		/* A path with a = in it is a program all the same. */
		if (equals && equals != argv[i] && !memchr(argv[i], '/', equals - argv[i])) {
			*equals = 0;
			parse_option(argv[i], equals + 1);
		} else if (sim_options.program) {
			sim_bad_input(NULL, 0, "one program is expected, not both %s and %s",
				      sim_options.program, argv[i]);
		} else {
			sim_options.program = argv[i];
		}
	}
	if (!sim_options.program)
		sim_bad_input(NULL, 0,
			      "no program is given: sim [OPTION=VALUE ...] PROGRAM, or --help");
	if (sim_options.costs && !strcmp(sim_options.costs, "free"))
		sim_options.costs = NULL;
	check_topology();
}
