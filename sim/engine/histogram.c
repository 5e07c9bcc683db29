// SPDX-License-Identifier: GPL-2.0
/* Quantiles of histograms. */
#include "histogram.h"

/* The middle of a part; whole numbers below 128 have one each. */
static sim_u64 middle(unsigned int row, unsigned int part)
{
	if (!row)
		return part;
	return ((sim_u64)(HISTOGRAM_PARTS + part) << (row - 1)) + ((1ULL << (row - 1)) >> 1);
}

static sim_u64 clamp(const struct sim_histogram *histogram, sim_u64 ns)
{
	if (ns < histogram->least)
		return histogram->least;
	return ns > histogram->most ? histogram->most : ns;
}

sim_u64 sim_histogram_quantile(const struct sim_histogram *histogram, unsigned int ppm)
{
	unsigned __int128 product = (unsigned __int128)histogram->count * ppm;
	sim_u64 rank = (sim_u64)((product + 999999) / 1000000), seen = 0;
	unsigned int row, part;

	for (row = 0; row < HISTOGRAM_ROWS; row++)
		for (part = 0; histogram->rows[row] && part < HISTOGRAM_PARTS; part++) {
			seen += histogram->rows[row][part];
			if (seen && seen >= rank)
				return clamp(histogram, middle(row, part));
		}
	return 0;
}
