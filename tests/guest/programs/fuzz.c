// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz SEED COUNT POLICY_ID...
 *
 * Random calls and writes, right and wrong, in the grammar below, about the
 * threads of a crowd of processes. Afterwards every one of them must get on as a
 * fair thread. The same seed makes the same calls.
 */
#include "crowd.h"
#include <fcntl.h>

#define MEMBERS 16
#define MOST_IDS 8
#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

static uint64_t state;
static uint32_t ids[MOST_IDS + 2];	/* the policies', then wrong ones */
static unsigned int nr_ids;
static unsigned long done, succeeded;

/* splitmix64 */
static uint64_t random64(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static unsigned int below(unsigned int n)
{
	return random64() % n;
}

static bool one_in(unsigned int n)
{
	return !below(n);
}

static void count(long ret)
{
	done++;
	succeeded += ret >= 0;
}

static pid_t some_thread(void)
{
	if (one_in(20))
		return (pid_t[]){ 0, -1, 1, 2, 999999 }[below(5)];
	return crowd->members[below(crowd->nr)].tid;
}

static uint32_t some_policy(void)
{
	static const uint32_t known[] = { 0, 3, 5, 7, SCHED_SAAKM, SCHED_SAAKM, SCHED_SAAKM };

	if (one_in(12))	/* real-time and deadline, which may keep a CPU for a while */
		return (uint32_t[]){ 1, 2, 6 }[below(3)];
	return one_in(15) ? (uint32_t)random64() : known[below(LENGTH(known))];
}

/* --- the grammar --- */

static void do_setattr(void)
{
	static const uint64_t times[] = { 0, 1, 1000000, 10000000, 100000000, UINT64_MAX };
	static const uint32_t sizes[] = { 0, 1, 47, 48, 56, 63, 64, 65, 72, 4096, UINT32_MAX };
	struct saakm_attr attr[2] = { {
		.size = one_in(8) ? sizes[below(LENGTH(sizes))] : sizeof(attr[0]),
		.sched_policy = some_policy(),
		.sched_flags = one_in(4) ? random64() & 0x7f : one_in(20) ? random64() : 0,
		.sched_nice = (int)below(60) - 30,
		.sched_priority = one_in(4) ? below(120) : 0,
		.sched_runtime = one_in(6) ? times[below(LENGTH(times))] : 0,
		.sched_deadline = one_in(6) ? times[below(LENGTH(times))] : 0,
		.sched_period = one_in(6) ? times[below(LENGTH(times))] : 0,
		.sched_util_min = one_in(10) ? below(2000) : 0,
		.sched_util_max = one_in(10) ? below(2000) : 0,
		.sched_saakm_policy = one_in(20) ? random64() : ids[below(nr_ids)],
		.sched_saakm_param = one_in(3) ? random64() : 0,
	} };

	/* The one above all would keep the fuzzer waiting. */
	if (attr->sched_policy == 1 || attr->sched_policy == 2)
		attr->sched_priority = 1 + below(3);
	count(syscall(SYS_sched_setattr, some_thread(), one_in(50) ? NULL : attr,
		      one_in(30) ? below(4) : 0));
}

static void do_getattr(void)
{
	char buffer[128];

	count(syscall(SYS_sched_getattr, some_thread(), buffer, below(sizeof(buffer)), 0));
}

static void do_setscheduler(void)
{
	struct sched_param param = { .sched_priority = one_in(3) ? below(4) : 0 };

	count(syscall(SYS_sched_setscheduler, some_thread(), some_policy(), &param));
}

static void do_setparam(void)
{
	struct sched_param param = { .sched_priority = one_in(3) ? below(4) : 0 };

	count(syscall(SYS_sched_setparam, some_thread(), &param));
}

static void do_affinity(void)
{
	uint64_t mask = one_in(10) ? random64() : 1 + below(15);

	count(syscall(SYS_sched_setaffinity, some_thread(), one_in(10) ? below(16) : 8, &mask));
}

static void do_nice(void)
{
	count(setpriority(PRIO_PROCESS, some_thread(), (int)below(50) - 25));
}

static void do_stop(void)
{
	pid_t pid = crowd->members[below(crowd->nr)].tid;

	count(kill(pid, SIGSTOP));
	if (one_in(2))
		sched_yield();
	count(kill(pid, SIGCONT));
}

static void do_read(void)
{
	static const char * const files[] = {
		"/proc/saakm/policies", "/proc/saakm/ejected", "/proc/saakm/topology",
		"/sys/kernel/saakm/last_error", "/sys/kernel/saakm/last_replacement",
		"/sys/kernel/debug/saakm/runqueues", "/sys/kernel/debug/saakm/dump",
		"/sys/kernel/saakm/server_runtime_us",
	};
	static char buffer[1 << 16];
	/* Chosen beforehand: how much there is to read is not the seed's. */
	unsigned int size = 1 + below(sizeof(buffer)), reads = 1 + below(20);
	char path[64];
	int fd;

	if (one_in(3))
		fd = open(files[below(LENGTH(files))], O_RDONLY);
	else
		fd = snprintf(path, sizeof(path), "/proc/%d/saakm", some_thread()) > 0 ?
			open(path, O_RDONLY) : -1;
	count(fd);
	if (fd < 0)
		return;
	while (reads-- && read(fd, buffer, size) > 0)
		;
	close(fd);
}

static void do_write(void)
{
	static const char * const files[] = {
		"check_transitions", "log_violations", "history", "server_runtime_us",
		"server_period_us", "floor_runtime_us", "floor_period_us", "eject",
		"violations", "last_error",
	};
	static const char * const words[] = {
		"", "0", "1", "-1", "y", "warn", "50000", "100", "1000000", "4294967296",
		"999999999999999999999", "nobody", "%s%n", "\n", "0x10", "1 2",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	};
	const char *word = words[below(LENGTH(words))];
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/saakm/%s", files[below(LENGTH(files))]);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return;
	count(write(fd, word, strlen(word)));
	close(fd);
}

static void do_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	count(pid);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void (*const operations[])(void) = {
	do_setattr, do_setattr, do_setattr, do_setattr, do_getattr, do_setscheduler, do_setparam,
	do_affinity, do_affinity, do_nice, do_stop, do_read, do_write, do_fork,
};

/* As they were: fair, not stopped, on all CPUs. */
static void calm_one(pid_t pid)
{
	uint64_t mask = ~0ull;

	kill(pid, SIGCONT);
	syscall(SYS_sched_setaffinity, pid, sizeof(mask), &mask);
	if (saakm_setattr(pid, SCHED_OTHER, 0, 0, 0))
		die("back to fair: %d", pid);
}

static void calm_down(void)
{
	/* init and kthreadd, see some_thread() */
	calm_one(1);
	calm_one(2);
	for (unsigned int i = 0; i < crowd->nr; i++)
		calm_one(crowd->members[i].tid);
}

int main(int argc, char **argv)
{
	unsigned long n;

	if (argc < 4 || argc > 3 + MOST_IDS)
		fail("fuzz SEED COUNT POLICY_ID...");
	state = strtoull(argv[1], NULL, 0);
	n = strtoul(argv[2], NULL, 0);
	for (int i = 3; i < argc; i++)
		ids[nr_ids++] = atoi(argv[i]);
	ids[nr_ids++] = 0;
	ids[nr_ids++] = 77777;
	limit_seconds(100);
	crowd_new(MEMBERS, 0, true);
	/* All sleep now and then: a real-time one that does not keeps its CPU. */
	for (unsigned int i = 0; i < crowd->nr; i++)
		crowd->members[i].kind = (enum kind[]){ SLEEP, WAKE, NAP }[i % 3];
	crowd_start();
	crowd_moves(20, "before");
	crowd_doing = "fuzzing";
	while (done < n)
		operations[below(LENGTH(operations))]();
	calm_down();
	crowd_moves(30, "after");
	crowd_is(SCHED_OTHER, "after");
	crowd_end();
	printf("%lu calls, %lu succeeded\n", done, succeeded);
	return 0;
}
