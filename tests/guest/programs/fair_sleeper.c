// SPDX-License-Identifier: GPL-2.0
/*
 * fair_sleeper leaves POLICY_ID: a fair thread that sleeps before its turn is up stays
 * enqueued on CPU 1 (delayed dequeue). While a real-time thread runs there, the fair
 * thread that it shared the CPU with is taken away: when the real-time thread sleeps,
 * the CPU has a thread in its books, but none to run.
 */
#include "sleeper.h"

#define ROUNDS	40

static volatile uint64_t begun, let_go;

/* Runs ahead of the hog beside it, and sleeps then. */
static void runs_ahead(struct subject *self)
{
	uint64_t value;

	while (!self->stop) {
		if (read(sleeper_event, &value, sizeof(value)) != sizeof(value))
			die("eventfd");
		burn_ns(5000000);
		self->progress++;
	}
}

static void hogs(struct subject *self)
{
	while (!self->stop)
		self->progress++;
}

static void real_time(struct subject *self)
{
	struct sched_param param = { .sched_priority = 50 };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("SCHED_FIFO");
	for (uint64_t round = 1; !self->stop; round++) {
		while (begun < round && !self->stop)
			sleep_ms(1);
		self->progress = round;
		while (let_go < round && !self->stop)
			;
	}
}

static void leaves(void)
{
	struct subject member, ahead, hog, fifo;
	uint64_t before;

	sleeper_event = eventfd(0, 0);
	pin(0, 0);
	subject_start(&member, sleeper, 3);
	subject_start(&ahead, runs_ahead, 1);
	subject_start(&hog, hogs, 1);
	subject_start(&fifo, real_time, 1);
	for (int round = 1; round <= ROUNDS; round++) {
		pin(hog.tid, 1);
		before = ahead.progress;
		sleeper_wake();
		while (ahead.progress == before)
			;
		begun = round;
		while (fifo.progress < (uint64_t)round)
			;
		pin(hog.tid, 2);
		let_go = round;
		sleep_ms(3);
	}
	ahead.stop = hog.stop = fifo.stop = member.stop = 1;
	sleeper_wake();
	subject_stop(&ahead);
	subject_stop(&hog);
	subject_stop(&fifo);
	subject_stop(&member);
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{ "leaves", leaves },
		{ NULL, NULL },
	};

	return run_scenario(argc, argv, scenarios);
}
