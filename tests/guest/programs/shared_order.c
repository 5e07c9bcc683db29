// SPDX-License-Identifier: GPL-2.0
/*
 * Threads queue up on several CPUs, none of which lets them run; then one CPU does.
 *	shared_order [-w MS] [-l MS] [-e COMMAND] [-f] POLICY_ID OPEN_CPU PARAM@CPU[/MASK]...
 * They wake in the order of the arguments, each on its CPU, though it may use all of MASK
 * (hexadecimal). Then -w: wait for so long; -e: run a command, to which
 * $TIDS names them; -f: until all are fair. With
 * OPEN_CPU -1 no CPU opens before the end. Says the thread ids, the CPU that each was queued
 * on, and the CPU that each ran on within the limit -l, or -1.
 */
#include "gates.h"
#include <sys/eventfd.h>

#define MAX_THREADS	64
#define CPUS		4

struct waiter {
	struct subject subject;
	int event, queued_on;
	volatile int ran_on;
	unsigned long mask;
	uint32_t param;
};

static struct waiter waiters[MAX_THREADS];
static int nr_waiters;
static unsigned int wait_ms, limit_ms = 2000;
static const char *command;
static bool become_fair;

static void waits(struct subject *self)
{
	struct waiter *waiter = (struct waiter *)self;
	uint64_t value;
	int ret;

	ret = saakm_setattr(0, SCHED_SAAKM, policy_id, 0, waiter->param);
	if (ret)
		die("sched_setattr: %d", ret);
	self->progress = 1;
	if (read(waiter->event, &value, sizeof(value)) != sizeof(value))
		die("eventfd");
	waiter->ran_on = sched_getcpu();
}

/* Asleep on its CPU, but it may use others. */
static void prepare(struct waiter *waiter, const char *word)
{
	int cpu;

	waiter->mask = (1ul << CPUS) - 1;
	waiter->ran_on = -1;
	waiter->event = eventfd(0, 0);
	if (sscanf(word, "%u@%d/%lx", &waiter->param, &cpu, &waiter->mask) < 2)
		die("'%s'", word);
	subject_start(&waiter->subject, waits, cpu);
	AWAIT(waiter->subject.progress && in_state(waiter->subject.tid, "BLOCKED"));
	allow(waiter->subject.tid, waiter->mask);
}

static void arrive(struct waiter *waiter)
{
	uint64_t one = 1;

	if (write(waiter->event, &one, sizeof(one)) != sizeof(one))
		die("eventfd");
	AWAIT(in_state(waiter->subject.tid, "READY"));
	waiter->queued_on = saakm_cpu(waiter->subject.tid);
}

static bool all(bool (*is)(const struct waiter *waiter))
{
	for (int i = 0; i < nr_waiters; i++)
		if (!is(&waiters[i]))
			return false;
	return true;
}

static bool has_run(const struct waiter *waiter)
{
	return waiter->ran_on >= 0;
}

static bool is_fair(const struct waiter *waiter)
{
	return !is_member(waiter->subject.tid);
}

/* As $TIDS, in the order of the arguments. */
static void name_them(void)
{
	char tids[16 * MAX_THREADS] = "";
	int length = 0;

	for (int i = 0; i < nr_waiters; i++)
		length += sprintf(tids + length, "%d ", waiters[i].subject.tid);
	setenv("TIDS", tids, 1);
}

static void while_they_wait(void)
{
	sleep_ms(wait_ms);
	name_them();
	if (command && system(command))
		die("%s", command);
	if (become_fair)
		AWAIT(all(is_fair));
}

static void say(const int *ran_on)
{
	for (int i = 0; i < nr_waiters; i++)
		printf("%d ", waiters[i].subject.tid);
	printf("\n");
	for (int i = 0; i < nr_waiters; i++)
		printf("%d ", waiters[i].queued_on);
	printf("\n");
	for (int i = 0; i < nr_waiters; i++)
		printf("%d ", ran_on[i]);
	printf("\n");
}

static void run(int open_cpu)
{
	int ran_on[MAX_THREADS];

	/* The command's processes shall not wait for a gate. */
	pin(0, 0);
	be_real_time(GATE_PRIORITY + 10);
	for (int cpu = 0; cpu < CPUS; cpu++)
		close_gate(cpu);
	for (int i = 0; i < nr_waiters; i++)
		arrive(&waiters[i]);
	while_they_wait();
	if (open_cpu >= 0) {
		open_gate(open_cpu);
		(void)WITHIN(limit_ms, all(has_run));
	}
	for (int i = 0; i < nr_waiters; i++)
		ran_on[i] = waiters[i].ran_on;
	for (int cpu = 0; cpu < CPUS; cpu++)
		if (cpu != open_cpu)
			open_gate(cpu);
	for (int i = 0; i < nr_waiters; i++)
		subject_stop(&waiters[i].subject);
	say(ran_on);
}

int main(int argc, char **argv)
{
	int c, open_cpu;

	while ((c = getopt(argc, argv, "+w:l:e:f")) != -1) {
		if (c == 'w')
			wait_ms = atoi(optarg);
		else if (c == 'l')
			limit_ms = atoi(optarg);
		else if (c == 'e')
			command = optarg;
		else if (c == 'f')
			become_fair = true;
		else
			return 2;
	}
	argv += optind;
	if (argc - optind < 3 || argc - optind > 2 + MAX_THREADS)
		die("usage: shared_order [OPTIONS] POLICY_ID OPEN_CPU PARAM@CPU[/MASK]...");
	policy_id = atoi(argv[0]);
	open_cpu = atoi(argv[1]);
	for (argv += 2; *argv; argv++)
		prepare(&waiters[nr_waiters++], *argv);
	run(open_cpu);
	return 0;
}
