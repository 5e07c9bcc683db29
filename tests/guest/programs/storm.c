// SPDX-License-Identifier: GPL-2.0
/*
 * storm POLICY STORM COUNT
 *
 * Processes of a policy in a storm of system calls aimed at them. Afterwards all
 * must get on, still in the policy.
 */
#include "crowd.h"
#include <linux/bpf.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <fcntl.h>

#define MEMBERS 16
#define LIMIT 100

static struct member *anyone(void)
{
	return &crowd->members[rnd(crowd->nr)];
}

/* --- affinity --- */

/* While CPUs go offline a mask may be left with none; CPU 0 stays. */
static bool may_be_empty;

static void set_mask(pid_t tid, unsigned int mask)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = 0; cpu < 32; cpu++)
		if (mask & 1u << cpu)
			CPU_SET(cpu, &set);
	if (sched_setaffinity(tid, sizeof(set), &set) && 
	    !(may_be_empty && errno == EINVAL && !(mask & 1)))
		die("sched_setaffinity of %d to %#x", tid, mask);
}

static void storm_affinity(unsigned int count)
{
	unsigned int all = (1u << sysconf(_SC_NPROCESSORS_CONF)) - 1;

	while (count--)
		set_mask(anyone()->tid, 1 + rnd(all));
	for (unsigned int i = 0; i < crowd->nr; i++)
		set_mask(crowd->members[i].tid, all);
}

static void storm_affinity_offline(unsigned int count)
{
	may_be_empty = true;
	storm_affinity(count);
}

/* --- nice --- */

static void storm_nice(unsigned int count)
{
	while (count--)
		if (setpriority(PRIO_PROCESS, anyone()->tid, (int)rnd(40) - 20))
			die("setpriority");
	for (unsigned int i = 0; i < crowd->nr; i++)
		setpriority(PRIO_PROCESS, crowd->members[i].tid, 0);
}

/* --- signals --- */

static void storm_stop(unsigned int count)
{
	while (count--)
		kill(anyone()->tid, rnd(2) ? SIGSTOP : SIGCONT);
	for (unsigned int i = 0; i < crowd->nr; i++)
		kill(crowd->members[i].tid, SIGCONT);
}

static void storm_kill(unsigned int count)
{
	while (count--) {
		struct member *m = anyone();

		if (kill(m->tid, SIGKILL) || waitpid(m->tid, NULL, 0) != m->tid)
			die("SIGKILL to %d", m->tid);
		start_member(m);
	}
}

static void storm_ptrace(unsigned int count)
{
	int status;

	while (count--) {
		pid_t tid = anyone()->tid;

		if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) ||
		    ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
			die("ptrace of %d", tid);
		if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
			die("%d does not stop, status %#x", tid, status);
		if (ptrace(PTRACE_DETACH, tid, NULL, NULL))
			die("detach from %d", tid);
	}
}

/* --- fork, exec, exit --- */

static void child(unsigned int what)
{
	if (sched_getscheduler(0) != SCHED_SAAKM)
		_exit(2);
	if (what == 0)
		execl("/proc/self/exe", "storm", "child", NULL);
	if (what == 1 && fork() == 0)	/* buried by init */
		sched_yield();
	_exit(0);
}

static void round_fork(struct member *m)
{
	int status;
	pid_t pid = fork();

	(void)m;
	if (pid < 0)
		die("fork");
	if (!pid)
		child(rnd(6));
	if (waitpid(pid, &status, 0) != pid || status)
		fail("a child ended with status %#x", status);
	__atomic_add_fetch(&crowd->total, 1, __ATOMIC_RELAXED);
}

static void storm_fork(unsigned int count)
{
	while (crowd->total < count)
		sleep_ms(10);
}

/* --- yield --- */

static void round_yield(struct member *m)
{
	(void)m;
	sched_yield();
	__atomic_add_fetch(&crowd->total, 1, __ATOMIC_RELAXED);
}

/* --- cgroups --- */

#define CGROUP "/sys/fs/cgroup/"

static void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die("'%s' to %s", text, path);
	close(fd);
}

static void move_to(pid_t pid, const char *group)
{
	char path[64], text[16];

	snprintf(path, sizeof(path), CGROUP "%s/cgroup.procs", group);
	snprintf(text, sizeof(text), "%d", pid);
	write_to(path, text);
}

static void storm_cgroup(unsigned int count)
{
	static const char * const groups[] = { ".", "storm-a", "storm-b" };
	static const char * const cpus[] = { "0", "1", "0-1", "1-3", "0-3", "2,3" };
	char path[64];

	for (int i = 1; i < 3; i++) {
		snprintf(path, sizeof(path), CGROUP "%s", groups[i]);
		if (mkdir(path, 0755) && errno != EEXIST)
			die("%s", path);
	}
	while (count--) {
		move_to(anyone()->tid, groups[rnd(3)]);
		snprintf(path, sizeof(path), CGROUP "%s/cpuset.cpus", groups[1 + rnd(2)]);
		if (!rnd(4))
			write_to(path, cpus[rnd(6)]);
	}
	for (unsigned int i = 0; i < crowd->nr; i++)
		move_to(crowd->members[i].tid, ".");
	for (int i = 1; i < 3; i++) {
		snprintf(path, sizeof(path), CGROUP "%s", groups[i]);
		rmdir(path);
	}
}

/* --- migrate_disable(): what a running BPF program has done --- */

static int bpf_nothing(void)
{
	struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uintptr_t)code,
		.insn_cnt = 2,
		.license = (uintptr_t)"GPL",
	};
	int fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));

	if (fd < 0)
		die("loading a BPF program");
	return fd;
}

static void round_bpf(struct member *m)
{
	static int fd = -1;
	char packet[64] = {};
	union bpf_attr attr = {};

	(void)m;
	if (fd < 0)
		fd = bpf_nothing();
	attr.test.prog_fd = fd;
	attr.test.data_in = (uintptr_t)packet;
	attr.test.data_size_in = sizeof(packet);
	attr.test.repeat = 10000;
	if (syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr)))
		die("running a BPF program");
	sched_yield();
}

/* --- */

static const struct storm {
	const char *name;
	void (*run)(unsigned int count);
	void (*round)(struct member *m);
} storms[] = {
	{ "affinity", storm_affinity, usual_round },
	{ "affinity_offline", storm_affinity_offline, usual_round },
	{ "nice", storm_nice, usual_round },
	{ "stop", storm_stop, usual_round },
	{ "kill", storm_kill, usual_round },
	{ "ptrace", storm_ptrace, usual_round },
	{ "fork", storm_fork, round_fork },
	{ "yield", storm_fork, round_yield },
	{ "cgroup", storm_cgroup, usual_round },
	{ "migrate_disable", storm_affinity, round_bpf },
};

static const struct storm *find_storm(const char *name)
{
	for (unsigned int i = 0; i < sizeof(storms) / sizeof(*storms); i++)
		if (!strcmp(storms[i].name, name))
			return &storms[i];
	fail("there is no storm %s", name);
}

int main(int argc, char **argv)
{
	const struct storm *storm;

	if (argc == 2 && !strcmp(argv[1], "child"))
		return sched_getscheduler(0) == SCHED_SAAKM ? 0 : 3;
	if (argc != 4)
		fail("storm POLICY STORM COUNT");
	storm = find_storm(argv[2]);

	limit_seconds(LIMIT);
	crowd_new(MEMBERS, policy_id(argv[1]), true);
	crowd->round = storm->round;
	crowd_start();
	crowd_moves(LIMIT / 2, "before the storm");
	crowd_doing = storm->name;
	storm->run(atoi(argv[3]));
	crowd_moves(LIMIT / 2, "after the storm");
	crowd_is(SCHED_SAAKM, "after the storm");
	crowd_end();
	return 0;
}
