/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A crowd: threads or processes that block, yield and wake each other in several
 * ways, each with a counter. A thread whose counter stands still was lost.
 */
#ifndef CROWD_H
#define CROWD_H

#include "saakm_user.h"
#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define CROWD_MAX 4096

enum kind {
	YIELD,		/* runs, yields */
	SLEEP,		/* runs, sleeps a little: also a target of delayed dequeue */
	WAKE,		/* wakes one other, waits to be woken */
	BURN,		/* runs for long, yields */
	NAP,		/* sleeps most of the time */
	NR_KINDS
};

struct member {
	volatile uint64_t progress;
	uint64_t seen;
	volatile uint32_t word;		/* futex of WAKE */
	volatile pid_t tid;
	enum kind kind;
	pthread_t thread;
};

static struct crowd {
	volatile int stop;
	volatile uint64_t total;	/* for storms that count something */
	unsigned int nr;
	uint32_t policy;		/* to join; 0: stay fair */
	bool processes;
	void (*round)(struct member *m);	/* instead of the usual ones */
	struct member members[CROWD_MAX];
} *crowd;

static const char *crowd_doing = "starting";

static inline void __attribute__((noreturn, format(printf, 1, 2)))
fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	if (crowd)
		crowd->stop = 1;
	exit(1);
}

/* Not 0: rnd() repeats. */
static uint32_t crowd_seed;

/* xorshift, one state a thread: every run takes another path, none is special */
static inline uint32_t rnd(uint32_t below)
{
	static __thread uint32_t x;

	if (!x)
		x = (uint32_t)gettid_() * 2654435761u ^
		    (crowd_seed ? crowd_seed * 40503u : (uint32_t)now_ns(CLOCK_MONOTONIC));
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x % below;
}

/*
 * At its end the next CPU has a turn: of CPUs that count instructions, QEMU before 8.1 (accel/tcg,
 * "ensure fairness with icount") lets one that never pauses starve the others for seconds.
 */
static inline void spin(unsigned int n)
{
	while (n--)
		__asm__ volatile("");
	__builtin_ia32_pause();
}

static inline void sleep_us(unsigned int us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000l };

	nanosleep(&t, NULL);
}

static inline long futex(volatile uint32_t *word, int op, uint32_t value,
			 const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

/* CPU time that the thread has had. */
static inline uint64_t used_ns(pthread_t thread)
{
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock))
		die("clock of a thread");
	return now_ns(clock);
}

/* Id of a loaded policy, 0 if there is none of this name. */
static inline uint32_t find_policy(const char *name)
{
	char line[256], found[64];
	FILE *file = fopen("/proc/saakm/policies", "r");
	uint32_t id, result = 0;

	if (!file)
		die("/proc/saakm/policies");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%u %63s", &id, found) == 2 && !strcmp(found, name))
			result = id;
	fclose(file);
	return result;
}

static inline uint32_t policy_id(const char *name)
{
	uint32_t id = find_policy(name);

	if (!id)
		fail("policy %s is not loaded", name);
	return id;
}

static inline int nr_cpus(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

/* --- what the members do --- */

static inline void round_wake(struct member *m)
{
	static const struct timespec timeout = { 0, 2000000 };
	struct member *other = &crowd->members[rnd(crowd->nr)];
	uint32_t word = m->word;

	other->word++;
	futex(&other->word, FUTEX_WAKE, 1, NULL);
	futex(&m->word, FUTEX_WAIT, word, &timeout);
}

static inline void usual_round(struct member *m)
{
	switch (m->kind) {
	case YIELD:
		spin(2000);
		sched_yield();
		break;
	case SLEEP:
		spin(5000 + rnd(50000));
		sleep_us(50 + rnd(500));
		break;
	case WAKE:
		round_wake(m);
		break;
	case BURN:
		spin(500000);
		sched_yield();
		break;
	default:
		sleep_us(20000);
	}
}

static inline void *member_main(void *arg)
{
	struct member *m = arg;

	m->tid = gettid_();
	if (crowd->policy)
		saakm_join(crowd->policy);
	while (!crowd->stop) {
		crowd->round(m);
		m->progress++;
	}
	return NULL;
}

/* --- start and end --- */

static inline void start_thread(struct member *m)
{
	pthread_attr_t attr;
	int ret;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	ret = pthread_create(&m->thread, &attr, member_main, m);
	if (ret) {
		errno = ret;
		die("pthread_create");
	}
}

static inline void start_process(struct member *m)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		member_main(m);
		_exit(0);
	}
	m->tid = pid;
}

static inline void start_member(struct member *m)
{
	if (crowd->processes)
		start_process(m);
	else
		start_thread(m);
}

static inline void crowd_new(unsigned int nr, uint32_t policy, bool processes)
{
	crowd = mmap(NULL, sizeof(*crowd), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (crowd == MAP_FAILED || nr > CROWD_MAX)
		die("crowd of %u", nr);
	crowd->nr = nr;
	crowd->policy = policy;
	crowd->processes = processes;
	crowd->round = usual_round;
	for (unsigned int i = 0; i < nr; i++)
		crowd->members[i].kind = i % NR_KINDS;
}

static inline void crowd_start(void)
{
	for (unsigned int i = 0; i < crowd->nr; i++)
		start_member(&crowd->members[i]);
}

static inline void crowd_end(void)
{
	crowd->stop = 1;
	for (unsigned int i = 0; i < crowd->nr; i++) {
		struct member *m = &crowd->members[i];

		if (!crowd->processes)
			pthread_join(m->thread, NULL);
		else if (waitpid(m->tid, NULL, 0) < 0)
			die("waitpid %d", m->tid);
	}
}

/* --- is everybody there? --- */

static inline void show_file(pid_t tid, const char *name)
{
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		fprintf(stderr, "    %s", line);
	if (file)
		fclose(file);
}

static inline void show_member(struct member *m)
{
	fprintf(stderr, "  member %d, tid %d, kind %d, progress %llu, policy %d\n",
		(int)(m - crowd->members), m->tid, m->kind,
		(unsigned long long)m->progress, sched_getscheduler(m->tid));
	show_file(m->tid, "saakm");
	show_file(m->tid, "stat");
	show_file(m->tid, "stack");
}

static inline unsigned int count_stuck(void)
{
	unsigned int stuck = 0;

	for (unsigned int i = 0; i < crowd->nr; i++)
		stuck += crowd->members[i].progress == crowd->members[i].seen;
	return stuck;
}

/* Every member gets on from here, or we fail and show those that do not. */
static inline void crowd_moves(unsigned int seconds, const char *when)
{
	/* Members burn CPU, so that the clock does not leap; the host may be busy elsewhere. */
	uint64_t end = now_ns(CLOCK_MONOTONIC) + seconds * 8 * 1000000000ull;
	unsigned int shown = 0;

	crowd_doing = when;
	for (unsigned int i = 0; i < crowd->nr; i++)
		crowd->members[i].seen = crowd->members[i].progress;
	while (count_stuck() && now_ns(CLOCK_MONOTONIC) < end)
		sleep_ms(5);
	if (!count_stuck())
		return;
	fprintf(stderr, "%s: %u of %u threads do not move within %u s:\n", when,
		count_stuck(), crowd->nr, seconds);
	for (unsigned int i = 0; i < crowd->nr && shown < 4; i++) {
		struct member *m = &crowd->members[i];

		if (m->progress == m->seen && ++shown)
			show_member(m);
	}
	fail("threads were lost");
}

/* All members have this scheduling policy. */
static inline void crowd_is(int policy, const char *when)
{
	for (unsigned int i = 0; i < crowd->nr; i++) {
		struct member *m = &crowd->members[i];
		int got = sched_getscheduler(m->tid);

		if (got == policy)
			continue;
		show_member(m);
		fail("%s: a thread has scheduling policy %d instead of %d", when,
		     got, policy);
	}
}

/* --- a limit that shows who was at fault --- */

static void (*show_more)(void);

static inline void time_is_up(int signal)
{
	(void)signal;
	fprintf(stderr, "time is up while: %s\n", crowd_doing);
	for (unsigned int i = 0; crowd && i < crowd->nr && i < 4; i++)
		show_member(&crowd->members[i]);
	if (show_more)
		show_more();
	_exit(1);
}

/*
 * On an idle host and without a leap of the clock, which a guest in counted time makes while it
 * waits for a file of the host's; what hangs is ended from outside as well.
 */
#define CROWD_PATIENCE	1000

static inline void limit_seconds(unsigned int seconds)
{
	signal(SIGALRM, time_is_up);
	alarm(seconds * CROWD_PATIENCE);
}

#endif /* CROWD_H */
