// SPDX-License-Identifier: GPL-2.0
/*
 * Messengers and workers. A worker puts itself on its messenger's list, posts the messenger and
 * sleeps; the messenger takes the whole list and wakes up each of it. How long that takes, from
 * the messenger's post until the worker runs, is a wakeup latency.
 */
#define _GNU_SOURCE
#include "schbench.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct messenger {
	pthread_t thread;
	uint32_t posted;		/* a futex: somebody is on the list, or has left */
	uint32_t working;		/* workers that have not left */
	struct worker *waiting;
} __attribute__((aligned(128)));

struct worker {
	pthread_t thread;
	struct messenger *messenger;
	struct worker *next;		/* on the messenger's list */
	uint32_t posted;		/* a futex: the messenger has answered */
	uint64_t posted_ns;		/* and when */
	uint64_t requests;		/* done so far, of the warm-up too */
	struct work *work;
	struct histogram wakeup, request;
} __attribute__((aligned(128)));

static struct messenger *messengers;
static struct worker *workers;
static bool measuring, stopping;

static bool is_set(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

static void set(bool *flag)
{
	__atomic_store_n(flag, true, __ATOMIC_RELAXED);
}

/* Many may post, one waits. A post that nobody waits for yet is not lost. */
static void post(uint32_t *word)
{
	if (!__atomic_exchange_n(word, 1, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void await_post(uint32_t *word)
{
	while (!__atomic_exchange_n(word, 0, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void wake_all(struct messenger *messenger)
{
	struct worker *worker = __atomic_exchange_n(&messenger->waiting, NULL, __ATOMIC_ACQUIRE);

	while (worker) {
		/* Once it is awake it may put itself on the list again. */
		struct worker *next = worker->next;

		worker->posted_ns = now_ns();
		post(&worker->posted);
		worker = next;
	}
}

static void *run_messenger(void *argument)
{
	struct messenger *messenger = argument;

	while (__atomic_load_n(&messenger->working, __ATOMIC_ACQUIRE)) {
		await_post(&messenger->posted);
		wake_all(messenger);
	}
	return NULL;
}

static void ask_to_be_woken(struct worker *worker)
{
	struct messenger *messenger = worker->messenger;
	struct worker *first = __atomic_load_n(&messenger->waiting, __ATOMIC_RELAXED);

	do
		worker->next = first;
	while (!__atomic_compare_exchange_n(&messenger->waiting, &first, worker, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	post(&messenger->posted);
	await_post(&worker->posted);
	if (is_set(&measuring))
		histogram_add(&worker->wakeup, now_ns() - worker->posted_ns);
}

static void do_request(struct worker *worker)
{
	struct timespec pause = {
		.tv_sec = settings.sleep / 1000000,
		.tv_nsec = settings.sleep % 1000000 * 1000,
	};
	uint64_t began = now_ns();

	if (settings.sleep)
		nanosleep(&pause, NULL);
	work_do(worker->work);
	if (is_set(&measuring))
		histogram_add(&worker->request, now_ns() - began);
	__atomic_fetch_add(&worker->requests, 1, __ATOMIC_RELAXED);
}

static void *run_worker(void *argument)
{
	struct worker *worker = argument;

	while (!is_set(&stopping)) {
		ask_to_be_woken(worker);
		do_request(worker);
	}
	__atomic_sub_fetch(&worker->messenger->working, 1, __ATOMIC_RELEASE);
	post(&worker->messenger->posted);
	return NULL;
}

static void *zeroed(size_t size)
{
	/* Most slots of the histograms are never touched, and take no memory then. */
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		die("no memory for the threads");
	return memory;
}

static void start(pthread_t *thread, void *(*run)(void *), void *argument)
{
	if (pthread_create(thread, NULL, run, argument))
		die("a thread cannot be started: fewer messengers or workers may do");
}

static long nr_workers(void)
{
	return settings.messengers * settings.workers;
}

void threads_start(void)
{
	messengers = zeroed(settings.messengers * sizeof(*messengers));
	workers = zeroed(nr_workers() * sizeof(*workers));
	for (long i = 0; i < settings.messengers; i++) {
		messengers[i].working = settings.workers;
		start(&messengers[i].thread, run_messenger, &messengers[i]);
	}
	for (long i = 0; i < nr_workers(); i++) {
		workers[i].messenger = &messengers[i / settings.workers];
		workers[i].work = work_new();
		start(&workers[i].thread, run_worker, &workers[i]);
	}
}

void threads_measure(void)
{
	set(&measuring);
}

uint64_t threads_requests(void)
{
	uint64_t all = 0;

	for (long i = 0; i < nr_workers(); i++)
		all += __atomic_load_n(&workers[i].requests, __ATOMIC_RELAXED);
	return all;
}

void threads_stop(struct histogram *wakeups, struct histogram *requests)
{
	set(&stopping);
	for (long i = 0; i < nr_workers(); i++) {
		pthread_join(workers[i].thread, NULL);
		histogram_merge(wakeups, &workers[i].wakeup);
		histogram_merge(requests, &workers[i].request);
	}
	for (long i = 0; i < settings.messengers; i++)
		pthread_join(messengers[i].thread, NULL);
}
