/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A measurer with the structure of schbench (Chris Mason): messengers that wake up workers, which
 * sleep, work and ask their messenger to be woken up again. Written anew; nothing is copied.
 */
#ifndef SCHBENCH_H
#define SCHBENCH_H

#include <stdint.h>

struct settings {
	long messengers;
	long workers;		/* of each messenger */
	long runtime;		/* seconds that are measured */
	long warmup;		/* seconds before, which are not */
	long interval;		/* milliseconds between two samples of requests per second */
	long sleep;		/* microseconds that a request sleeps */
	long operations;	/* matrix multiplications of a request */
	long footprint;		/* KiB of a worker's three matrices together */
	long locks;		/* 1: the work is done under the lock of a CPU */
};

extern struct settings settings;

uint64_t now_ns(void);

/* --- histogram.c: how often each value came, to within 1/256 of it --- */

#define HISTOGRAM_BITS		7	/* steps between a power of two and the next: 1 << bits */
#define HISTOGRAM_SLOTS		((64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS)

struct histogram {
	uint64_t count, least, most;
	uint64_t slots[HISTOGRAM_SLOTS];
};

void histogram_add(struct histogram *histogram, uint64_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);
double histogram_percentile(const struct histogram *histogram, double percent);

/* --- work.c: what a request does --- */

struct work;

void work_prepare(void);
struct work *work_new(void);
void work_do(struct work *work);

/* --- threads.c --- */

void threads_start(void);
void threads_measure(void);
uint64_t threads_requests(void);
void threads_stop(struct histogram *wakeups, struct histogram *requests);

_Noreturn void die(const char *what);

#endif
