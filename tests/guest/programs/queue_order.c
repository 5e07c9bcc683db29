// SPDX-License-Identifier: GPL-2.0
/*
 * In which order do threads run that queue up behind one that has the CPU?
 *	queue_order POLICY_ID param|nice KEY... [-- INDEX=NEW_KEY...]
 * Threads arrive in the order of the arguments; then some change their keys.
 * Says their indices in the order in which they ran.
 */
#include "subject.h"
#include <sys/eventfd.h>

#define MAX_THREADS	64
#define CPU		1

struct waiter {
	struct subject subject;
	int event, key;
};

static struct waiter waiters[MAX_THREADS];
static volatile int order[MAX_THREADS], nr_ran;
static bool by_nice;

/* Of nice -20: the module queues lets nobody pass it. */
static void gate(struct subject *self)
{
	saakm_setattr(0, SCHED_SAAKM, policy_id, -20, 0);
	while (!self->stop)
		self->progress++;
}

static void waits(struct subject *self)
{
	struct waiter *waiter = (struct waiter *)self;
	uint64_t value;

	if (read(waiter->event, &value, sizeof(value)) != sizeof(value))
		die("eventfd");
	order[__atomic_fetch_add(&nr_ran, 1, __ATOMIC_SEQ_CST)] = waiter - waiters;
	self->progress = 1;
}

static void set_key(struct waiter *waiter, int key)
{
	int ret = saakm_setattr(waiter->subject.tid, SCHED_SAAKM, policy_id, by_nice ? key : 0,
				by_nice ? 0 : key);

	/* It may be gone: see arrive(). */
	if (ret && !(ret == -ESRCH && waiter->subject.progress))
		die("sched_setattr: %d", ret);
}

/*
 * Who joins on its way to sleep is preempted in the kernel, and has a turn by force after a
 * second: woken meanwhile, it would slip through the gate. So it must be asleep.
 */
static void arrive(struct waiter *waiter)
{
	uint64_t one = 1;

	waiter->event = eventfd(0, 0);
	subject_start(&waiter->subject, waits, CPU);
	AWAIT(kernel_state(waiter->subject.tid) == 'S' && is_asleep(waiter->subject.tid));
	set_key(waiter, waiter->key);
	if (write(waiter->event, &one, sizeof(one)) != sizeof(one))
		die("eventfd");
	/* In a plain FIFO, whoever takes the CPU from the gate for a moment lets one pass. */
	AWAIT(waiter->subject.progress || in_state(waiter->subject.tid, "READY"));
}

/* subject_start() sets the subject up anew, but not what is around it. */
static int run(char **keys)
{
	struct subject first;
	int n = 0, index, key;

	pin(0, 3);
	subject_start(&first, gate, CPU);
	AWAIT(first.progress && in_state(first.tid, "RUNNING"));
	for (; *keys && strcmp(*keys, "--"); keys++) {
		if (n == MAX_THREADS)
			die("too many keys");
		waiters[n].key = atoi(*keys);
		arrive(&waiters[n++]);
	}
	for (; *keys; keys++)
		if (sscanf(*keys, "%d=%d", &index, &key) == 2)
			set_key(&waiters[index], key);
	subject_stop(&first);
	for (int i = 0; i < n; i++)
		subject_stop(&waiters[i].subject);
	for (int i = 0; i < n; i++)
		printf("%d%c", order[i], i == n - 1 ? '\n' : ' ');
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		die("usage: %s POLICY_ID param|nice KEY... [-- INDEX=NEW_KEY...]", argv[0]);
	policy_id = atoi(argv[1]);
	by_nice = !strcmp(argv[2], "nice");
	return run(argv + 3);
}
