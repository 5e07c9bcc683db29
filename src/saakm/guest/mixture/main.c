// SPDX-License-Identifier: GPL-2.0
/*
 * Groups of processes that run, sleep, wake each other and change their parameters, without an end.
 * The same each time: what is random comes from a generator of their own.
 *
 * Each argument is a group: COUNT*KEY=VALUE,KEY=VALUE... A process does what its keys say in the
 * order of struct group, again and again. A value is a number, or LOW-HIGH: drawn anew each time.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_MEMBERS	256
#define MESSAGE		100

struct range {
	long low, high;
};

struct group {
	int count, number;
	/* what each has from its beginning */
	struct range nice, slice, policy;	/* us; SCHED_NORMAL, BATCH or IDLE */
	/* and does in each round */
	struct range tokens;	/* so many messages are under way: receives one, and passes it on */
	struct range run;	/* us */
	struct range yield;	/* so often, between two tenths of a run */
	struct range renice, reslice, repolicy;	/* another one, in so many rounds of 100 */
	struct range move;	/* likewise: runs on one CPU, then on any */
	struct range fork;	/* so many children, which run as well, and are waited for */
	struct range exec;	/* likewise; they are this program anew */
	struct range sleep;	/* us */
	bool anybody;		/* passes on to anybody, not to the next */
	int pipes[MOST_MEMBERS][2];
};

static uint64_t state;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static long value_of(const struct range *r)
{
	return r->low + (r->high > r->low ? (long)(draw() % (r->high - r->low + 1)) : 0);
}

static bool chance(const struct range *r)
{
	return (long)(draw() % 100) < r->low;
}

static __attribute__((noreturn)) void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* About so long where an instruction takes a nanosecond. */
static void run(long us)
{
	for (volatile long i = us * 1000 / 5; i > 0; i--)
		;
}

static void set_policy(long policy, long slice_us)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = {
		.size = 48, .policy = policy, .nice = getpriority(PRIO_PROCESS, 0),
		.runtime = slice_us * 1000,
	};

	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		fail("sched_setattr");
}

static void change(const struct group *g)
{
	static const long slices[] = { 0, 100, 500, 3000, 20000 };
	static const long policies[] = { SCHED_OTHER, SCHED_OTHER, SCHED_BATCH, SCHED_IDLE };

	if (chance(&g->renice))
		setpriority(PRIO_PROCESS, 0, (long)(draw() % 40) - 20);
	if (chance(&g->reslice))
		set_policy(g->policy.low, slices[draw() % 5]);
	if (chance(&g->repolicy))
		set_policy(policies[draw() % 4], value_of(&g->slice));
}

static void set_cpus(unsigned long mask)
{
	if (syscall(SYS_sched_setaffinity, 0, sizeof(mask), &mask) < 0)
		fail("sched_setaffinity");
}

static void move(const struct group *g)
{
	if (!chance(&g->move))
		return;
	set_cpus(1ul << draw() % sysconf(_SC_NPROCESSORS_ONLN));
	run(value_of(&g->run));
	set_cpus(-1ul);
}

static void bear(const struct group *g, bool exec)
{
	long count = value_of(exec ? &g->exec : &g->fork);

	for (long i = 0; i < count; i++) {
		char text[16];

		if (fork())
			continue;
		state += i * 977 + getpid();
		snprintf(text, sizeof(text), "%ld", value_of(&g->run));
		if (exec)
			execl("/proc/self/exe", "mixture", "-r", text, NULL);
		run(value_of(&g->run));
		_exit(0);
	}
	while (count-- > 0 && wait(NULL) > 0)
		;
}

static void nap(long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	if (us)
		nanosleep(&t, NULL);
}

static void pass_on(struct group *g, int me)
{
	int to = g->anybody ? (int)(draw() % g->count) : (me + 1) % g->count;
	char message[MESSAGE];

	if (read(g->pipes[me][0], message, MESSAGE) != MESSAGE ||
	    write(g->pipes[to][1], message, MESSAGE) != MESSAGE)
		fail("pipe");
}

static __attribute__((noreturn)) void live(struct group *g, int me)
{
	state = 88172645463325252ull + g->number * 7919 + me * 104729;
	prctl(PR_SET_TIMERSLACK, 1);
	setpriority(PRIO_PROCESS, 0, value_of(&g->nice));
	if (g->slice.high || g->policy.high)
		set_policy(value_of(&g->policy), value_of(&g->slice));
	for (;;) {
		if (g->tokens.low)
			pass_on(g, me);
		run(value_of(&g->run));
		for (long n = value_of(&g->yield); n > 0; n--) {
			sched_yield();
			run(value_of(&g->run) / 10);
		}
		change(g);
		move(g);
		bear(g, false);
		bear(g, true);
		nap(value_of(&g->sleep));
	}
}

static void begin(struct group *g)
{
	static const char message[MESSAGE];

	for (int i = 0; g->tokens.low && i < g->count; i++)
		if (pipe(g->pipes[i]))
			fail("pipe");
	for (long i = 0; i < g->tokens.low; i++)
		if (write(g->pipes[i % g->count][1], message, MESSAGE) != MESSAGE)
			fail("write");
	for (int i = 0; i < g->count; i++)
		if (!fork())
			live(g, i);
}

static struct range *range_of(struct group *g, const char *key)
{
	const struct {
		const char *key;
		struct range *range;
	} known[] = {
		{ "nice", &g->nice }, { "slice", &g->slice }, { "policy", &g->policy },
		{ "run", &g->run }, { "yield", &g->yield },
		{ "renice", &g->renice }, { "reslice", &g->reslice },
		{ "repolicy", &g->repolicy }, { "move", &g->move },
		{ "fork", &g->fork }, { "exec", &g->exec },
		{ "sleep", &g->sleep }, { "ring", &g->tokens }, { "toss", &g->tokens },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(key, known[i].key))
			return known[i].range;
	fprintf(stderr, "mixture: there is no key '%s'\n", key);
	exit(2);
}

static void parse(struct group *g, char *text)
{
	char *word = strchr(text, '*'), *rest = NULL;

	*g = (struct group) { .count = atoi(text), .number = g->number };
	if (!word || g->count < 1 || g->count > MOST_MEMBERS) {
		fprintf(stderr, "mixture: '%s' is no group: COUNT*KEY=VALUE,...\n", text);
		exit(2);
	}
	for (word = strtok_r(word + 1, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		char *value = strchr(word, '='), *high;
		struct range *range;

		if (value)
			*value++ = 0;
		range = range_of(g, word);
		range->low = range->high = value ? strtol(value, &high, 10) : 0;
		if (value && *high == '-')
			range->high = strtol(high + 1, NULL, 10);
		g->anybody |= !strcmp(word, "toss");
	}
}

int main(int argc, char **argv)
{
	static struct group group;
	struct timespec interval;

	if (argc == 3 && !strcmp(argv[1], "-r")) {
		run(atol(argv[2]));
		return 0;
	}
	/* Whoever records what the kernel's scheduler is asked begins to count here. */
	sched_rr_get_interval(0, &interval);
	for (group.number = 1; group.number < argc; group.number++) {
		parse(&group, argv[group.number]);
		begin(&group);
	}
	for (;;)
		wait(NULL);
}
