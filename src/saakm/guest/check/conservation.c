// SPDX-License-Identifier: GPL-2.0
/* No CPU idles beside work: the module oracle looks at every tick. */
#include "check.h"

#define PARAMETERS "/sys/module/oracle/parameters/"
#define TICKS_US 8000	/* two */

static long parameter(const char *name)
{
	char path[128];
	FILE *file;
	long value;

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%ld", &value) != 1)
		die("%s", path);
	fclose(file);
	return value;
}

/* Together they want more than all CPUs now, less then; now here, then there. */
static void round_of(struct member *m)
{
	pid_t child;

	(void)m;
	spin(100000 + rnd(1500000));
	sleep_us(rnd(15000));
	if (rnd(4))
		return;
	child = fork();
	if (!child) {
		spin(rnd(1000000));
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

void check_conservation(void)
{
	char options[80];
	long longest_us, limit_us, looks, waiting, ms = scaled(500);

	snprintf(options, sizeof(options), "policy=%s", policy_name());
	insert("oracle", options);
	crowd_new(2 * nr_cpus() + 1, policy_id(policy_name()), true);
	crowd->round = round_of;
	crowd_start();
	sleep_ms(ms);
	longest_us = parameter("longest_us");
	/* In this order: it goes on looking, and none that saw one wait shall be missing below. */
	waiting = parameter("samples_waiting");
	looks = parameter("samples");
	/*
	 * A thread that is queued elsewhere while this CPU finds nothing and goes idle
	 * waits until it balances; without a tick, until another CPU's has it do so.
	 */
	limit_us = TICKS_US + 2 * 1000 * parameter("interval_ms");
	tried("%u threads that run, sleep and fork on %d CPUs for %ld ms; of %ld looks %ld saw a "
	      "thread wait; a CPU idled beside it for %ld us at most", crowd->nr, nr_cpus(), ms,
	      looks, waiting, longest_us);
	refuse_ejected();
	if (longest_us > limit_us)
		fail("a CPU idled for %.1f ms while thread %ld waited that may run there; "
		     "allowed are %ld ms, two ticks and twice its balance_interval_ms", longest_us / 1e3,
		     parameter("longest_pid"), limit_us / 1000);
	if (!waiting)
		fail("no thread ever waited: this says nothing");
	crowd_end();
	remove_module("oracle");
}
