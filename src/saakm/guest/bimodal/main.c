// SPDX-License-Identifier: GPL-2.0
/* Options, when requests arrive, and what came of them: one figure a line, `NAME: VALUE UNIT`. */
#define _GNU_SOURCE
#include "bimodal.h"
#include "options.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct settings settings = {
	.workers = 64,
	.requests = 20000,
	.warmup = 1000,
	.short_us = 50,
	.long_us = 5000,
	.long_ppm = 5000,
	.seed = 1,
	.long_keys = 1000,
};

static const struct parameter parameters[] = {
	{ { "workers", 1, NULL, 't' }, &settings.workers, 1, 10000, "threads that serve requests" },
	{ { "requests", 1, NULL, 'n' }, &settings.requests, 1, 10000000, "requests that are measured" },
	{ { "warmup", 1, NULL, 'w' }, &settings.warmup, 0, 10000000,
	  "requests before them, which are not" },
	{ { "short", 1, NULL, 's' }, &settings.short_us, 1, 1000000,
	  "CPU time of a short request, in us; of a memcached, what it takes alone" },
	{ { "long", 1, NULL, 'l' }, &settings.long_us, 1, 10000000, "CPU time of a long one, in us; likewise" },
	{ { "long-ppm", 1, NULL, 'p' }, &settings.long_ppm, 0, 1000000,
	  "long requests in 1,000,000" },
	{ { "rate", 1, NULL, 'r' }, &settings.rate, 0, 10000000,
	  "requests per second, at random; 0: all are there at the beginning" },
	{ { "long-keys", 1, NULL, 'k' }, &settings.long_keys, 1, 100000,
	  "keys that a long request gets of a memcached; a short one gets 1" },
	{ { "seed", 1, NULL, 'S' }, &settings.seed, 1, 2147483647, "other arrivals, and long ones" },
	{ { "memcached", 1, NULL, 'm' }, .text = &settings.socket,
	  .help = "the Unix socket of a memcached that serves them, instead of our own" },
};

static const struct command_line line = { "bimodal", parameters,
					  sizeof(parameters) / sizeof(parameters[0]) };

void die(const char *what)
{
	fprintf(stderr, "bimodal: %s\n", what);
	exit(1);
}

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

void be_first(void)
{
	struct sched_param first = { .sched_priority = 99 };

	if (sched_setscheduler(0, SCHED_FIFO, &first))
		die("the client must be a real-time thread: run it as root");
}

/* Poisson arrivals: nobody waits for an answer before the next request. */
static void arrive(struct request *requests, long count)
{
	struct drand48_data random;
	double due_ns = 0;

	srand48_r(settings.seed, &random);
	for (long i = 0; i < count; i++) {
		double gap, size;

		drand48_r(&random, &gap);
		drand48_r(&random, &size);
		if (settings.rate)
			due_ns -= log(1 - gap) * 1e9 / settings.rate;
		requests[i].due_ns = due_ns;
		requests[i].is_long = size * 1e6 < settings.long_ppm;
	}
}

static int by_size(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double percentile(const double *sorted, long count, double percent)
{
	long at = ceil(count * percent / 100) - 1;

	return sorted[at < 0 ? 0 : at];
}

/* How many times its own time each took, from its arrival to its end. */
static void say(const char *name, double *slowdowns, long count)
{
	static const double percents[] = { 50, 99, 99.9 };

	printf("%s-requests: %ld\n", name, count);
	if (!count)
		return;
	qsort(slowdowns, count, sizeof(*slowdowns), by_size);
	for (int i = 0; i < 3; i++)
		printf("%s-%gth: %.3f times\n", name, percents[i],
		       percentile(slowdowns, count, percents[i]));
	printf("%s-max: %.3f times\n", name, slowdowns[count - 1]);
}

/* All of them, from the first one's arrival to the last one's end. */
static void report_rate(const struct request *requests, long count)
{
	uint64_t end_ns = 0;

	for (long i = 0; i < count; i++)
		if (requests[i].done_ns > end_ns)
			end_ns = requests[i].done_ns;
	printf("Served: %.1f requests/s\n", count * 1e9 / (end_ns - requests[0].due_ns));
}

static void report(const struct request *requests, long count)
{
	double *short_ones = malloc(count * sizeof(double)), *long_ones = malloc(count * sizeof(double));
	double *both = malloc(count * sizeof(double));
	long nr_short = 0, nr_long = 0;

	if (!short_ones || !long_ones || !both)
		die("no memory for the figures");
	for (long i = 0; i < count; i++) {
		const struct request *r = &requests[i];

		both[i] = (r->done_ns - r->due_ns) /
			  (1e3 * (r->is_long ? settings.long_us : settings.short_us));
		*(r->is_long ? &long_ones[nr_long++] : &short_ones[nr_short++]) = both[i];
	}
	say("Short", short_ones, nr_short);
	say("Long", long_ones, nr_long);
	say("All", both, count);
}

int main(int argc, char **argv)
{
	struct request *requests;
	long count;

	options_parse(&line, argc, argv);
	count = settings.warmup + settings.requests;
	requests = calloc(count, sizeof(*requests));
	if (!requests)
		die("no memory for so many requests");
	arrive(requests, count);
	if (settings.socket) {
		memcached_prepare();
		memcached_serve(requests, count);
	} else {
		work_calibrate();
		own_serve(requests, count);
	}
	report(requests + settings.warmup, settings.requests);
	report_rate(requests, count);
	return 0;
}
