/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of the system calls share: cases by name, and EXPECT(). */
#ifndef ABI_H
#define ABI_H

#include "crowd.h"

static uint32_t id_a, id_b;	/* the policies of the command line */
static int failures;

/* The value of a system call, or -errno. */
#define RESULT(call)							\
({									\
	long _r = (call);						\
	_r == -1 ? -errno : _r;						\
})

#define EXPECT(call, want) expect(#call, __FILE__, __LINE__, RESULT(call), want)
#define EXPECT_EQ(value, want) expect(#value, __FILE__, __LINE__, value, want)

static inline void expect(const char *what, const char *file, int line,
			  long got, long want)
{
	if (got == want)
		return;
	fprintf(stderr, "%s:%d: %s\n  is %ld (%s), should be %ld (%s)\n", file, line,
		what, got, got < 0 ? strerror(-got) : "-", want,
		want < 0 ? strerror(-want) : "-");
	failures++;
}

/* Room for what later kernels may add. */
union big_attr {
	struct saakm_attr attr;
	char bytes[8192];
};

static inline long set(pid_t tid, struct saakm_attr *attr)
{
	return syscall(SYS_sched_setattr, tid, attr, 0);
}

static inline struct saakm_attr get(pid_t tid)
{
	struct saakm_attr attr = {};

	EXPECT(syscall(SYS_sched_getattr, tid, &attr, sizeof(attr), 0), 0);
	return attr;
}

static inline struct saakm_attr joining(uint32_t id)
{
	return (struct saakm_attr) {
		.size = sizeof(struct saakm_attr),
		.sched_policy = SCHED_SAAKM,
		.sched_saakm_policy = id,
	};
}

/* Is the thread in this policy, by all that can be asked? 0: in none. */
#define EXPECT_IN(tid, id, nice, param) expect_in(__FILE__, __LINE__, tid, id, nice, param)

static inline void expect_in(const char *file, int line, pid_t tid, uint32_t id,
			     int nice, uint32_t param)
{
	struct saakm_attr attr = get(tid);

	expect("sched_getscheduler()", file, line, sched_getscheduler(tid),
	       id ? SCHED_SAAKM : SCHED_OTHER);
	expect("sched_policy", file, line, attr.sched_policy, id ? SCHED_SAAKM : SCHED_OTHER);
	expect("sched_saakm_policy", file, line, attr.sched_saakm_policy, id);
	expect("sched_saakm_param", file, line, attr.sched_saakm_param, param);
	expect("sched_nice", file, line, attr.sched_nice, nice);
	expect("getpriority()", file, line, getpriority(PRIO_PROCESS, tid), nice);
}

/* Exit status of a child that runs `f`, which has the failures. */
static inline int in_child(void (*f)(void))
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		failures = 0;
		limit_seconds(40);
		f();
		_exit(failures ? 1 : 0);
	}
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	return status;
}

/* A child that only waits; for others to change. */
static inline pid_t waiting_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	while (!pid)
		pause();
	return pid;
}

static inline void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

struct abi_case {
	const char *name;
	void (*run)(void);
};

static inline const struct abi_case *find_case(const struct abi_case *cases,
					       const char *name)
{
	for (; cases->name; cases++)
		if (!strcmp(cases->name, name))
			return cases;
	fail("there is no case %s", name);
}

/* PROGRAM POLICY POLICY CASE..., each in a process of its own. "-": no policy. */
static inline int run_cases(const struct abi_case *cases, int argc, char **argv)
{
	bool failed = false;

	if (argc < 4)
		fail("%s POLICY POLICY CASE...", argv[0]);
	limit_seconds(50);
	if (strcmp(argv[1], "-"))
		id_a = policy_id(argv[1]);
	if (strcmp(argv[2], "-"))
		id_b = policy_id(argv[2]);
	for (int i = 3; i < argc; i++) {
		crowd_doing = argv[i];
		if (!in_child(find_case(cases, argv[i])->run))
			continue;
		fprintf(stderr, "case %s failed\n", argv[i]);
		failed = true;
	}
	return failed;
}

#endif /* ABI_H */
