// SPDX-License-Identifier: GPL-2.0
/* Wakeups whose circumstances a policy is told: who, from where, beside whom. */
#include "sleeper.h"

static int to_reader[2], to_writer[2];

static void reads(struct subject *self)
{
	char byte;

	saakm_join(policy_id);
	while (read(to_reader[0], &byte, 1) == 1) {
		self->progress++;
		if (write(to_writer[1], &byte, 1) != 1)
			die("write");
	}
}

static void writes(struct subject *self)
{
	char byte = 0;

	saakm_join(policy_id);
	for (int i = 0; i < 20; i++)
		if (write(to_reader[1], &byte, 1) != 1 || read(to_writer[0], &byte, 1) != 1)
			die("ping");
	close(to_reader[1]);
	self->progress = 1;
}

static void pipe_on(int cpu)
{
	struct subject reader, writer;

	if (pipe(to_reader) || pipe(to_writer))
		die("pipe");
	subject_start(&reader, reads, cpu);
	tell("reader", reader.tid);
	subject_start(&writer, writes, cpu);
	subject_stop(&writer);
	subject_stop(&reader);
}

/* Both may use two CPUs, so that they are asked for one. */
static void pipe_pair(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(1, &set);
	CPU_SET(2, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
	pipe_on(-1);
}

/* Nobody is asked for a CPU: there is but one. */
static void pipe_pinned(void)
{
	pipe_on(1);
}

static void waits(struct subject *self)
{
	saakm_join(policy_id);
	sleeper_run(self);
}

static void remote_to(int other)
{
	struct subject s;
	cpu_set_t set;

	sleeper_event = eventfd(0, 0);
	pin(0, 3);
	subject_start(&s, waits, 1);
	tell("sleeper", s.tid);
	AWAIT(in_state(s.tid, "BLOCKED"));
	CPU_ZERO(&set);
	CPU_SET(1, &set);
	CPU_SET(other, &set);
	if (sched_setaffinity(s.tid, sizeof(set), &set))
		die("sched_setaffinity");
	for (uint64_t i = 1; i <= 10; i++) {
		sleeper_wake();
		AWAIT(s.progress == i && in_state(s.tid, "BLOCKED"));
	}
	s.stop = 1;
	sleeper_wake();
	subject_stop(&s);
}

static void remote(void)
{
	remote_to(2);
}

static void remote_pinned(void)
{
	remote_to(1);
}

/*
 * The hog leaves the CPU only if the policy, or a higher class, takes it. Ten
 * rounds: the guest's own threads come in between now and then.
 */
static void beside(void)
{
	struct subject h, w;

	sleeper_event = eventfd(0, 0);
	pin(0, 3);	/* we are of a higher class */
	subject_start(&w, waits, 1);
	tell("woken", w.tid);
	for (int i = 0; i < 10; i++) {
		uint64_t before = w.progress;

		AWAIT(in_state(w.tid, "BLOCKED"));
		subject_start(&h, hog, 1);
		AWAIT(h.progress && in_state(h.tid, "RUNNING"));
		sleeper_wake();
		sleep_ms(40);
		subject_stop(&h);
		AWAIT(w.progress != before);
	}
	w.stop = 1;
	sleeper_wake();
	subject_stop(&w);
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{ "pipe", pipe_pair },
		{ "pipe_pinned", pipe_pinned },
		{ "remote", remote },
		{ "remote_pinned", remote_pinned },
		{ "beside", beside },
		{ NULL, NULL },
	};

	return run_scenario(argc, argv, scenarios);
}
