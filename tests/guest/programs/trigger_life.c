// SPDX-License-Identifier: GPL-2.0
/* Makes threads live through one kind of event each: birth, sleep, death. */
#include "subject.h"
#include <sys/ptrace.h>

static void burn_briefly(void)
{
	burn_ns(2000000);
}

/* fork, exit */

static void joins_and_forks(void)
{
	pid_t child;

	saakm_join(policy_id);
	child = process_start(burn_briefly);
	tell("child", child);
	process_reap(child, 0);
}

static void fork_exit(void)
{
	pid_t pid = process_start(joins_and_forks);

	tell("parent", pid);
	process_reap(pid, 0);
}

/* sleep, wake */

static void sleeps(void)
{
	saakm_join(policy_id);
	for (int i = 0; i < 5; i++)
		sleep_ms(5);
}

static void sleep_wake(void)
{
	pid_t pid = process_start(sleeps);

	tell("sleeper", pid);
	process_reap(pid, 0);
}

/* sched_yield */

static void yielder(struct subject *self)
{
	saakm_join(policy_id);
	for (int i = 0; i < 10; i++)
		sched_yield();
	while (!self->stop)
		sched_yield();
}

static void yield_alone(void)
{
	struct subject s;

	subject_start(&s, yielder, 1);
	tell("yielder", s.tid);
	AWAIT(is_member(s.tid));
	sleep_ms(50);
	subject_stop(&s);
}

static void yield_pair(void)
{
	struct subject y, h;

	subject_start(&h, hog, 1);
	AWAIT(h.progress);
	subject_start(&y, yielder, 1);
	tell("yielder", y.tid);
	tell("hog", h.tid);
	AWAIT(is_member(y.tid));
	sleep_ms(100);
	subject_stop(&h);
	subject_stop(&y);
}

/* tick */

static void two_hogs(int ms)
{
	struct subject a, b;

	pin(0, 0);
	subject_start(&a, hog, 1);
	subject_start(&b, hog, 1);
	tell("first", a.tid);
	tell("second", b.tid);
	AWAIT(a.progress && b.progress);
	sleep_ms(ms);
	subject_stop(&a);
	subject_stop(&b);
}

static void tick_pair(void)
{
	two_hogs(200);
}

/* Much longer than fair's longest pause between two balancings for sleeping cores. */
static void tick_pair_long(void)
{
	two_hogs(2000);
}

static void tick_alone(void)
{
	struct subject a;

	subject_start(&a, hog, 1);
	tell("hog", a.tid);
	AWAIT(a.progress);
	sleep_ms(200);
	subject_stop(&a);
}

/* stop, continue */

static void spins(void)
{
	saakm_join(policy_id);
	while (!shared->stop)
		shared->progress++;
}

static void stop_cont(void)
{
	pid_t pid = process_start(spins);

	tell("stopped", pid);
	AWAIT(shared->progress);
	for (int i = 0; i < 3; i++) {
		kill(pid, SIGSTOP);
		AWAIT(in_state(pid, "BLOCKED"));
		kill(pid, SIGCONT);
		AWAIT(in_state(pid, "RUNNING"));
	}
	shared->stop = 1;
	process_reap(pid, 0);
}

static void ptrace_stop(void)
{
	pid_t pid = process_start(spins);
	int status;

	tell("traced", pid);
	AWAIT(shared->progress);
	if (ptrace(PTRACE_SEIZE, pid, 0, 0))
		die("PTRACE_SEIZE");
	for (int i = 0; i < 3; i++) {
		if (ptrace(PTRACE_INTERRUPT, pid, 0, 0))
			die("PTRACE_INTERRUPT");
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			die("it did not stop: %#x", status);
		AWAIT(in_state(pid, "BLOCKED"));
		if (ptrace(PTRACE_CONT, pid, 0, 0))
			die("PTRACE_CONT");
		AWAIT(in_state(pid, "RUNNING"));
	}
	if (ptrace(PTRACE_INTERRUPT, pid, 0, 0) || waitpid(pid, &status, 0) != pid)
		die("last stop");
	shared->stop = 1;
	if (ptrace(PTRACE_DETACH, pid, 0, 0))
		die("PTRACE_DETACH");
	process_reap(pid, 0);
}

/* SIGKILL */

static void kill_it(pid_t pid)
{
	tell("killed", pid);
	kill(pid, SIGKILL);
	process_reap(pid, SIGKILL);
}

static void kill_running(void)
{
	pid_t pid = process_start(spins);

	AWAIT(shared->progress && in_state(pid, "RUNNING"));
	kill_it(pid);
}

static void naps(void)
{
	saakm_join(policy_id);
	sleep_ms(60000);
}

static void kill_blocked(void)
{
	pid_t pid = process_start(naps);

	AWAIT(in_state(pid, "BLOCKED"));
	kill_it(pid);
}

static void spins_on_1(void)
{
	pin(0, 1);
	spins();
}

/* Two take turns on one CPU: catches one while it waits for its turn. */
static void kill_queued(void)
{
	pid_t victim = process_start(spins_on_1), other = process_start(spins_on_1);

	AWAIT(is_member(victim) && is_member(other));
	AWAIT(in_state(victim, "READY"));
	kill_it(victim);
	shared->stop = 1;
	process_reap(other, 0);
}

/* Many at once, dying in all ways: none may be counted twice or not at all. */
static void forks_on(void)
{
	saakm_join(policy_id);
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid) {
			if (i % 3 == 0)
				burn_ns(1000000);
			else if (i % 3 == 1)
				sleep_ms(3);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

static void storm(void)
{
	pid_t pids[3];

	for (int i = 0; i < 3; i++)
		pids[i] = process_start(forks_on);
	for (int i = 0; i < 3; i++)
		process_reap(pids[i], 0);
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{ "fork_exit", fork_exit },
		{ "sleep_wake", sleep_wake },
		{ "yield_alone", yield_alone },
		{ "yield_pair", yield_pair },
		{ "tick_pair", tick_pair },
		{ "tick_pair_long", tick_pair_long },
		{ "tick_alone", tick_alone },
		{ "stop_cont", stop_cont },
		{ "ptrace_stop", ptrace_stop },
		{ "kill_running", kill_running },
		{ "kill_blocked", kill_blocked },
		{ "kill_queued", kill_queued },
		{ "storm", storm },
		{ NULL, NULL },
	};

	return run_scenario(argc, argv, scenarios);
}
