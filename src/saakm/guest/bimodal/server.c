// SPDX-License-Identifier: GPL-2.0
/* The client makes requests arrive, and gives each to a worker that sleeps until then. */
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
#include <unistd.h>

static struct worker {
	pthread_t thread;
	sem_t given;
	struct request *request;	/* NULL: there are no more */
	atomic_bool idle;
} *workers;

/* Requests that found all workers busy, in order of arrival. */
static struct request **backlog;
static atomic_long nr_queued, nr_taken;

static struct request *all;
static long nr_requests;

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore))
		if (errno != EINTR)
			die("sem_wait");
}

static bool claim(struct worker *worker)
{
	bool idle = true;

	return atomic_compare_exchange_strong(&worker->idle, &idle, false);
}

static struct request *take_queued(void)
{
	long number = atomic_load(&nr_taken);

	while (number < atomic_load(&nr_queued))
		if (atomic_compare_exchange_weak(&nr_taken, &number, number + 1))
			return backlog[number];
	return NULL;
}

static struct request *next_request(struct worker *self)
{
	struct request *request = take_queued();

	if (request)
		return request;
	atomic_store(&self->idle, true);
	/* One may have been queued just before that. */
	if (atomic_load(&nr_taken) < atomic_load(&nr_queued) && claim(self))
		return next_request(self);
	wait_for(&self->given);
	return self->request;
}

static void *work(void *arg)
{
	struct request *request;

	while ((request = next_request(arg))) {
		work_do(request->is_long ? settings.long_us : settings.short_us);
		request->done_ns = now_ns();
	}
	return NULL;
}

static bool give(struct worker *worker, struct request *request)
{
	if (!claim(worker))
		return false;
	worker->request = request;
	sem_post(&worker->given);
	return true;
}

/* The next worker that idles gets it. */
static void request_arrives(struct request *request)
{
	static long last;

	for (long i = 1; i <= settings.workers; i++) {
		if (give(&workers[(last + i) % settings.workers], request)) {
			last += i;
			return;
		}
	}
	backlog[atomic_load(&nr_queued)] = request;
	atomic_fetch_add(&nr_queued, 1);
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
		request_arrives(&all[i]);
	}
	return unused;
}

static pthread_t start(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, arg)) {
		fprintf(stderr, "bimodal: pthread_create: %s\n", strerror(errno));
		exit(1);
	}
	return thread;
}

void own_serve(struct request *requests, long count)
{
	pthread_t sender;

	workers = calloc(settings.workers, sizeof(*workers));
	backlog = calloc(count, sizeof(*backlog));
	if (!workers || !backlog)
		die("no memory for the workers");
	all = requests;
	nr_requests = count;
	for (long i = 0; i < settings.workers; i++) {
		sem_init(&workers[i].given, 0, 0);
		workers[i].thread = start(work, &workers[i]);
	}
	for (long i = 0; i < settings.workers; i++)
		while (!atomic_load(&workers[i].idle))
			usleep(1000);
	sender = start(client, NULL);
	pthread_join(sender, NULL);
	/* Who idles has no more to do: the backlog is looked at before. */
	for (long i = 0; i < settings.workers; i++)
		while (!give(&workers[i], NULL))
			usleep(1000);
	for (long i = 0; i < settings.workers; i++)
		pthread_join(workers[i].thread, NULL);
}
