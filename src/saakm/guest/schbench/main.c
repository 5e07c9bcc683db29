// SPDX-License-Identifier: GPL-2.0
/* Options, the seconds of a run, and what it says at the end: one figure a line, `NAME: VALUE UNIT`. */
#define _GNU_SOURCE
#include "schbench.h"
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS	1000000ull

struct settings settings = {
	.messengers = 1,
	.runtime = 30,
	.interval = 1000,
	.sleep = 100,
	.operations = 5,
	.footprint = 256,
	.locks = 1,
};

/* Requests per second, a sample an interval. */
struct rates {
	long count;
	double *values;
};

static const struct parameter parameters[] = {
	{ { "messengers", 1, NULL, 'm' }, &settings.messengers, 1, 10000, "threads that wake up workers" },
	{ { "workers", 1, NULL, 't' }, &settings.workers, 1, 100000,
	  "workers of each messenger; without it, one for each CPU" },
	{ { "runtime", 1, NULL, 'r' }, &settings.runtime, 1, 1000000, "seconds that are measured" },
	{ { "warmup", 1, NULL, 'w' }, &settings.warmup, 0, 1000000, "seconds before that, which are not" },
	{ { "interval", 1, NULL, 'i' }, &settings.interval, 1, 1000000,
	  "milliseconds between two samples of requests per second" },
	{ { "sleep", 1, NULL, 's' }, &settings.sleep, 0, 1000000000, "microseconds that a request sleeps" },
	{ { "operations", 1, NULL, 'n' }, &settings.operations, 0, 1000000000,
	  "matrix multiplications of a request" },
	{ { "footprint", 1, NULL, 'F' }, &settings.footprint, 1, 1000000,
	  "KiB of a worker's matrices" },
	{ { "locks", 1, NULL, 'L' }, &settings.locks, 0, 1, "1: a request works under its CPU's lock" },
};

static const struct command_line line = { "schbench", parameters,
					  sizeof(parameters) / sizeof(parameters[0]) };

void die(const char *what)
{
	fprintf(stderr, "schbench: %s\n", what);
	exit(1);
}

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec then = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL) == EINTR)
		;
}

/* Whoever takes the samples may come late to one: it is over the time that has really passed. */
static void sample(struct rates *rates)
{
	uint64_t began = now_ns(), last = began, done = threads_requests();
	uint64_t end = began + settings.runtime * 1000 * NS_PER_MS;

	for (uint64_t next = began; next < end;) {
		uint64_t now, done_now;

		next += settings.interval * NS_PER_MS;
		sleep_until(next < end ? next : end);
		now = now_ns();
		done_now = threads_requests();
		rates->values[rates->count++] = (done_now - done) * 1e9 / (now - last);
		last = now;
		done = done_now;
	}
}

static int by_size(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* `rates` are sorted. */
static double rate_of(const struct rates *rates, double percent)
{
	long at = 0;

	while ((at + 1) * 100.0 < rates->count * percent)
		at++;
	return rates->values[at];
}

static void say(const char *what, double percent, double value, const char *unit)
{
	if (percent == 100)
		printf("%s-max: %.2f %s\n", what, value, unit);
	else
		printf("%s-%gth: %.2f %s\n", what, percent, value, unit);
}

static void say_latencies(const char *what, const struct histogram *histogram)
{
	static const double percents[] = { 50, 90, 99, 99.9 };

	for (int i = 0; i < 4; i++)
		say(what, percents[i], histogram_percentile(histogram, percents[i]) / 1e3, "us");
	say(what, 100, histogram->most / 1e3, "us");
}

static void report(const struct histogram *wakeups, const struct histogram *requests,
		   struct rates *rates)
{
	static const double percents[] = { 20, 50, 90, 100 };

	printf("Threads: %ld messengers, %ld workers of each\n", settings.messengers,
	       settings.workers);
	printf("Samples: %lu wakeups, %lu requests, %ld rates\n", wakeups->count, requests->count,
	       rates->count);
	say_latencies("Wakeup", wakeups);
	say_latencies("Request", requests);
	qsort(rates->values, rates->count, sizeof(*rates->values), by_size);
	for (int i = 0; i < 4; i++)
		say("RPS", percents[i], rate_of(rates, percents[i]), "requests/s");
}

int main(int argc, char **argv)
{
	static struct histogram wakeups, requests;
	struct rates rates = { };

	options_parse(&line, argc, argv);
	if (!settings.workers)
		settings.workers = sysconf(_SC_NPROCESSORS_ONLN);
	rates.values = calloc(settings.runtime * 1000 / settings.interval + 1, sizeof(double));
	if (!rates.values)
		die("no memory for so many samples: a longer --interval may do");
	work_prepare();
	threads_start();
	sleep_until(now_ns() + settings.warmup * 1000 * NS_PER_MS);
	threads_measure();
	sample(&rates);
	threads_stop(&wakeups, &requests);
	if (!wakeups.count || !requests.count)
		die("no worker has got anything done: a longer --runtime may do");
	report(&wakeups, &requests, &rates);
	return 0;
}
