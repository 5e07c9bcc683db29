// SPDX-License-Identifier: GPL-2.0
/*
 * Figures of which each interval is measured by itself.
 *
 * Other work falls into some intervals and can only add to them: a worker of the
 * kernel's, a load balancing that is due, another turn through the idle loop of a
 * CPU that is woken a moment later. In what share of them depends on what ran
 * before; with more than half of them, a median would jump to their level. The
 * first quartile is what the operation itself takes.
 */
#include "cost.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

double first_quartile(uint64_t *values, long n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[(n - 1) / 4];
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
