// SPDX-License-Identifier: GPL-2.0
/*
 * Threads of the lowest weight ask for a policy, beside hogs, while somebody loads,
 * ejects and unloads it: they are preempted wherever they are in the call.
 *	late_joiners SECONDS
 * The id that they ask for is the newest of /proc/saakm/policies.
 */
#include "subject.h"
#include <stdatomic.h>

#define CALLERS 6

static atomic_long calls, refused;

static void caller(struct subject *self)
{
	saakm_setattr(0, 5 /* SCHED_IDLE */, 0, 0, 0);
	while (!self->stop) {
		int ret = saakm_setattr(0, SCHED_SAAKM, policy_id, 0, 0);

		calls++;
		if (!ret)
			saakm_setattr(0, 5 /* SCHED_IDLE */, 0, 0, 0);
		else if (ret == -ESRCH || ret == -EOWNERDEAD)
			refused++;
		else
			die("sched_setattr: %d", ret);
	}
}

static void spinner(struct subject *self)
{
	while (!self->stop)
		;
}

static uint32_t newest(void)
{
	FILE *file = fopen("/proc/saakm/policies", "r");
	unsigned int id, last = 0;
	char line[512];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%u", &id) == 1 && id > last)
			last = id;
	if (file)
		fclose(file);
	return last;
}

int main(int argc, char **argv)
{
	static struct subject callers[CALLERS], hogs[2];
	uint64_t end;

	if (argc != 2)
		die("usage: %s SECONDS", argv[0]);
	end = now_ns(CLOCK_MONOTONIC) + atol(argv[1]) * 1000000000ull;
	for (int i = 0; i < CALLERS; i++)
		subject_start(&callers[i], caller, i % 2);
	for (int i = 0; i < 2; i++)
		subject_start(&hogs[i], spinner, i);
	while (now_ns(CLOCK_MONOTONIC) < end) {
		uint32_t id = newest();

		policy_id = id ? id : policy_id;
		sleep_ms(1);
	}
	for (int i = 0; i < 2; i++)
		subject_stop(&hogs[i]);
	for (int i = 0; i < CALLERS; i++)
		subject_stop(&callers[i]);
	printf("%ld calls, %ld refused\n", atomic_load(&calls), atomic_load(&refused));
	return 0;
}
