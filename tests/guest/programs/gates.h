/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Real-time threads that keep CPUs from all others until they are told to open. Where they
 * are, threads of a policy queue up and cannot slip through. The deadline servers, and the
 * limit of real-time threads, are the caller's to switch off.
 */
#ifndef GATES_H
#define GATES_H

#include "subject.h"

#define MAX_GATES	16
#define GATE_PRIORITY	10

static struct subject gates[MAX_GATES];

static inline void be_real_time(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("SCHED_FIFO");
}

static inline void keeps_closed(struct subject *self)
{
	be_real_time(GATE_PRIORITY);
	while (!self->stop)
		self->progress++;
}

static inline void close_gate(int cpu)
{
	subject_start(&gates[cpu], keeps_closed, cpu);
	AWAIT(gates[cpu].progress);
}

static inline void open_gate(int cpu)
{
	subject_stop(&gates[cpu]);
}

static inline void allow(pid_t tid, unsigned long mask)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned int cpu = 0; cpu < 8 * sizeof(mask); cpu++)
		if (mask >> cpu & 1)
			CPU_SET(cpu, &set);
	if (sched_setaffinity(tid, sizeof(set), &set))
		die("cannot let %d use the CPUs %#lx", tid, mask);
}

/* Has it happened before so many ms have passed? */
#define WITHIN(ms, condition)						\
({									\
	uint64_t end_ = now_ns(CLOCK_MONOTONIC) + (ms) * 1000000ull;	\
	bool found_;							\
									\
	while (!(found_ = (condition)) && now_ns(CLOCK_MONOTONIC) < end_) \
		sleep_ms(1);						\
	found_;								\
})

#endif /* GATES_H */
