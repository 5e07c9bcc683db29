// SPDX-License-Identifier: GPL-2.0
/* Workers take the requests in order of arrival; the client makes them arrive. */
#define _GNU_SOURCE
#include "bimodal.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct request *all;
static long nr_requests;
static atomic_long next_request;
static sem_t arrived, ready;

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore))
		if (errno != EINTR)
			die("sem_wait");
}

static void *worker(void *unused)
{
	sem_post(&ready);
	for (;;) {
		struct request *request;
		long number;

		wait_for(&arrived);
		number = atomic_fetch_add(&next_request, 1);
		if (number >= nr_requests)
			return unused;
		request = &all[number];
		work_do(request->is_long ? settings.long_us : settings.short_us);
		request->done_ns = now_ns();
	}
}

static void sleep_until(uint64_t ns)
{
	struct timespec then = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL) == EINTR)
		;
}

static void *client(void *unused)
{
	uint64_t begin_ns;

	be_first();
	begin_ns = now_ns() + 1000000;
	for (long i = 0; i < nr_requests; i++) {
		all[i].due_ns += begin_ns;
		if (now_ns() < all[i].due_ns)
			sleep_until(all[i].due_ns);
		sem_post(&arrived);
	}
	return unused;
}

static pthread_t start(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL)) {
		fprintf(stderr, "bimodal: pthread_create: %s\n", strerror(errno));
		exit(1);
	}
	return thread;
}

void own_serve(struct request *requests, long count)
{
	pthread_t *workers = calloc(settings.workers, sizeof(*workers)), sender;

	if (!workers || sem_init(&arrived, 0, 0) || sem_init(&ready, 0, 0))
		die("no memory for the workers");
	all = requests;
	nr_requests = count;
	for (long i = 0; i < settings.workers; i++)
		workers[i] = start(worker);
	for (long i = 0; i < settings.workers; i++)
		wait_for(&ready);
	sender = start(client);
	pthread_join(sender, NULL);
	for (long i = 0; i < settings.workers; i++)
		sem_post(&arrived);
	for (long i = 0; i < settings.workers; i++)
		pthread_join(workers[i], NULL);
}
