/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A histogram of times in ns. Each power of two from 64 on is cut into 64 equal parts, so that the
 * middle of a part differs from what was counted there by less than 1/128. Rows are allocated
 * when they are needed. Both sides include this.
 */
#ifndef _SIM_HISTOGRAM_H
#define _SIM_HISTOGRAM_H

#include "host.h"

#define HISTOGRAM_PARTS		64
#define HISTOGRAM_ROWS		59	/* below 64; and a row for each power of two from 2^6 on */

struct sim_histogram {
	sim_u64	count;
	sim_u64	sum;
	sim_u64	least, most;
	sim_u64	*rows[HISTOGRAM_ROWS];
};

static inline void sim_histogram_add(struct sim_histogram *histogram, sim_u64 ns)
{
	unsigned int row = ns < HISTOGRAM_PARTS ? 0 : 58 - (unsigned int)__builtin_clzll(ns);
	sim_u64 **parts = &histogram->rows[row];

	if (__builtin_expect(!*parts, 0))
		*parts = sim_alloc(HISTOGRAM_PARTS * sizeof(**parts));
	(*parts)[ns >> (row ? row - 1 : 0) & (HISTOGRAM_PARTS - 1)]++;
	if (!histogram->count++ || ns < histogram->least)
		histogram->least = ns;
	if (ns > histogram->most)
		histogram->most = ns;
	histogram->sum += ns;
}

/* The time that @ppm of a million do not exceed, with a relative error below 1 %. No times: 0. */
sim_u64 sim_histogram_quantile(const struct sim_histogram *histogram, unsigned int ppm);

#endif /* _SIM_HISTOGRAM_H */
