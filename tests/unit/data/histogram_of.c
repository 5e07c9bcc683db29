// SPDX-License-Identifier: GPL-2.0
/* Reads whole numbers, and prints their percentiles as schbench's histograms have them. */
#include "schbench.h"

#include <stdio.h>

static struct histogram half, other, all;

int main(int argc, char **argv)
{
	uint64_t value, count = 0;
	double percent;

	while (scanf("%lu", &value) == 1)
		histogram_add(count++ % 2 ? &half : &other, value);
	histogram_merge(&all, &half);
	histogram_merge(&all, &other);
	for (int i = 1; i < argc; i++)
		if (sscanf(argv[i], "%lf", &percent) == 1)
			printf("%.1f\n", histogram_percentile(&all, percent));
	return 0;
}
