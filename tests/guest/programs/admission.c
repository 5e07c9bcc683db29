// SPDX-License-Identifier: GPL-2.0
/*
 * admission [COMMAND]
 *
 * Reserves as much CPU bandwidth for SCHED_DEADLINE as the kernel admits and
 * prints it, in thousandths of a CPU. With a command: runs it while the
 * bandwidth is taken; its exit status is ours.
 */
#include "crowd.h"

#define PERIOD_NS 10000000ull
#define THREADS 64
#define MOST 900

/* Threads that sleep: reserved bandwidth need not be used. */
static void *sleeper(void *arg)
{
	*(volatile pid_t *)arg = gettid_();
	for (;;)
		pause();
	return NULL;
}

static bool reserve(pid_t tid, unsigned int permille)
{
	struct saakm_attr attr = {
		.size = sizeof(attr), .sched_policy = 6,
		.sched_runtime = PERIOD_NS / 1000 * permille,
		.sched_deadline = PERIOD_NS, .sched_period = PERIOD_NS,
	};

	if (!syscall(SYS_sched_setattr, tid, &attr, 0))
		return true;
	if (errno != EBUSY)
		die("reserving %u/1000", permille);
	return false;
}

/* As much as this thread can get, found bit by bit. */
static unsigned int reserve_most(pid_t tid)
{
	unsigned int low = 0, high = MOST;

	if (reserve(tid, MOST))
		return MOST;
	while (high - low > 1) {
		unsigned int middle = (low + high) / 2;

		if (reserve(tid, middle))
			low = middle;
		else
			high = middle;
	}
	return low;
}

int main(int argc, char **argv)
{
	static volatile pid_t tids[THREADS];
	unsigned int total = 0, last = MOST;
	pthread_t thread;
	int status;

	limit_seconds(60);
	for (int i = 0; i < THREADS && last == MOST; i++) {
		pthread_create(&thread, NULL, sleeper, (void *)&tids[i]);
		while (!tids[i])
			sleep_us(1000);
		last = reserve_most(tids[i]);
		total += last;
	}
	printf("%u\n", total);
	fflush(stdout);
	if (argc < 2)
		return 0;
	status = system(argv[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
