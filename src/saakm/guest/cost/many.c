// SPDX-License-Identifier: GPL-2.0
/* Many threads that are runnable at once. */
#define _GNU_SOURCE
#include "cost.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WARM_UP 1000

static void await_change(uint32_t *word, uint32_t old)
{
	while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == old)
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, old, NULL, NULL, 0);
}

static void change(uint32_t *word)
{
	__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/*
 * Threads wait here until all have started: the first ones would take the CPU
 * from the one that starts the others.
 */
static uint32_t gate, not_ready;

static void arrive(void)
{
	if (!__atomic_sub_fetch(&not_ready, 1, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &not_ready, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void await_all(void)
{
	uint32_t left;

	while ((left = __atomic_load_n(&not_ready, __ATOMIC_SEQ_CST)))
		syscall(SYS_futex, &not_ready, FUTEX_WAIT_PRIVATE, left, NULL, NULL, 0);
}

static void start(long threads, void *(*run)(void *))
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384);
	pthread_attr_setguardsize(&small, 0);
	not_ready = threads;
	for (long i = 0; i < threads; i++)
		if (pthread_create(&thread, &small, run, NULL))
			die("pthread_create");
	await_all();
}

/* --- giving way to each other --- */

static volatile uint64_t yields;

/* One CPU: counting need not be atomic against others, only against preemption. */
static void give_way(void)
{
	asm volatile("incq %0" : "+m"(yields));
	sched_yield();
}

static void *yield_for_ever(void *unused)
{
	arrive();
	await_change(&gate, 0);
	for (;;)
		give_way();
	return unused;
}

double run_yield(long rounds)
{
	/* Two threads, and as many more as were asked for; this is one of them. */
	long others = 1 + number("runnable", 0);
	uint64_t began, first;

	start(others, yield_for_ever);
	change(&gate);
	while (yields < (uint64_t)(WARM_UP + 3 * others))
		give_way();
	began = begin();
	first = yields;
	while (yields < first + rounds)
		give_way();
	began = end() - began;
	counted = yields - first;
	return (double)began / counted;
}

/* --- woken up all at once --- */

static uint32_t round_of_crowd;

static void *one_of_crowd(void *unused)
{
	uint32_t last = round_of_crowd;

	for (;;) {
		arrive();
		await_change(&round_of_crowd, last++);
	}
	return unused;
}

static void wake_crowd(long threads)
{
	not_ready = threads;
	change(&round_of_crowd);
	await_all();
}

/* The longest queue that comes of it: a wakeup, an election and a block for each. */
double run_crowd(long wakeups)
{
	long threads = 2 + number("runnable", 0), rounds = wakeups / threads + 2;
	uint64_t began;

	start(threads, one_of_crowd);
	for (long i = 0; i < rounds / 2; i++)
		wake_crowd(threads);
	began = begin();
	for (long i = 0; i < rounds; i++)
		wake_crowd(threads);
	began = end() - began;
	counted = rounds * threads;
	return (double)began / counted;
}

/* --- waiting while others run --- */

static void *wait_for_ever(void *unused)
{
	lower();
	arrive();
	await_change(&gate, 0);
	for (;;)
		asm volatile("pause");
	return unused;
}

/* Runnable threads that are never elected while the caller or its partner can run. */
void start_waiting(long threads)
{
	raise_above_lower();
	start(threads, wait_for_ever);
	change(&gate);
}
