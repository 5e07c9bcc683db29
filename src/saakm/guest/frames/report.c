// SPDX-License-Identifier: GPL-2.0
/* How long frames took from when they were due until they were shown, and by how much they were late. */
#include "frames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int by_size(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* The least value that so many per cent of all do not exceed. */
static double percentile(const double *sorted, long count, double percent)
{
	long at = ceil(count * percent / 100) - 1;

	return sorted[at < 0 ? 0 : at];
}

void report(const struct frame *frames, long count, uint64_t period_ns)
{
	double *took_ms = malloc(count * sizeof(*took_ms)), period_ms = period_ns / 1e6;
	long nr_late = 0;

	if (!took_ms)
		die("no memory for so many frames");
	for (long i = 0; i < count; i++) {
		took_ms[i] = (frames[i].shown_ns - frames[i].due_ns) / 1e6;
		nr_late += took_ms[i] > period_ms;
	}
	qsort(took_ms, count, sizeof(*took_ms), by_size);
	printf("Frames: %ld, of which %ld late\n", count, nr_late);
	printf("Late: %.2f %%\n", nr_late * 100.0 / count);
	/* Those that were in time are late by nothing. */
	printf("Late-99th: %.3f ms\n", fmax(percentile(took_ms, count, 99) - period_ms, 0));
	printf("Late-max: %.3f ms\n", fmax(took_ms[count - 1] - period_ms, 0));
	printf("Frame-50th: %.3f ms\n", percentile(took_ms, count, 50));
	printf("Frame-99th: %.3f ms\n", percentile(took_ms, count, 99));
	free(took_ms);
}
