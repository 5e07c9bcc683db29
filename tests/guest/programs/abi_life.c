// SPDX-License-Identifier: GPL-2.0
/*
 * abi_life POLICY POLICY CASE...: what a thread's policy does at fork, exec and
 * exit, and who may change it.
 */
#include "abi.h"

#define FLAG_RESET_ON_FORK	0x01
#define NOBODY			65534

static const char *self_state(char state[32])
{
	return saakm_state(gettid_(), state);
}

/* --- inheritance --- */

static void as_parent(void)
{
	char state[32];

	EXPECT_IN(0, id_a, 4, 42);
	EXPECT_EQ(strcmp(self_state(state), "RUNNING"), 0);
}

static void *as_parent_thread(void *unused)
{
	as_parent();
	return unused;
}

static void like_parent(void)
{
	struct saakm_attr attr = joining(id_a);

	attr.sched_nice = 4;
	attr.sched_saakm_param = 42;
	EXPECT(set(0, &attr), 0);
}

static void inherit_fork(void)
{
	like_parent();
	EXPECT_EQ(in_child(as_parent), 0);
	as_parent();
}

static void inherit_thread(void)
{
	pthread_t thread;

	like_parent();
	EXPECT_EQ(pthread_create(&thread, NULL, as_parent_thread, NULL), 0);
	pthread_join(thread, NULL);
	as_parent();
}

static void exec_self(void)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", id_a);
	setenv("EXPECTED_ID", text, 1);
	execl("/proc/self/exe", "abi_life", "-", "-", "after_exec", NULL);
	die("exec");
}

static void after_exec(void)
{
	id_a = atoi(getenv("EXPECTED_ID"));
	as_parent();
}

static void inherit_exec(void)
{
	like_parent();
	EXPECT_EQ(in_child(exec_self), 0);
}

/* The parent keeps its policy while its children leave, and the reverse. */
static void leave_child(void)
{
	struct saakm_attr attr = { .size = 64, .sched_policy = SCHED_OTHER };

	EXPECT(set(0, &attr), 0);
	EXPECT_IN(0, 0, 0, 0);
}

static void independent(void)
{
	like_parent();
	EXPECT_EQ(in_child(leave_child), 0);
	as_parent();
}

/* --- SCHED_FLAG_RESET_ON_FORK --- */

static void as_reset(void)
{
	EXPECT_IN(0, 0, 0, 0);
	EXPECT_EQ(get(0).sched_flags & FLAG_RESET_ON_FORK, 0);
}

static void reset_on_fork(void)
{
	struct saakm_attr attr = joining(id_a);

	attr.sched_flags = FLAG_RESET_ON_FORK;
	attr.sched_nice = -7;
	attr.sched_saakm_param = 5;
	EXPECT(set(0, &attr), 0);
	EXPECT_EQ(get(0).sched_flags & FLAG_RESET_ON_FORK, FLAG_RESET_ON_FORK);
	EXPECT(sched_getscheduler(0), SCHED_SAAKM | SCHED_RESET_ON_FORK);
	EXPECT_EQ(in_child(as_reset), 0);
	EXPECT_EQ(get(0).sched_saakm_policy, id_a);
	EXPECT_EQ(get(0).sched_saakm_param, 5);
	EXPECT_EQ(get(0).sched_nice, -7);
}

/* --- the dead --- */

static bool is_zombie(pid_t pid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d %*s %c", &state) != 1)
		die("%s", path);
	fclose(file);
	return state == 'Z';
}

/*
 * It is shown as a zombie a moment before its last switch, so that a few calls
 * may still succeed; then none.
 */
static void zombie_of(uint32_t id)
{
	struct saakm_attr attr = joining(id_a);
	pid_t pid = fork();

	if (!pid) {
		if (id)
			saakm_join(id);
		_exit(0);
	}
	crowd_doing = "waiting for a zombie";
	while (!is_zombie(pid))
		sleep_us(1000);
	crowd_doing = "setting the policy of a zombie";
	while (set(pid, &attr) == 0)
		sleep_us(1000);
	EXPECT_EQ(errno, ESRCH);
	EXPECT_EQ(waitpid(pid, NULL, 0), pid);
	EXPECT(set(pid, &attr), -ESRCH);
}

static void zombie(void)
{
	zombie_of(0);
	zombie_of(id_a);
	zombie_of(id_b);
}

/* Threads that change class while they exit. */
static void dying(void)
{
	for (int i = 0; i < 150; i++) {
		struct saakm_attr attr = joining(i % 2 ? id_a : id_b);
		pid_t pid = fork();
		int ret;

		if (!pid) {
			spin(rnd(20000));
			_exit(0);
		}
		for (int k = 0; k < 10; k++) {
			attr.sched_policy = rnd(3) ? SCHED_SAAKM : SCHED_OTHER;
			attr.sched_saakm_policy = rnd(2) ? id_a : id_b;
			ret = RESULT(set(pid, &attr));
			if (ret && ret != -ESRCH)
				EXPECT_EQ(ret, 0);
		}
		waitpid(pid, NULL, 0);
	}
}

/* --- permissions --- */

static void as_nobody(void)
{
	struct rlimit none = { 0, 0 };

	EXPECT(setrlimit(RLIMIT_NICE, &none), 0);
	EXPECT(setgid(NOBODY), 0);
	EXPECT(setuid(NOBODY), 0);
}

/* One's own threads may join and leave. */
static void nobody_joins(void)
{
	struct saakm_attr attr = joining(id_a), other = { .size = 64 };
	pid_t child;

	as_nobody();
	EXPECT(set(0, &attr), 0);
	EXPECT_IN(0, id_a, 0, 0);
	attr.sched_saakm_policy = id_b;
	EXPECT(set(0, &attr), 0);
	EXPECT_IN(0, id_b, 0, 0);
	EXPECT(set(0, &other), 0);
	EXPECT_IN(0, 0, 0, 0);
	child = waiting_child();
	EXPECT(set(child, &attr), 0);
	EXPECT_IN(child, id_b, 0, 0);
	end_child(child);
}

/* Others' may not. */
static pid_t others_child;

static void nobody_takes_others(void)
{
	struct saakm_attr attr = joining(id_a);

	as_nobody();
	EXPECT(set(others_child, &attr), -EPERM);
	EXPECT(set(1, &attr), -EPERM);
}

static void nobody_nice(void)
{
	struct saakm_attr attr = joining(id_a);

	as_nobody();
	attr.sched_nice = -1;
	EXPECT(set(0, &attr), -EPERM);
	EXPECT_IN(0, 0, 0, 0);
	attr.sched_nice = 5;
	EXPECT(set(0, &attr), 0);
	EXPECT_IN(0, id_a, 5, 0);
	attr.sched_nice = 4;
	EXPECT(set(0, &attr), -EPERM);
	attr.sched_saakm_policy = id_b;
	EXPECT(set(0, &attr), -EPERM);
	EXPECT_IN(0, id_a, 5, 0);
	EXPECT(setpriority(PRIO_PROCESS, 0, 4), -EACCES);
}

/* Joining is no way around the limits of other scheduling policies. */
static void nobody_escapes(void)
{
	struct saakm_attr idle = { .size = 64, .sched_policy = SCHED_IDLE };
	struct saakm_attr rt = { .size = 64, .sched_policy = SCHED_FIFO, .sched_priority = 1 };
	struct saakm_attr attr = joining(id_a);

	as_nobody();
	attr.sched_flags = FLAG_RESET_ON_FORK;
	EXPECT(set(0, &attr), 0);
	attr.sched_flags = 0;
	EXPECT(set(0, &attr), -EPERM);
	attr.sched_flags = FLAG_RESET_ON_FORK;
	EXPECT(set(0, &rt), -EPERM);
	EXPECT_EQ(get(0).sched_saakm_policy, id_a);
	idle.sched_flags = FLAG_RESET_ON_FORK;
	EXPECT(set(0, &idle), 0);
	EXPECT(set(0, &attr), -EPERM);
	EXPECT(sched_getscheduler(0), SCHED_IDLE | SCHED_RESET_ON_FORK);
}

static void permissions(void)
{
	others_child = waiting_child();
	EXPECT_EQ(in_child(nobody_joins), 0);
	EXPECT_EQ(in_child(nobody_takes_others), 0);
	EXPECT_EQ(in_child(nobody_nice), 0);
	EXPECT_EQ(in_child(nobody_escapes), 0);
	EXPECT_IN(others_child, 0, 0, 0);
	end_child(others_child);
}

static const struct abi_case cases[] = {
	{ "inherit_fork", inherit_fork },
	{ "inherit_thread", inherit_thread },
	{ "inherit_exec", inherit_exec },
	{ "after_exec", after_exec },
	{ "independent", independent },
	{ "reset_on_fork", reset_on_fork },
	{ "zombie", zombie },
	{ "dying", dying },
	{ "permissions", permissions },
	{}
};

int main(int argc, char **argv)
{
	return run_cases(cases, argc, argv);
}
