// SPDX-License-Identifier: GPL-2.0
/*
 * locks MODE: a thread waits for a lock that this one has, gets it, and sleeps with it.
 * mutex, pi: of the C library, without and with priority inheritance; free: nobody else wants it;
 * passed: who is woken from a futex wakes the next one before it sleeps; unheard: or nobody.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex;
static atomic_int words[2], tids[2];
static const char *mode;

static long futex(atomic_int *word, int operation, int value)
{
	return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void wait_on(int i)
{
	while (!words[i])
		if (futex(&words[i], FUTEX_WAIT, 0) && errno != EAGAIN)
			err(1, "FUTEX_WAIT");
}

static void *with_mutex(void *arg)
{
	(void)arg;
	tids[0] = gettid();
	pthread_mutex_lock(&mutex);
	usleep(1000);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *with_futex(void *arg)
{
	int i = *(int *)arg;

	tids[i] = gettid();
	wait_on(i);
	if (i == 0 && !strcmp(mode, "passed")) {
		words[1] = 1;
		if (futex(&words[1], FUTEX_WAKE, 1) != 1)
			errx(1, "the other one did not wait");
	} else if (i == 0) {
		futex(&words[1], FUTEX_WAKE, 1);
	} else {
		return NULL;
	}
	usleep(1000);
	return NULL;
}

/* Until the thread sleeps in the kernel. */
static void wait_until_asleep(int i)
{
	char path[64], state = 0;
	FILE *file;

	while (state != 'S') {
		usleep(1000);
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tids[i]);
		file = tids[i] ? fopen(path, "r") : NULL;
		if (!file)
			continue;
		if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = 0;
		fclose(file);
	}
}

static void contend(void *(*run)(void *))
{
	static int first;
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, &first))
		errx(1, "no thread");
	wait_until_asleep(0);
	if (run == with_mutex) {
		pthread_mutex_unlock(&mutex);
	} else {
		words[0] = 1;
		futex(&words[0], FUTEX_WAKE, 1);
	}
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	pthread_mutexattr_t attr;
	static int second = 1;
	pthread_t other;

	mode = argc > 1 ? argv[1] : "mutex";
	pthread_mutexattr_init(&attr);
	if (!strcmp(mode, "pi") && pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT))
		errx(1, "no priority inheritance");
	pthread_mutex_init(&mutex, &attr);
	if (!strcmp(mode, "free")) {
		with_mutex(NULL);
		return 0;
	}
	if (!strcmp(mode, "mutex") || !strcmp(mode, "pi")) {
		pthread_mutex_lock(&mutex);
		contend(with_mutex);
		return 0;
	}
	if (!strcmp(mode, "passed")) {
		if (pthread_create(&other, NULL, with_futex, &second))
			errx(1, "no thread");
		wait_until_asleep(1);
	}
	contend(with_futex);
	return 0;
}
