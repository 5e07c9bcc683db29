// SPDX-License-Identifier: GPL-2.0
/* Changes threads of a policy from outside: nice, affinity, class, cgroup. */
#include "subject.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void set_nice(pid_t tid, int nice)
{
	if (setpriority(PRIO_PROCESS, tid, nice))
		die("setpriority");
}

static void nice_change_on(int cpu)
{
	struct subject running, asleep;

	subject_start(&running, hog, 1);
	subject_start(&asleep, sleeper, cpu);
	tell("running", running.tid);
	tell("asleep", asleep.tid);
	AWAIT(running.progress && asleep.progress);
	for (int i = 1; i <= 5; i++) {
		set_nice(running.tid, i);
		set_nice(asleep.tid, i);
		sleep_ms(10);
	}
	subject_stop(&running);
	subject_stop(&asleep);
}

static void nice_change(void)
{
	nice_change_on(2);
}

/* Beside the hog: a sleeper that is taken for one that was woken would preempt. */
static void nice_beside(void)
{
	nice_change_on(1);
}

/* Renice while it waits for its turn. */
static void nice_queued(void)
{
	struct subject a, b;

	subject_start(&a, hog, 1);
	subject_start(&b, hog, 1);
	AWAIT(a.progress && b.progress);
	tell("queued", a.tid);
	for (int i = 1; i <= 5; i++) {
		AWAIT(in_state(a.tid, "READY"));
		set_nice(a.tid, i);
	}
	subject_stop(&a);
	subject_stop(&b);
}

static void affinity_move(void)
{
	struct subject s;

	subject_start(&s, hog, 1);
	tell("moved", s.tid);
	AWAIT(s.progress);
	pin(s.tid, 2);
	AWAIT(saakm_cpu(s.tid) == 2);
	pin(s.tid, 3);
	AWAIT(saakm_cpu(s.tid) == 3);
	subject_stop(&s);
}

static void affinity_queued(void)
{
	struct subject a, b;

	subject_start(&a, hog, 1);
	subject_start(&b, hog, 1);
	AWAIT(a.progress && b.progress);
	AWAIT(in_state(a.tid, "READY"));
	tell("moved", a.tid);
	pin(a.tid, 2);
	AWAIT(saakm_cpu(a.tid) == 2);
	subject_stop(&a);
	subject_stop(&b);
}

static void affinity_stay(void)
{
	struct subject s;
	cpu_set_t set;

	subject_start(&s, hog, 1);
	tell("stays", s.tid);
	AWAIT(s.progress);
	CPU_ZERO(&set);
	CPU_SET(1, &set);
	CPU_SET(2, &set);
	for (int i = 0; i < 3; i++) {
		if (sched_setaffinity(s.tid, sizeof(set), &set))
			die("sched_setaffinity");
		pin(s.tid, 1);
	}
	subject_stop(&s);
}

/* exec */

static void execs(void)
{
	saakm_join(policy_id);
	execl("/proc/self/exe", "trigger_attr", "nothing", "0", NULL);
	die("execl");
}

static void nothing(void)
{
}

static void execs_pinned(void)
{
	pin(0, 1);
	execs();
}

static void exec_pinned(void)
{
	pid_t pid = process_start(execs_pinned);

	tell("execs", pid);
	process_reap(pid, 0);
}

static void exec_self(void)
{
	pid_t pid = process_start(execs);

	tell("execs", pid);
	process_reap(pid, 0);
}

static void cgroup_move(void)
{
	static const char *const group = "/sys/fs/cgroup/saakm-test";
	char path[128];
	struct subject s;
	FILE *file;

	if (mkdir(group, 0755) && errno != EEXIST)
		die("mkdir %s", group);
	subject_start(&s, hog, 1);
	tell("moved", s.tid);
	AWAIT(s.progress);
	for (int i = 0; i < 6; i++) {
		snprintf(path, sizeof(path), "%s/cgroup.procs", i % 2 ? "/sys/fs/cgroup" : group);
		file = fopen(path, "w");
		if (!file || fprintf(file, "%d", getpid()) < 0 || fclose(file))
			die("cannot write to %s", path);
	}
	subject_stop(&s);
	rmdir(group);
}

/* sched_setattr */

static void join_leave(void)
{
	struct subject s;

	subject_start(&s, idler, -1);
	tell("member", s.tid);
	for (int i = 0; i < 5; i++) {
		if (saakm_setattr(s.tid, SCHED_SAAKM, policy_id, 0, 0))
			die("join");
		AWAIT(in_state(s.tid, "BLOCKED"));
		if (saakm_setattr(s.tid, SCHED_OTHER, 0, 0, 0))
			die("leave");
	}
	subject_stop(&s);
}

static void joins_and_leaves(struct subject *self)
{
	for (int i = 0; i < 5; i++) {
		saakm_join(policy_id);
		burn_ns(1000000);
		saakm_leave();
	}
	self->progress = 1;
}

static void join_leave_self(void)
{
	struct subject s;

	subject_start(&s, joins_and_leaves, -1);
	tell("member", s.tid);
	subject_stop(&s);
}

/* It leaves before it has ever been placed: no event but its parameters. */
static void join_leave_asleep(void)
{
	pid_t pid = process_start((void (*)(void))pause);

	AWAIT(kernel_state(pid) == 'S' && is_asleep(pid));
	tell("never", pid);
	if (saakm_setattr(pid, SCHED_SAAKM, policy_id, 0, 0))
		die("join");
	AWAIT(in_state(pid, "NOT_QUEUED"));
	if (saakm_setattr(pid, SCHED_OTHER, 0, 0, 0))
		die("leave");
	kill(pid, SIGKILL);
	process_reap(pid, SIGKILL);
}

static void leave_queued(void)
{
	struct subject a, b;

	subject_start(&a, hog, 1);
	subject_start(&b, hog, 1);
	AWAIT(a.progress && b.progress);
	AWAIT(in_state(a.tid, "READY"));
	tell("member", a.tid);
	if (saakm_setattr(a.tid, SCHED_OTHER, 0, 0, 0))
		die("leave");
	subject_stop(&a);
	subject_stop(&b);
}

static void parameter(void)
{
	struct subject running;

	subject_start(&running, hog, 1);
	tell("running", running.tid);
	AWAIT(running.progress);
	for (int i = 101; i <= 103; i++)
		if (saakm_setattr(running.tid, SCHED_SAAKM, policy_id, 0, i))
			die("setattr");
	subject_stop(&running);
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{ "nice_change", nice_change },
		{ "nice_beside", nice_beside },
		{ "nice_queued", nice_queued },
		{ "affinity_move", affinity_move },
		{ "affinity_queued", affinity_queued },
		{ "affinity_stay", affinity_stay },
		{ "exec_self", exec_self },
		{ "exec_pinned", exec_pinned },
		{ "nothing", nothing },
		{ "cgroup_move", cgroup_move },
		{ "join_leave", join_leave },
		{ "join_leave_self", join_leave_self },
		{ "join_leave_asleep", join_leave_asleep },
		{ "leave_queued", leave_queued },
		{ "parameter", parameter },
		{ NULL, NULL },
	};

	return run_scenario(argc, argv, scenarios);
}
