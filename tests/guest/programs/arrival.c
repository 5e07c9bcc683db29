// SPDX-License-Identifier: GPL-2.0
/*
 * arrival
 *
 * Nine threads of the class that we are in sleep on CPUs 1 to 3, three on each, and may
 * use all three. Fair hogs keep these CPUs busy while one after the other is woken; then
 * the hog of CPU 2 ends. In which order do they run? Whoever was preempted, by a thread of
 * the kernel's, is not printed: it may have got the CPU in its turn and written behind others.
 */
#include "subject.h"
#include <sys/eventfd.h>
#include <sys/resource.h>

#define WAITERS	9
#define CPUS	3	/* from CPU 1 on */

struct waiter {
	struct subject subject;
	int event;
};

static struct waiter waiters[WAITERS];
static struct subject hogs[CPUS];
static volatile int order[WAITERS], nr_ran;
static volatile bool preempted[WAITERS];

static long preemptions(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		die("getrusage");
	return usage.ru_nivcsw;
}

static void waits(struct subject *self)
{
	struct waiter *waiter = (struct waiter *)self;
	int i = waiter - waiters;
	uint64_t value;
	long before;

	self->progress = 1;
	before = preemptions();
	if (read(waiter->event, &value, sizeof(value)) != sizeof(value))
		die("eventfd");
	order[__atomic_fetch_add(&nr_ran, 1, __ATOMIC_SEQ_CST)] = i;
	preempted[i] = preemptions() != before;
}

static void fair_hog(struct subject *self)
{
	while (!self->stop)
		self->progress++;
}

static void let_go(struct subject *self)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = 1; cpu <= CPUS; cpu++)
		CPU_SET(cpu, &set);
	if (sched_setaffinity(self->tid, sizeof(set), &set))
		die("sched_setaffinity");
}

int main(void)
{
	struct sched_param fair = {};
	uint64_t one = 1;

	for (int i = 0; i < WAITERS; i++) {
		waiters[i].event = eventfd(0, 0);
		subject_start(&waiters[i].subject, waits, 1 + i % CPUS);
		AWAIT(waiters[i].subject.progress);
	}
	if (sched_setscheduler(0, SCHED_OTHER, &fair))
		die("SCHED_OTHER");
	pin(0, 0);
	sleep_ms(20);	/* they sleep */
	for (int i = 0; i < WAITERS; i++)
		let_go(&waiters[i].subject);
	for (int i = 0; i < CPUS; i++)
		subject_start(&hogs[i], fair_hog, 1 + i);
	for (int i = 0; i < CPUS; i++)
		AWAIT(hogs[i].progress);
	for (int i = 0; i < WAITERS; i++) {
		if (write(waiters[i].event, &one, sizeof(one)) != sizeof(one))
			die("eventfd");
		sleep_ms(1);
	}
	if (nr_ran)
		die("%d ran before", nr_ran);
	subject_stop(&hogs[1]);
	for (int i = 0; i < WAITERS; i++)
		subject_stop(&waiters[i].subject);
	for (int i = 0; i < CPUS; i += 2)
		subject_stop(&hogs[i]);
	for (int i = 0; i < WAITERS; i++)
		if (!preempted[order[i]])
			printf("%d ", order[i]);
	return 0;
}
