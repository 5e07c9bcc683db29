/* SPDX-License-Identifier: GPL-2.0 */
/* Threads and processes that a test program does something to. */
#ifndef SUBJECT_H
#define SUBJECT_H

#include "saakm_user.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define PATIENCE_NS	(2000 * 1000000000ull)	/* until something counts as not happening */

/* Policy under test: the programs' second argument. */
static uint32_t policy_id;

/* Shared with forked processes. */
static struct shared {
	volatile int stop;
	volatile int step;
	volatile uint64_t progress;
} *shared;

static inline void make_shared(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
}

/* The host looks for the events of these. */
static inline void tell(const char *name, pid_t tid)
{
	printf("%s %d\n", name, tid);
	fflush(stdout);
}

/* Polls; sleeping, so that it does not disturb whom it waits for. */
#define AWAIT(condition)						\
do {									\
	uint64_t end_ = now_ns(CLOCK_MONOTONIC) + PATIENCE_NS;		\
									\
	while (!(condition)) {						\
		if (now_ns(CLOCK_MONOTONIC) > end_)			\
			die("line %d: never happened: %s", __LINE__, #condition); \
		sleep_ms(1);						\
	}								\
} while (0)

static inline bool in_state(pid_t tid, const char *wanted)
{
	char state[32];

	return !strcmp(saakm_state(tid, state), wanted);
}

static inline bool is_member(pid_t tid)
{
	char state[32];

	return *saakm_state(tid, state);
}

/* What the kernel says of it: 'S', 'D' */
static inline char kernel_state(pid_t pid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		die("%s", path);
	fclose(file);
	return state;
}

/*
 * Neither on a CPU nor queued for one. Who is about to sleep has the state of those that do
 * already, and may be preempted then; who reads this file waits for the end of that.
 */
static inline bool is_asleep(pid_t pid)
{
	char path[64], word[16];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%15s", word) != 1)
		die("%s", path);
	fclose(file);
	return strcmp(word, "running");
}

struct subject {
	pthread_t thread;
	volatile pid_t tid;
	void (*body)(struct subject *self);
	int cpu;		/* -1: any */
	volatile int stop;
	volatile uint64_t progress;
};

static inline void *subject_main(void *arg)
{
	struct subject *self = arg;

	if (self->cpu >= 0)
		pin(0, self->cpu);
	self->tid = gettid_();
	self->body(self);
	return NULL;
}

/* Starts outside any policy, if the caller is. */
static inline void subject_start(struct subject *self, void (*body)(struct subject *), int cpu)
{
	*self = (struct subject) { .body = body, .cpu = cpu };
	if (pthread_create(&self->thread, NULL, subject_main, self))
		die("pthread_create");
	AWAIT(self->tid);
}

static inline void subject_stop(struct subject *self)
{
	self->stop = 1;
	if (pthread_join(self->thread, NULL))
		die("pthread_join");
}

/* Bodies */

static inline void hog(struct subject *self)
{
	saakm_join(policy_id);
	while (!self->stop)
		self->progress++;
}

static inline void sleeper(struct subject *self)
{
	saakm_join(policy_id);
	while (!self->stop) {
		sleep_ms(5);
		self->progress++;
	}
}

/* Polls the flag from outside any policy until told to stop. */
static inline void idler(struct subject *self)
{
	while (!self->stop)
		sleep_ms(2);
}

/* A process instead of a thread: the body gets the child's place. */
static inline pid_t process_start(void (*body)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		body();
		_exit(0);
	}
	return pid;
}

static inline void process_reap(pid_t pid, int signal)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	if (signal ? !WIFSIGNALED(status) || WTERMSIG(status) != signal :
	    !WIFEXITED(status) || WEXITSTATUS(status))
		die("process %d ended with status %#x", pid, status);
}

/* Scenarios: programs are called with a scenario's name and the policy's id. */
struct scenario {
	const char *name;
	void (*run)(void);
};

static inline int run_scenario(int argc, char **argv, const struct scenario *scenarios)
{
	if (argc < 3)
		die("usage: %s SCENARIO POLICY_ID", argv[0]);
	policy_id = atoi(argv[2]);
	make_shared();
	for (; scenarios->name; scenarios++) {
		if (!strcmp(scenarios->name, argv[1])) {
			scenarios->run();
			return 0;
		}
	}
	die("there is no scenario '%s'", argv[1]);
}

/* CPU time. */
static inline uint64_t subject_used_ms(const struct subject *s)
{
	clockid_t clock;

	if (pthread_getcpuclockid(s->thread, &clock))
		die("pthread_getcpuclockid");
	return now_ns(clock) / 1000000;
}

#endif /* SUBJECT_H */
