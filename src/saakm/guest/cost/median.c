// SPDX-License-Identifier: GPL-2.0
/*
 * Figures of which each interval is measured by itself.
 *
 * Now and then other work falls into an interval (a worker of the kernel's, a
 * load balancing that is due), as long as what is measured: a mean would depend
 * on how often, a median does not.
 */
#include "cost.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

double median(uint64_t *values, long n)
{
	qsort(values, n, sizeof(*values), compare);
	return (values[(n - 1) / 2] + values[n / 2]) / 2.0;
}

uint64_t *room_for(long values)
{
	uint64_t *room = malloc(values * sizeof(*room));

	if (!room)
		die("malloc");
	/* No page faults later on. */
	memset(room, 1, values * sizeof(*room));
	return room;
}
