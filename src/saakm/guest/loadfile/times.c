// SPDX-License-Identifier: GPL-2.0
/*
 * Two figures: how long a client takes for a pass, and how long it takes until every client has
 * ended one. Clients are not in step: whoever has had its turn goes on, and counts again only when
 * the last one is there.
 */
#include "loadfile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Of one figure there is no standard deviation. */
#define LEAST	2

/* Sums from which mean and standard deviation follow, after Welford, who does not lose digits. */
struct sums {
	unsigned long count;
	double mean, squares;
};

struct end {
	uint64_t ns;
	unsigned int client;
};

static void add(struct sums *sums, double value)
{
	double before = value - sums->mean;

	sums->mean += before / ++sums->count;
	sums->squares += before * (value - sums->mean);
}

static void say(const char *what, const struct sums *sums, const char *counted)
{
	if (sums->count < LEAST)
		die("%s: %lu were measured, and two are needed: a longer --runtime, or a shorter loadfile",
		    counted, sums->count);
	printf("%s: %.4f ms, Stddev %.4f, %lu %s\n", what, sums->mean,
	       sqrt(sums->squares / (sums->count - 1)), sums->count, counted);
}

static int by_time(const void *left, const void *right)
{
	const struct end *a = left, *b = right;

	return (a->ns > b->ns) - (a->ns < b->ns);
}

static struct sums passes(const struct client *clients, unsigned int count, uint64_t from_ns)
{
	struct sums sums = { };

	for (unsigned int i = 0; i < count; i++) {
		uint64_t began = clients[i].began;

		for (uint64_t pass = 0; pass < clients[i].passes; pass++) {
			if (began >= from_ns)
				add(&sums, (clients[i].ends[pass] - began) / 1e6);
			began = clients[i].ends[pass];
		}
	}
	return sums;
}

static struct end *ends_in_order(const struct client *clients, unsigned int count, size_t *all)
{
	struct end *ends = NULL;

	*all = 0;
	for (unsigned int i = 0; i < count; i++) {
		uint64_t passes = __atomic_load_n(&clients[i].passes, __ATOMIC_ACQUIRE);

		ends = realloc(ends, (*all + passes + 1) * sizeof(*ends));
		if (!ends)
			die("no memory for the times");
		for (uint64_t pass = 0; pass < passes; pass++)
			ends[(*all)++] = (struct end){ clients[i].ends[pass], i };
	}
	qsort(ends, *all, sizeof(*ends), by_time);
	return ends;
}

static struct sums rounds(const struct client *clients, unsigned int count, uint64_t from_ns)
{
	size_t all;
	struct end *ends = ends_in_order(clients, count, &all);
	bool *there = calloc(count, sizeof(*there));
	uint64_t began = clients[0].began;
	struct sums sums = { };
	unsigned int missing = count;

	if (!there)
		die("no memory for the times");
	for (unsigned int i = 1; i < count; i++)
		if (clients[i].began < began)
			began = clients[i].began;
	for (size_t i = 0; i < all; i++) {
		if (there[ends[i].client])
			continue;
		there[ends[i].client] = true;
		if (--missing)
			continue;
		if (began >= from_ns)
			add(&sums, (ends[i].ns - began) / 1e6);
		began = ends[i].ns;
		missing = count;
		for (unsigned int client = 0; client < count; client++)
			there[client] = false;
	}
	free(there);
	free(ends);
	return sums;
}

bool times_enough(const struct client *clients, unsigned int count, uint64_t from_ns)
{
	return rounds(clients, count, from_ns).count >= LEAST;
}

void times_report(const struct client *clients, unsigned int count, uint64_t from_ns)
{
	struct sums of_passes = passes(clients, count, from_ns);
	struct sums of_rounds = rounds(clients, count, from_ns);

	say("Loadfile", &of_passes, "passes");
	say("All-clients", &of_rounds, "times that all clients had ended one");
}
