// SPDX-License-Identifier: GPL-2.0
/*
 * pingpong POLICY ROUNDS
 *
 * For every pair of CPUs, and a CPU with itself: two threads pinned to them wake
 * each other in turns through a futex, with no timeout that could save them.
 */
#include "crowd.h"

static uint32_t id, turn;
static int rounds, cpus[2];

static void *player(void *arg)
{
	uint32_t me = (uintptr_t)arg;

	pin(0, cpus[me]);
	saakm_join(id);
	for (int i = 0; i < rounds; i++) {
		uint32_t now;

		while ((now = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) != me)
			futex(&turn, FUTEX_WAIT, now, NULL);
		__atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
		futex(&turn, FUTEX_WAKE, 1, NULL);
	}
	return NULL;
}

static void play(int a, int b)
{
	pthread_t threads[2];
	static char doing[64];

	snprintf(doing, sizeof(doing), "playing between CPUs %d and %d", a, b);
	crowd_doing = doing;
	turn = 0;
	cpus[0] = a;
	cpus[1] = b;
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, player, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		fail("pingpong POLICY ROUNDS");
	limit_seconds(60);
	id = policy_id(argv[1]);
	rounds = atoi(argv[2]);
	for (int a = 0; a < nr_cpus(); a++)
		for (int b = a; b < nr_cpus(); b++)
			play(a, b);
	return 0;
}
