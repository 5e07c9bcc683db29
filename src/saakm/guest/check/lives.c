// SPDX-License-Identifier: GPL-2.0
/* Births and deaths: who came and went, what was left behind, and in which order. */
#include "check.h"

#include <dirent.h>

enum end { EXITS, FORKS, THREADS, LEAVES, EXECS, SLEEPS, RUNS, NR_ENDS };

static const char * const end_names[] = {
	"exit at once", "fork and wait", "start two threads and join them",
	"leave the policy and come back", "exec", "be killed asleep", "be killed while it runs",
};
/* At least: one may be killed before it has joined. */
static const int joins[] = { 1, 2, 3, 2, 1, 0, 0 };

#define WAVE 14
#define ASLEEP 8
/* kfree_rcu() collects for five seconds; nothing else passes while all sleep. */
#define UNTIL_FREED_MS 12000

static void *thread_main(void *unused)
{
	spin(1000);
	return unused;
}

static void two_threads(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, thread_main, NULL))
			die("pthread_create");
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void live(enum end end, uint32_t policy)
{
	pid_t child;

	saakm_join(policy);
	switch (end) {
	case FORKS:
		child = fork();
		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
		break;
	case THREADS:
		two_threads();
		break;
	case LEAVES:
		saakm_leave();
		saakm_join(policy);
		break;
	case EXECS:
		execl("/proc/self/exe", "init", "again", NULL);
		die("exec");
	case SLEEPS:
		pause();
		break;
	case RUNS:
		while (1)
			spin(100000);
	default:
		break;
	}
	_exit(0);
}

static pid_t start_life(enum end end, uint32_t policy)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid)
		live(end, policy);
	return pid;
}

static void show_where(pid_t pid)
{
	fprintf(stderr, "what /proc/%d/saakm says of it:\n", pid);
	show_file(pid, "saakm");
}

static void bury(pid_t pid, enum end end)
{
	uint64_t deadline = now_ns(CLOCK_MONOTONIC) + PATIENCE_MS * NS_PER_MS;
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (now_ns(CLOCK_MONOTONIC) > deadline) {
			refuse_ejected();
			fprintf(stderr, "thread %d, which was to %s, is not at its end after %d ms\n",
				pid, end_names[end], PATIENCE_MS);
			show_where(pid);
			fail("it was lost, or nobody elects it");
		}
		sleep_ms(1);
	}
	if (status && end != SLEEPS && end != RUNS)
		fail("a thread that was to %s ended with status %#x", end_names[end], status);
}

/* Returns how many threads must have joined. */
static long wave(uint32_t policy, int first)
{
	enum end ends[WAVE];
	pid_t pids[WAVE];
	long joined = 0;

	for (int i = 0; i < WAVE; i++) {
		ends[i] = first + rnd(NR_ENDS - first);
		pids[i] = start_life(ends[i], policy);
		joined += joins[ends[i]];
	}
	sleep_ms(2 + rnd(3));
	for (int i = 0; i < WAVE; i++)
		if (ends[i] == SLEEPS || ends[i] == RUNS)
			kill(pids[i], SIGKILL);
	for (int i = 0; i < WAVE; i++)
		bury(pids[i], ends[i]);
	return joined;
}

void check_lifecycle(void)
{
	uint32_t policy = policy_id(policy_name());
	pid_t asleep[ASLEEP];
	long joined = ASLEEP, waves = scaled(20);
	struct counts c;

	for (int i = 0; i < ASLEEP; i++)
		asleep[i] = start_life(SLEEPS, policy);
	for (long i = 0; i < waves; i++) {
		joined += wave(policy, 0);
		/* Whoever remembers the first touches freed memory now. */
		if (i == waves / 2)
			sleep_ms(UNTIL_FREED_MS);
	}
	expect_threads(ASLEEP, "with some asleep");
	for (int i = 0; i < ASLEEP; i++) {
		kill(asleep[i], SIGKILL);
		bury(asleep[i], SLEEPS);
	}
	expect_threads(0, "when all have ended");
	c = read_counts();
	tried("threads forked, executed, slept, ran, were killed, left and came back: %ld came, "
	      "%ld went", c.new, c.terminated);
	if (c.new < joined)
		fail("only %ld of at least %ld threads were announced by new_place", c.new, joined);
}

/* --- what is left behind --- */

#define CACHES 400

struct cache {
	char name[64];
	long active, size;
};

/* What CPUs have at hand counts as in use. */
static void shrink_caches(void)
{
	DIR *slabs = opendir("/sys/kernel/slab");
	struct dirent *cache;
	char path[320];

	if (!slabs)
		die("/sys/kernel/slab");
	while ((cache = readdir(slabs))) {
		snprintf(path, sizeof(path), "/sys/kernel/slab/%s/shrink", cache->d_name);
		if (cache->d_name[0] != '.')
			write_file(path, "1");
	}
	closedir(slabs);
}

static int read_caches(struct cache caches[CACHES])
{
	char line[512];
	FILE *file;
	int n = 0;

	shrink_caches();
	file = fopen("/proc/slabinfo", "r");
	if (!file)
		die("/proc/slabinfo");
	while (n < CACHES && fgets(line, sizeof(line), file)) {
		struct cache *c = &caches[n];

		/* Other caches are the kernel's, and emptied at its leisure. */
		n += sscanf(line, "%63s %ld %*d %ld", c->name, &c->active, &c->size) == 3 &&
		     !strncmp(c->name, "kmalloc", 7);
	}
	fclose(file);
	return n;
}

static long lives(long waves)
{
	uint32_t policy = policy_id(policy_name());
	long joined = 0;

	for (long i = 0; i < waves; i++)
		joined += wave(policy, 0);
	expect_threads(0, "when all have ended");
	sleep_ms(UNTIL_FREED_MS);
	return joined;
}

void check_leaks(void)
{
	static struct cache before[CACHES], after[CACHES];
	long joined;
	int n;

	lives(scaled(20));
	n = read_caches(before);
	joined = lives(scaled(30));
	if (read_caches(after) != n)
		fail("the kernel's caches are others than before");
	tried("%ld threads lived and died, after as many others", joined);
	for (int i = 0; i < n; i++) {
		long more = after[i].active - before[i].active;

		if (more > joined / 10)
			fail("after %ld threads there are %ld more objects in %s (%ld bytes each): "
			     "what is allocated for a thread must be freed in terminate",
			     joined, more, after[i].name, after[i].size);
	}
}

/* --- order --- */

void check_order(void)
{
	uint32_t policy = policy_id(policy_name());

	trace_start("saakm/saakm_call saakm/saakm_transition");
	for (long i = 0; i < scaled(6); i++)
		wave(policy, 0);
	expect_threads(0, "when all have ended");
	refuse_ejected();
	trace_note("policy %u", policy);
	trace_stop();
}
