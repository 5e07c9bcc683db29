/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a run prints at its end. The kernel's side fills it in (sim/core/account.c), result.c
 * makes JSON of it. Plain C types only.
 */
#ifndef _SIM_RESULT_H
#define _SIM_RESULT_H

#include "histogram.h"

struct sim_result_policy {
	const char	*name;
	unsigned int	id;
	unsigned int	threads;
	const char	*ejected;	/* the kind; NULL: it was not */
	const char	*reason;
	sim_u64		at_ns;
};

struct sim_result_mark {
	const char			*name;
	const struct sim_histogram	*times;
};

struct sim_result_group {
	const char			*name;
	const char			*policy;
	sim_u64				threads;
	sim_u64				run_ns;
	sim_u64				switches, preemptions, migrations, iterations;
	const struct sim_histogram	*waits;
	const struct sim_result_mark	*marks;
	unsigned int			nr_marks;
};

/* A thread that decides for a set of CPUs */
struct sim_result_agent {
	const char	*cpus;
	unsigned int	starts;		/* how often it has begun */
	sim_u64		rounds, events, decisions;
	sim_u64		run_ns, switches;
};

struct sim_result {
	sim_u64				end_ns;
	sim_u64				events, switches, wakeups, ticks, forks;
	sim_u64				migrations[4];	/* smt, llc, node, far */
	sim_u64				idle_ns, cost_ns;
	sim_u64				hash;
	const struct sim_result_policy	*policies;
	const struct sim_result_group	*groups;
	const struct sim_result_agent	*agents;
	unsigned int			nr_policies, nr_groups, nr_agents;
};

/* To standard output: a line of JSON. */
void sim_result_print(const struct sim_result *result);

/* A sentence for `warnings` in there; a second time it counts for nothing. */
void sim_warning(const char *text);

/* ---- costs.c ---- */

/*
 * Read the table of costs, @path: how many ns each of the @count @names takes. What the table does
 * not name takes none.
 */
void sim_costs_read(const char *path, const char * const *names, sim_u64 *ns, unsigned int count);

#endif /* _SIM_RESULT_H */
