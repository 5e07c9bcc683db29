// SPDX-License-Identifier: GPL-2.0
/* renicers POLICY_ID: threads that sleep and run while others change their nice values. */
#include "subject.h"
#include <sys/resource.h>

#define THREADS	12
#define ROUNDS	400

static void restless(struct subject *self)
{
	saakm_join(policy_id);
	while (!self->stop) {
		burn_ns(300000);
		if (++self->progress % 3 == 0)
			sleep_ms(1);
		else
			sched_yield();
	}
}

int main(int argc, char **argv)
{
	static struct subject subjects[THREADS];
	unsigned int seed = 1;

	if (argc != 2)
		die("usage: %s POLICY_ID", argv[0]);
	policy_id = atoi(argv[1]);
	for (int i = 0; i < THREADS; i++)
		subject_start(&subjects[i], restless, i % 2);
	for (int i = 0; i < ROUNDS; i++) {
		int nice = rand_r(&seed) % 40 - 20;

		if (setpriority(PRIO_PROCESS, subjects[rand_r(&seed) % THREADS].tid, nice))
			die("setpriority");
		if (i % 4 == 0)
			sleep_ms(1);
	}
	/* Strict order may starve some: equal again, all must get on. */
	for (int i = 0; i < THREADS; i++)
		if (setpriority(PRIO_PROCESS, subjects[i].tid, 0))
			die("setpriority");
	for (int i = 0; i < THREADS; i++)
		AWAIT(subjects[i].progress);
	for (int i = 0; i < THREADS; i++)
		subject_stop(&subjects[i]);
	return 0;
}
