// SPDX-License-Identifier: GPL-2.0
/* The three threads. Each has a queue of frames before it, so that a late one does not stop the next. */
#define _GNU_SOURCE
#include "frames.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct settings *settings;
static struct frame *frames;
static long nr_frames;
static sem_t to_render, to_present;

static uint64_t now_ns(void)
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

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore))
		if (errno != EINTR)
			die("sem_wait");
}

/* About so long where an instruction takes a nanosecond: a round has four. */
static void work(long us)
{
	uint64_t x = 88172645463325252ull;

	for (long rounds = us * 250; rounds > 0; rounds--) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		/* Nobody reads it, but the compiler shall not know that. */
		asm volatile("" : "+r"(x));
	}
}

static void *logic(void *unused)
{
	uint64_t period_ns = settings->period_us * 1000;

	frames[0].due_ns = now_ns() + period_ns;
	for (long i = 0; i < nr_frames; i++) {
		frames[i].due_ns = frames[0].due_ns + i * period_ns;
		sleep_until(frames[i].due_ns);
		work(settings->logic_us);
		sem_post(&to_render);
	}
	return unused;
}

static void *render(void *unused)
{
	for (long i = 0; i < nr_frames; i++) {
		wait_for(&to_render);
		work(settings->render_us);
		sem_post(&to_present);
	}
	return unused;
}

static void *present(void *unused)
{
	for (long i = 0; i < nr_frames; i++) {
		wait_for(&to_present);
		work(settings->present_us);
		frames[i].shown_ns = now_ns();
	}
	return unused;
}

void loop(const struct settings *given, struct frame *into, long count)
{
	void *(*const stages[])(void *) = { present, render, logic };
	pthread_t threads[3];

	settings = given;
	frames = into;
	nr_frames = count;
	sem_init(&to_render, 0, 0);
	sem_init(&to_present, 0, 0);
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, stages[i], NULL))
			die("pthread_create");
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}
