// SPDX-License-Identifier: GPL-2.0
/*
 * deadline_return ROUNDS: a thread that has used up its budget in SCHED_DEADLINE
 * leaves it, and comes back just after it would have got a new one, while it waits
 * for a CPU. Prints in how many rounds it never ran again.
 */
#include "subject.h"

#define HOGS 12			/* so that it mostly waits */
#define NS_PER_MS 1000000ull
#define RUNTIME_MS 2
#define PERIOD_MS 100
#define USED_UP_MS 20
/* An overrun of a tick's length puts the end of its claim off by up to 200 ms. */
#define LATE_MS 60
#define LOST_NS (20 * 1000 * NS_PER_MS)

static void spins(struct subject *self)
{
	while (!self->stop)
		self->progress++;
}

static void choose(pid_t tid, bool deadline)
{
	struct saakm_attr attr = { .size = sizeof(attr), .sched_policy = SCHED_OTHER };

	if (deadline) {
		attr.sched_policy = 6;
		attr.sched_runtime = RUNTIME_MS * NS_PER_MS;
		attr.sched_deadline = attr.sched_period = PERIOD_MS * NS_PER_MS;
	}
	if (syscall(SYS_sched_setattr, tid, &attr, 0))
		die("sched_setattr");
}

static bool runs(const struct subject *self)
{
	uint64_t before = self->progress, begin_ns = now_ns(CLOCK_MONOTONIC);

	while (self->progress == before) {
		if (now_ns(CLOCK_MONOTONIC) - begin_ns > LOST_NS)
			return false;
		sleep_ms(1);
	}
	return true;
}

int main(int argc, char **argv)
{
	static struct subject self, hogs[HOGS];
	int lost = 0;

	if (argc != 2)
		die("deadline_return ROUNDS");
	/* Before the hogs, and above them: it keeps its times. */
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK,
			       &(struct sched_param){ .sched_priority = 1 }))
		die("SCHED_FIFO");
	subject_start(&self, spins, -1);
	for (int i = 0; i < HOGS; i++)
		subject_start(&hogs[i], spins, -1);
	for (int i = 0; i < atoi(argv[1]) && !lost; i++) {
		choose(self.tid, true);
		sleep_ms(USED_UP_MS);
		choose(self.tid, false);
		sleep_ms(PERIOD_MS - USED_UP_MS + i * 7 % LATE_MS);
		choose(self.tid, true);
		lost += !runs(&self);
		/* Else it could not end. */
		choose(self.tid, false);
		/* It has no claim any more. */
		sleep_ms(3 * PERIOD_MS);
	}
	printf("%d\n", lost);
	fflush(stdout);
	_exit(0);
}
