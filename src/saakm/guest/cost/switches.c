// SPDX-License-Identifier: GPL-2.0
/* Threads that wake each other, or give way to each other. */
#define _GNU_SOURCE
#include "cost.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WARM_UP 1000

/* --- through file descriptors, between two processes --- */

struct channel {
	int in, out;
	size_t size;	/* of a message */
};

static void send_one(struct channel *c)
{
	uint64_t one = 1;

	if (write(c->out, &one, c->size) != (ssize_t)c->size)
		die("write");
}

static void receive_one(struct channel *c)
{
	uint64_t any;

	if (read(c->in, &any, c->size) != (ssize_t)c->size)
		die("read");
}

static void ask(struct channel *c, long rounds)
{
	while (rounds--) {
		send_one(c);
		receive_one(c);
	}
}

static void answer(struct channel *c, long rounds)
{
	while (rounds--) {
		receive_one(c);
		send_one(c);
	}
}

static double ping_pong(struct channel *mine, struct channel *its, int cpu, long rounds)
{
	uint64_t start;
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (!child) {
		pin(cpu);
		answer(its, WARM_UP + rounds);
		_exit(0);
	}
	ask(mine, WARM_UP);
	start = begin();
	ask(mine, rounds);
	start = end() - start;
	waitpid(child, NULL, 0);
	return (double)start / rounds;
}

static double pipes(int cpu, long rounds)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		die("pipe");
	if (number("runnable", 0))
		start_waiting(number("runnable", 0));
	return ping_pong(&(struct channel){ back[0], there[1], 1 },
			 &(struct channel){ there[0], back[1], 1 }, cpu, rounds);
}

double run_pipe(long rounds)
{
	return pipes(0, rounds);
}

double run_pipe2(long rounds)
{
	return pipes(1, rounds);
}

double run_eventfd(long rounds)
{
	int there = eventfd(0, 0), back = eventfd(0, 0);

	if (there < 0 || back < 0)
		die("eventfd");
	return ping_pong(&(struct channel){ back, there, sizeof(uint64_t) },
			 &(struct channel){ there, back, sizeof(uint64_t) }, 0, rounds);
}

/* --- through memory, between two threads --- */

static uint32_t there, back;

static void post(uint32_t *word)
{
	__atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void await(uint32_t *word)
{
	while (!__atomic_exchange_n(word, 0, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void *futex_partner(void *rounds)
{
	for (long i = (long)rounds; i; i--) {
		await(&there);
		post(&back);
	}
	return NULL;
}

static void futex_rounds(long rounds)
{
	while (rounds--) {
		post(&there);
		await(&back);
	}
}

double run_futex(long rounds)
{
	pthread_t partner;
	uint64_t start;

	if (pthread_create(&partner, NULL, futex_partner, (void *)(WARM_UP + rounds)))
		die("pthread_create");
	futex_rounds(WARM_UP);
	start = begin();
	futex_rounds(rounds);
	start = end() - start;
	pthread_join(partner, NULL);
	return (double)start / rounds;
}
