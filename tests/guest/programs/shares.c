// SPDX-License-Identifier: GPL-2.0
/*
 * How do threads share one CPU? Says the CPU time of each in ns.
 *	shares CPU MILLISECONDS POLICY_ID:NICE[:s]...
 * With :s a thread sleeps most of the time; the others always want to run.
 * MILLISECONDS are CPU time of all threads together.
 */
#include "subject.h"

#define MAX_THREADS	16

struct member {
	struct subject subject;
	uint32_t policy;
	int nice;
	bool sleeps;
	clockid_t clock;
	uint64_t start_ns;
};

static struct member members[MAX_THREADS];
static volatile int go;

static void takes_part(struct subject *self)
{
	struct member *member = (struct member *)self;
	int ret;

	while (!go)
		sleep_ms(1);
	ret = saakm_setattr(0, SCHED_SAAKM, member->policy, member->nice, 0);
	if (ret)
		die("sched_setattr: %d", ret);
	while (!self->stop) {
		if (member->sleeps) {
			burn_ns(2000000);
			sleep_ms(10);
		}
		self->progress++;
	}
}

static uint64_t total_ns(int n)
{
	uint64_t total = 0;

	for (int i = 0; i < n; i++)
		total += now_ns(members[i].clock) - members[i].start_ns;
	return total;
}

static void measure(int n, int cpu, uint64_t ns)
{
	uint64_t used_ns[MAX_THREADS], end = now_ns(CLOCK_MONOTONIC) + 4 * PATIENCE_NS;

	for (int i = 0; i < n; i++) {
		subject_start(&members[i].subject, takes_part, cpu);
		pthread_getcpuclockid(members[i].subject.thread, &members[i].clock);
	}
	go = 1;
	for (int i = 0; i < n; i++)
		AWAIT(is_member(members[i].subject.tid));
	for (int i = 0; i < n; i++)
		members[i].start_ns = now_ns(members[i].clock);
	while (total_ns(n) < ns) {
		if (now_ns(CLOCK_MONOTONIC) > end)
			die("they do not get on: %llu ns", (unsigned long long)total_ns(n));
		sleep_ms(5);
	}
	for (int i = 0; i < n; i++)
		used_ns[i] = now_ns(members[i].clock) - members[i].start_ns;
	for (int i = 0; i < n; i++)
		printf("%llu\n", (unsigned long long)used_ns[i]);
	for (int i = 0; i < n; i++)
		members[i].subject.stop = 1;
	for (int i = 0; i < n; i++)
		subject_stop(&members[i].subject);
}

int main(int argc, char **argv)
{
	int cpu, n = argc - 3;

	if (argc < 4 || n > MAX_THREADS)
		die("usage: %s CPU MILLISECONDS POLICY_ID:NICE[:s]...", argv[0]);
	cpu = atoi(argv[1]);
	for (int i = 0; i < n; i++) {
		if (sscanf(argv[3 + i], "%u:%d", &members[i].policy, &members[i].nice) != 2)
			die("'%s'", argv[3 + i]);
		members[i].sleeps = strstr(argv[3 + i], ":s");
	}
	pin(0, cpu == 3 ? 2 : 3);
	measure(n, cpu, atoll(argv[2]) * 1000000);
	return 0;
}
