// SPDX-License-Identifier: GPL-2.0
/*
 * going_idle ROUNDS: CPU 1 has two threads. When the last of them to run has just gone
 * to sleep, and the CPU is about to idle, the other one is woken from CPU 0. Nothing
 * else wakes the CPU: a wakeup that is lost there is lost for ever.
 */
#include "crowd.h"

static volatile uint32_t words[2];	/* what a thread waits for becomes its round */
static volatile uint32_t done[2];
static uint32_t rounds;

static void *sleeper(void *arg)
{
	uintptr_t me = (uintptr_t)arg;
	uint32_t round;

	pin(0, 1);
	for (round = 1; round <= rounds; round++) {
		while (words[me] != round)
			futex(&words[me], FUTEX_WAIT, round - 1, NULL);
		done[me] = round;
	}
	return NULL;
}

static void wake(int which, uint32_t round)
{
	words[which] = round;
	futex(&words[which], FUTEX_WAKE, 1, NULL);
	while (done[which] != round)
		spin(1);
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	uint32_t round;

	if (argc != 2)
		fail("going_idle ROUNDS");
	limit_seconds(60);
	rounds = atoi(argv[1]);
	pin(0, 0);
	crowd_doing = "waking threads of a CPU that is about to idle";
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, sleeper, (void *)i);
	for (round = 1; round <= rounds; round++) {
		wake(0, round);
		/* From somewhere before to somewhere after it idles. */
		spin(round % 50 * 20);
		wake(1, round);
		sleep_us(1000);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
