// SPDX-License-Identifier: GPL-2.0
/* Priority inheritance: a real-time waiter lifts a thread of the policy out of it. */
#include "subject.h"

static pthread_mutex_t mutex;
static volatile int held, release;

static void real_time(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("SCHED_FIFO");
}

/* Joins only when told to, by somebody else. */
static void outsider(struct subject *self)
{
	pthread_mutex_lock(&mutex);
	held = 1;
	while (!release)
		self->progress++;
	pthread_mutex_unlock(&mutex);
	while (!self->stop)
		self->progress++;
}

static void holder(struct subject *self)
{
	saakm_join(policy_id);
	outsider(self);
}

static void waiter(struct subject *self)
{
	real_time(10);
	pthread_mutex_lock(&mutex);
	self->progress = 1;
	pthread_mutex_unlock(&mutex);
}

/* The priority that the scheduler uses now: below 0 for real-time. */
static int kernel_priority(pid_t tid)
{
	char path[64], line[1024], *after;
	FILE *file;
	int priority = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	file = fopen(path, "r");
	if (!file || !fgets(line, sizeof(line), file))
		die("cannot read %s", path);
	fclose(file);
	after = strrchr(line, ')');
	if (!after || sscanf(after + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %d",
			     &priority) != 1)
		die("cannot parse %s", path);
	return priority;
}

static void make_mutex(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	if (pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) ||
	    pthread_mutex_init(&mutex, &attr))
		die("mutex");
}

static void boosted(void (*body)(struct subject *), void (*meanwhile)(pid_t tid))
{
	struct subject h, w;

	make_mutex();
	subject_start(&h, body, 1);
	tell("holder", h.tid);
	AWAIT(held);
	subject_start(&w, waiter, 2);
	AWAIT(kernel_priority(h.tid) < 0);
	if (meanwhile)
		meanwhile(h.tid);
	release = 1;
	AWAIT(w.progress);
	AWAIT(kernel_priority(h.tid) > 0);
	subject_stop(&w);
	sleep_ms(20);
	subject_stop(&h);
}

static void is_blocked(pid_t tid)
{
	AWAIT(in_state(tid, "BLOCKED"));
}

static void boost(void)
{
	boosted(holder, is_blocked);
}

static void leave(pid_t tid)
{
	if (saakm_setattr(tid, SCHED_OTHER, 0, 0, 0))
		die("leave");
	if (is_member(tid))
		die("%d is still a member", tid);
}

static void boost_leave(void)
{
	boosted(holder, leave);
}

static void join(pid_t tid)
{
	if (saakm_setattr(tid, SCHED_SAAKM, policy_id, 0, 0))
		die("join");
	if (!in_state(tid, "NOT_QUEUED"))
		die("%d is placed, though it runs in another class", tid);
}

static void boost_join(void)
{
	boosted(outsider, join);
}

static void rejoin(pid_t tid)
{
	leave(tid);
	join(tid);
}

static void boost_rejoin(void)
{
	boosted(holder, rejoin);
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{ "boost", boost },
		{ "boost_leave", boost_leave },
		{ "boost_join", boost_join },
		{ "boost_rejoin", boost_rejoin },
		{ NULL, NULL },
	};

	return run_scenario(argc, argv, scenarios);
}
