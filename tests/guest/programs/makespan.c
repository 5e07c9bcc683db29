// SPDX-License-Identifier: GPL-2.0
/*
 * How long does it take until threads that wake at the same time have used so much CPU time?
 *	makespan POLICY_ID CPU MASK MS...
 * All have slept on the CPU, and may use those of the mask (hexadecimal). Says which CPUs they
 * ended on, as a hexadecimal mask, and after how many us each had ended.
 */
#include "gates.h"

#define MAX_THREADS	64

struct worker {
	struct subject subject;
	uint64_t length_ns;
	volatile uint64_t end_ns;
	volatile int cpu;
};

static struct worker workers[MAX_THREADS];
static int go[2];

static void works(struct subject *self)
{
	struct worker *worker = (struct worker *)self;
	char byte;

	saakm_join(policy_id);
	self->progress = 1;
	/* All of them are woken when the other end is closed. */
	if (read(go[0], &byte, 1))
		die("pipe");
	burn_ns(worker->length_ns);
	worker->cpu = sched_getcpu();
	worker->end_ns = now_ns(CLOCK_MONOTONIC);
}

static void measure(int n)
{
	uint64_t begin_ns = now_ns(CLOCK_MONOTONIC);
	unsigned long cpus = 0;

	close(go[1]);
	for (int i = 0; i < n; i++) {
		subject_stop(&workers[i].subject);
		cpus |= 1ul << workers[i].cpu;
	}
	printf("%lx\n", cpus);
	for (int i = 0; i < n; i++)
		printf("%llu\n", (unsigned long long)(workers[i].end_ns - begin_ns) / 1000);
}

int main(int argc, char **argv)
{
	int n = argc - 4;

	if (n < 1 || n > MAX_THREADS)
		die("usage: %s POLICY_ID CPU MASK MS...", argv[0]);
	policy_id = atoi(argv[1]);
	if (pipe(go))
		die("pipe");
	for (int i = 0; i < n; i++) {
		workers[i].length_ns = atoi(argv[4 + i]) * 1000000ull;
		subject_start(&workers[i].subject, works, atoi(argv[2]));
		AWAIT(workers[i].subject.progress && in_state(workers[i].subject.tid, "BLOCKED"));
		allow(workers[i].subject.tid, strtoul(argv[3], NULL, 16));
	}
	measure(n);
	return 0;
}
