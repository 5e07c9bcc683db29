// SPDX-License-Identifier: GPL-2.0
/*
 * A request's work: it multiplies matrices while it holds the lock of the CPU that it runs on, as a
 * program with per-CPU data does. Whoever is preempted then makes the next one on that CPU wait.
 */
#define _GNU_SOURCE
#include "schbench.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

struct cpu_lock {
	pthread_mutex_t mutex;
} __attribute__((aligned(128)));

struct work {
	uint64_t *a, *b, *product;
};

static struct cpu_lock *locks;
static long nr_locks, side;

void work_prepare(void)
{
	while ((side + 1) * (side + 1) * 3 * (long)sizeof(uint64_t) <= settings.footprint * 1024)
		side++;
	nr_locks = sysconf(_SC_NPROCESSORS_CONF);
	locks = aligned_alloc(sizeof(*locks), nr_locks * sizeof(*locks));
	if (!locks)
		die("no memory for the locks");
	for (long i = 0; i < nr_locks; i++)
		pthread_mutex_init(&locks[i].mutex, NULL);
}

struct work *work_new(void)
{
	struct work *work = malloc(sizeof(*work));
	uint64_t *matrices = malloc(3 * side * side * sizeof(*matrices));

	if (!work || !matrices)
		die("no memory for a worker's matrices");
	for (long i = 0; i < 3 * side * side; i++)
		matrices[i] = i + 1;
	work->a = matrices;
	work->b = work->a + side * side;
	work->product = work->b + side * side;
	return work;
}

static long this_cpu(void)
{
	int cpu = sched_getcpu();

	return cpu < 0 ? 0 : cpu % nr_locks;
}

/* While one waits for a lock one may come to another CPU, whose lock is the right one then. */
static pthread_mutex_t *lock_this_cpu(void)
{
	for (;;) {
		long cpu = this_cpu();

		pthread_mutex_lock(&locks[cpu].mutex);
		if (this_cpu() == cpu)
			return &locks[cpu].mutex;
		pthread_mutex_unlock(&locks[cpu].mutex);
	}
}

static void multiply(const struct work *work)
{
	for (long row = 0; row < side; row++)
		for (long column = 0; column < side; column++) {
			uint64_t sum = 0;

			for (long i = 0; i < side; i++)
				sum += work->a[row * side + i] * work->b[i * side + column];
			work->product[row * side + column] = sum;
		}
	/* Nobody reads the product, but the compiler shall not know that. */
	asm volatile("" : : "r"(work->product) : "memory");
}

void work_do(struct work *work)
{
	pthread_mutex_t *mutex = settings.locks ? lock_this_cpu() : NULL;

	for (long i = 0; i < settings.operations; i++)
		multiply(work);
	if (mutex)
		pthread_mutex_unlock(mutex);
}
