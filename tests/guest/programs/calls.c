// SPDX-License-Identifier: GPL-2.0
/*
 * Threads come to a queue of modules/sharer, one after the other, on CPU 0, which lets none run.
 * CPUs 1 and 2 idle, and each thread may use both.
 *	calls SHARER_ID THREADS
 * Says how many of them these two CPUs looked for, each, and how many ran there.
 */
#include "gates.h"
#include <sys/eventfd.h>

#define MAX_THREADS	64
#define CLOSED		0
#define FIRST		1
#define SECOND		2
#define CPUS		3	/* these */
#define ELSEWHERE	3
#define QUIET_MS	20

struct waiter {
	struct subject subject;
	int event;
	volatile int ran_on;
};

static struct waiter waiters[MAX_THREADS];

static void waits(struct subject *self)
{
	struct waiter *waiter = (struct waiter *)self;
	uint64_t value;

	saakm_join(policy_id);
	self->progress = 1;
	if (read(waiter->event, &value, sizeof(value)) != sizeof(value))
		die("eventfd");
	waiter->ran_on = sched_getcpu();
}

static void prepare(struct waiter *waiter)
{
	waiter->ran_on = -1;
	waiter->event = eventfd(0, 0);
	subject_start(&waiter->subject, waits, CLOSED);
	AWAIT(waiter->subject.progress && in_state(waiter->subject.tid, "BLOCKED"));
	allow(waiter->subject.tid, 1ul << CLOSED | 1ul << FIRST | 1ul << SECOND);
}

static void read_refills(int refills[CPUS])
{
	FILE *file = fopen("/sys/module/sharer/parameters/refills", "r");

	if (!file || fscanf(file, "%d,%d,%d", &refills[0], &refills[1], &refills[2]) != CPUS)
		die("refills");
	fclose(file);
}

/* Which CPUs were asked to refill until it ran. */
static void come(struct waiter *waiter, int looked[CPUS])
{
	int before[CPUS], after[CPUS];
	uint64_t one = 1;

	/* What the end of the last one wakes does not count. */
	sleep_ms(QUIET_MS);
	read_refills(before);
	if (write(waiter->event, &one, sizeof(one)) != sizeof(one))
		die("eventfd");
	/* A sleep would leave the kernel's own threads time to wake on these CPUs. */
	while (waiter->ran_on < 0)
		__builtin_ia32_pause();
	read_refills(after);
	for (int cpu = 0; cpu < CPUS; cpu++)
		looked[cpu] += after[cpu] != before[cpu];
	subject_stop(&waiter->subject);
}

int main(int argc, char **argv)
{
	int n = argc == 3 ? atoi(argv[2]) : 0, ran = 0, looked[CPUS] = {};

	if (n < 1 || n > MAX_THREADS)
		die("usage: %s SHARER_ID THREADS", argv[0]);
	policy_id = atoi(argv[1]);
	pin(0, ELSEWHERE);
	for (int i = 0; i < n; i++)
		prepare(&waiters[i]);
	close_gate(CLOSED);
	for (int i = 0; i < n; i++)
		come(&waiters[i], looked);
	open_gate(CLOSED);
	for (int i = 0; i < n; i++)
		ran += waiters[i].ran_on == FIRST || waiters[i].ran_on == SECOND;
	printf("%d %d %d\n", looked[FIRST], looked[SECOND], ran);
	return 0;
}
