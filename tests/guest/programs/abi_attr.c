// SPDX-License-Identifier: GPL-2.0
/* abi_attr POLICY POLICY CASE...: sched_setattr(2) and its relatives. */
#include "abi.h"

#define FLAG_KEEP_POLICY	0x08
#define FLAG_KEEP_PARAMS	0x10
#define FLAG_UNKNOWN		0x80

/* Sizes of struct sched_attr, older and newer than ours. */
static void sizes(void)
{
	union big_attr big = { .attr = joining(id_a) };
	struct saakm_attr *attr = &big.attr;

	attr->sched_nice = 3;
	attr->sched_saakm_param = 77;
	EXPECT(set(0, attr), 0);
	EXPECT_IN(0, id_a, 3, 77);

	/* A newer program that asks for nothing new. */
	attr->size = sizeof(*attr) + 8;
	attr->sched_saakm_param = 78;
	EXPECT(set(0, attr), 0);
	EXPECT_IN(0, id_a, 3, 78);
	attr->size = 4096;
	attr->sched_saakm_param = 79;
	EXPECT(set(0, attr), 0);
	EXPECT_IN(0, id_a, 3, 79);

	/* One that does. The size that the kernel knows is written back. */
	attr->size = sizeof(*attr) + 8;
	attr->sched_saakm_param = 80;
	big.bytes[sizeof(*attr) + 7] = 1;
	EXPECT(set(0, attr), -E2BIG);
	EXPECT_EQ(attr->size, 64);
	EXPECT_IN(0, id_a, 3, 79);

	attr->size = 4097;
	EXPECT(set(0, attr), -E2BIG);
	EXPECT_EQ(attr->size, 64);
	attr->size = 47;
	EXPECT(set(0, attr), -E2BIG);
	EXPECT_EQ(attr->size, 64);
	EXPECT_IN(0, id_a, 3, 79);
}

/* Programs that know nothing of SaaKM: what lies behind their struct is not read. */
static void old_sizes(void)
{
	static const uint32_t old[] = { 0, 48, 56 };
	struct saakm_attr first = joining(id_b);

	EXPECT(set(0, &first), 0);

	for (unsigned int i = 0; i < 3; i++) {
		struct saakm_attr attr = joining(id_a);

		attr.size = old[i];
		EXPECT(set(0, &attr), 0);
		EXPECT_IN(0, i ? id_a : id_b, 0, 0);

		attr.size = sizeof(attr);
		EXPECT(set(0, &attr), 0);
		EXPECT_IN(0, id_a, 0, 0);

		attr = (struct saakm_attr) { .size = old[i], .sched_policy = SCHED_OTHER,
			.sched_nice = 2, .sched_saakm_policy = id_a };
		EXPECT(set(0, &attr), 0);
		EXPECT_IN(0, 0, 2, 0);
		EXPECT(setpriority(PRIO_PROCESS, 0, 0), 0);
	}
}

static void getattr_sizes(void)
{
	static const uint32_t asked[] = { 48, 56, 64, 72, 4096 };
	struct saakm_attr attr = joining(id_a);

	attr.sched_nice = -4;
	attr.sched_saakm_param = 0xdeadbeef;
	EXPECT(set(0, &attr), 0);
	for (unsigned int i = 0; i < 5; i++) {
		uint32_t known = asked[i] < 64 ? asked[i] : 64;
		union big_attr got;

		memset(&got, 0x55, sizeof(got));
		EXPECT(syscall(SYS_sched_getattr, 0, &got, asked[i], 0), 0);
		EXPECT_EQ(got.attr.size, known);
		EXPECT_EQ(got.attr.sched_policy, SCHED_SAAKM);
		EXPECT_EQ(got.attr.sched_nice, -4);
		EXPECT_EQ(got.attr.sched_priority, 0);
		EXPECT_EQ(got.attr.sched_saakm_policy, known == 64 ? id_a : 0x55555555);
		EXPECT_EQ(got.attr.sched_saakm_param, known == 64 ? 0xdeadbeef : 0x55555555);
	}
	EXPECT(syscall(SYS_sched_getattr, 0, &attr, 40, 0), -EINVAL);
	EXPECT(syscall(SYS_sched_getattr, 0, &attr, 4097, 0), -EINVAL);
}

static void ids(void)
{
	static const uint32_t wrong[] = { 0, 999, 0x7fffffff, 0xffffffff };
	struct sched_param param = {};

	for (unsigned int i = 0; i < 4; i++) {
		struct saakm_attr attr = joining(wrong[i]);

		EXPECT(set(0, &attr), -ESRCH);
		EXPECT_IN(0, 0, 0, 0);
	}
	/* The old call carries no id. */
	EXPECT(sched_setscheduler(0, SCHED_SAAKM, &param), -ESRCH);
	EXPECT_IN(0, 0, 0, 0);

	/* Nor does a wrong id push a member out. */
	saakm_join(id_a);
	EXPECT_EQ(saakm_setattr(0, SCHED_SAAKM, 999, 0, 0), -ESRCH);
	EXPECT_IN(0, id_a, 0, 0);
}

/* As cyclictest does: be of another class for a moment, then what one was. */
static void restore(void)
{
	struct sched_param above = { .sched_priority = 1 }, param = {};
	pid_t child;
	int status;

	EXPECT_EQ(saakm_setattr(0, SCHED_SAAKM, id_a, 5, 42), 0);
	for (int i = 0; i < 2; i++) {
		int was = sched_getscheduler(0);

		EXPECT(sched_setscheduler(0, i ? SCHED_FIFO : SCHED_BATCH, i ? &above : &param), 0);
		EXPECT(sched_setscheduler(0, was, &param), 0);
		EXPECT_IN(0, id_a, 5, 42);
		EXPECT(sched_setscheduler(0, was, &param), 0);
		EXPECT_IN(0, id_a, 5, 42);
	}
	/* The last counts. */
	EXPECT_EQ(saakm_setattr(0, SCHED_SAAKM, id_b, 5, 7), 0);
	saakm_leave();
	EXPECT(sched_setscheduler(0, SCHED_SAAKM, &param), 0);
	EXPECT_IN(0, id_b, 0, 7);
	/* Who is born in no policy was in none. */
	saakm_leave();
	child = fork();
	if (!child) {
		EXPECT(sched_setscheduler(0, SCHED_SAAKM, &param), -ESRCH);
		_exit(failures != 0);
	}
	EXPECT_EQ(waitpid(child, &status, 0), child);
	EXPECT_EQ(status, 0);
}

#define RACES 5000

/* Who says "as it is" while another changes it, undoes nothing. */
static void restore_race(void)
{
	struct sched_param param = {};
	pid_t target = fork(), restorer;

	if (!target)
		while (1)
			pause();
	EXPECT_EQ(saakm_setattr(target, SCHED_SAAKM, id_a, 0, 1), 0);
	restorer = fork();
	if (!restorer)
		while (1)
			sched_setscheduler(target, SCHED_SAAKM, &param);
	for (int i = 0; i < RACES && !failures; i++) {
		uint32_t id = i % 2 ? id_a : id_b;

		EXPECT_EQ(saakm_setattr(target, SCHED_SAAKM, id, 0, id), 0);
		EXPECT_IN(target, id, 0, id);
	}
	kill(restorer, SIGKILL);
	kill(target, SIGKILL);
	EXPECT_EQ(waitpid(restorer, NULL, 0), restorer);
	EXPECT_EQ(waitpid(target, NULL, 0), target);
}

static void no_policy(void)
{
	struct sched_param param = {};

	for (uint32_t id = 0; id < 4; id++) {
		struct saakm_attr attr = joining(id);

		EXPECT(set(0, &attr), -ESRCH);
	}
	EXPECT(sched_setscheduler(0, SCHED_SAAKM, &param), -ESRCH);
	EXPECT_IN(0, 0, 0, 0);
}

static void invalid(void)
{
	struct saakm_attr attr = joining(id_a);
	struct sched_param param = { .sched_priority = 1 };

	attr.sched_priority = 1;
	EXPECT(set(0, &attr), -EINVAL);
	attr = joining(id_a);
	attr.sched_flags = FLAG_UNKNOWN;
	EXPECT(set(0, &attr), -EINVAL);
	attr.sched_flags = 1ull << 63;
	EXPECT(set(0, &attr), -EINVAL);
	attr = joining(id_a);
	EXPECT(syscall(SYS_sched_setattr, 0, &attr, 1), -EINVAL);
	EXPECT(syscall(SYS_sched_setattr, -1, &attr, 0), -EINVAL);
	EXPECT(syscall(SYS_sched_setattr, 0, NULL, 0), -EINVAL);
	EXPECT(syscall(SYS_sched_setattr, 0, 8, 0), -EFAULT);
	attr.sched_policy = 9;
	EXPECT(set(0, &attr), -EINVAL);
	attr.sched_policy = -1;
	EXPECT(set(0, &attr), -EINVAL);
	EXPECT_IN(0, 0, 0, 0);

	saakm_join(id_a);
	EXPECT(sched_setparam(0, &param), -EINVAL);
	EXPECT_IN(0, id_a, 0, 0);
	/* Nice values beyond the ends are cut off, as for every policy. */
	attr = joining(id_a);
	attr.sched_nice = 1000;
	EXPECT(set(0, &attr), 0);
	EXPECT_IN(0, id_a, 19, 0);
}

static void keep(void)
{
	struct saakm_attr attr = joining(id_a);
	struct sched_param param = {};

	attr.sched_nice = 5;
	attr.sched_saakm_param = 9;
	EXPECT(set(0, &attr), 0);

	attr = (struct saakm_attr) { .size = 64, .sched_nice = 7,
		.sched_flags = FLAG_KEEP_POLICY };
	EXPECT(set(0, &attr), 0);
	EXPECT_IN(0, id_a, 7, 9);

	attr = (struct saakm_attr) { .size = 64, .sched_nice = 11,
		.sched_flags = FLAG_KEEP_POLICY | FLAG_KEEP_PARAMS };
	EXPECT(set(0, &attr), 0);
	EXPECT_IN(0, id_a, 7, 9);

	attr = joining(id_a);
	attr.sched_flags = FLAG_KEEP_PARAMS;
	attr.sched_nice = 13;
	EXPECT(set(0, &attr), 0);
	EXPECT_IN(0, id_a, 7, 9);

	EXPECT(sched_setparam(0, &param), 0);
	EXPECT_IN(0, id_a, 7, 9);

	/* An old program keeps the policy too. */
	attr = (struct saakm_attr) { .size = 48, .sched_nice = 8,
		.sched_flags = FLAG_KEEP_POLICY };
	EXPECT(set(0, &attr), 0);
	EXPECT_IN(0, id_a, 8, 9);
}

/* What else user space can ask about a scheduling policy. */
static void relatives(void)
{
	struct timespec interval;

	EXPECT(sched_get_priority_min(SCHED_SAAKM), 0);
	EXPECT(sched_get_priority_max(SCHED_SAAKM), 0);
	saakm_join(id_a);
	EXPECT(sched_getscheduler(0), SCHED_SAAKM);
	EXPECT(sched_rr_get_interval(0, &interval), 0);
	EXPECT(setpriority(PRIO_PROCESS, 0, 6), 0);
	EXPECT_IN(0, id_a, 6, 0);
	EXPECT(nice(3), 9);
	EXPECT_IN(0, id_a, 9, 0);
}

/* All ways between SaaKM and the other scheduling policies, in one call each. */
static void in_and_out(void)
{
	static const struct saakm_attr others[] = {
		{ .size = 64, .sched_policy = SCHED_OTHER },
		{ .size = 64, .sched_policy = SCHED_BATCH },
		{ .size = 64, .sched_policy = SCHED_IDLE },
		{ .size = 64, .sched_policy = SCHED_FIFO, .sched_priority = 1 },
		{ .size = 64, .sched_policy = SCHED_RR, .sched_priority = 99 },
		{ .size = 64, .sched_policy = 6 /* SCHED_DEADLINE */,
		  .sched_runtime = 1000000, .sched_deadline = 100000000,
		  .sched_period = 100000000 },
	};

	for (unsigned int i = 0; i < 6; i++) {
		struct saakm_attr attr = others[i], saakm = joining(i % 2 ? id_a : id_b);

		saakm.sched_saakm_param = i;
		EXPECT(set(0, &saakm), 0);
		EXPECT_IN(0, saakm.sched_saakm_policy, 0, i);
		EXPECT(set(0, &attr), 0);
		EXPECT(sched_getscheduler(0), attr.sched_policy);
		EXPECT_EQ(get(0).sched_saakm_policy, 0);
		EXPECT_EQ(get(0).sched_saakm_param, 0);
		sched_yield();
	}
}

static void between_policies(void)
{
	for (int i = 0; i < 100; i++) {
		struct saakm_attr attr = joining(i % 2 ? id_a : id_b);

		attr.sched_nice = i % 20;
		attr.sched_saakm_param = i;
		EXPECT(set(0, &attr), 0);
		EXPECT_IN(0, i % 2 ? id_a : id_b, i % 20, i);
		if (i % 10 == 0)
			sleep_us(100);
	}
}

static const struct abi_case cases[] = {
	{ "sizes", sizes },
	{ "old_sizes", old_sizes },
	{ "getattr_sizes", getattr_sizes },
	{ "ids", ids },
	{ "restore", restore },
	{ "restore_race", restore_race },
	{ "no_policy", no_policy },
	{ "invalid", invalid },
	{ "keep", keep },
	{ "relatives", relatives },
	{ "in_and_out", in_and_out },
	{ "between_policies", between_policies },
	{}
};

int main(int argc, char **argv)
{
	return run_cases(cases, argc, argv);
}
