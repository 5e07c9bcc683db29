// SPDX-License-Identifier: GPL-2.0
/*
 * Threads of a policy that gives slices, and knows classes.
 *	dispatched classes POLICY_ID	two hogs of different classes on a CPU, then of one class
 *	dispatched wakes POLICY_ID	how many of three hogs had a turn before a thread that woke
 *	dispatched where POLICY_ID	8 hogs: says how often each was seen on CPU 0 to 3
 *	dispatched bound POLICY_ID	the same beside one that may run on CPU 3 alone
 *	dispatched forever POLICY_ID	8 hogs, until the program is killed
 */
#include "subject.h"
#include <semaphore.h>

#define CPU	1
#define HOGS	8

static struct subject hogs[HOGS + 1];

/* Only who runs writes it: all are on one CPU. */
static volatile pid_t had_the_cpu;
static volatile int nr_turns;

static void takes_turns(struct subject *self)
{
	saakm_join(policy_id);
	while (!self->stop) {
		self->progress++;
		if (had_the_cpu == self->tid)
			continue;
		had_the_cpu = self->tid;
		nr_turns++;
	}
}

static void give_class(const struct subject *subject, int class)
{
	int ret = saakm_setattr(subject->tid, SCHED_SAAKM, policy_id, 0, class);

	if (ret)
		die("sched_setattr: %d", ret);
}

static void end(int n)
{
	for (int i = 0; i < n; i++)
		hogs[i].stop = 1;
	for (int i = 0; i < n; i++)
		subject_stop(&hogs[i]);
}

static void classes(void)
{
	uint64_t before[2];

	for (int i = 0; i < 2; i++)
		subject_start(&hogs[i], takes_turns, CPU);
	AWAIT(hogs[0].progress && hogs[1].progress);
	give_class(&hogs[1], 3);
	/* The other one may have had the CPU until then, or been given it already. */
	before[1] = hogs[1].progress;
	AWAIT(hogs[1].progress > before[1] + 3000000);
	AWAIT(in_state(hogs[0].tid, "READY"));
	before[0] = hogs[0].progress;
	before[1] = hogs[1].progress;
	AWAIT(hogs[1].progress > before[1] + 1000000);
	if (hogs[0].progress != before[0])
		die("the lower class ran");
	give_class(&hogs[1], 0);
	AWAIT(hogs[0].progress > before[0] + 1000000);
	end(2);
}

static sem_t wake;
static volatile int turns_now;

static void waits(struct subject *self)
{
	saakm_join(policy_id);
	while (!self->stop) {
		sem_wait(&wake);
		turns_now = nr_turns;
		self->progress++;
	}
}

/* Who goes to the front runs when the turn under way ends; at the back, two others go first. */
static void wakes(void)
{
	enum { N = 3, TIMES = 20 };
	struct subject *sleeper = &hogs[N];
	int most = 0, least = 1 << 30, earlier, later;

	sem_init(&wake, 0, 0);
	subject_start(sleeper, waits, CPU);
	for (int i = 0; i < N; i++)
		subject_start(&hogs[i], takes_turns, CPU);
	AWAIT(nr_turns > N);
	for (int i = 0; i < TIMES; i++) {
		uint64_t before = sleeper->progress;

		AWAIT(in_state(sleeper->tid, "BLOCKED"));
		/* A turn may end while it is woken. */
		earlier = nr_turns;
		sem_post(&wake);
		later = nr_turns;
		AWAIT(sleeper->progress > before);
		most = turns_now - later > most ? turns_now - later : most;
		least = turns_now - earlier < least ? turns_now - earlier : least;
	}
	printf("%d %d\n", least, most);
	sleeper->stop = 1;
	sem_post(&wake);
	end(N + 1);
}

/* --- on CPUs --- */

static volatile uint64_t seen[HOGS + 1][4];

/* It may run everywhere, if it is not bound. */
static void looks(struct subject *self)
{
	volatile uint64_t *mine = seen[self - hogs];
	cpu_set_t all;

	if (self->cpu < 0) {
		memset(&all, 0xff, sizeof(all));
		if (sched_setaffinity(0, sizeof(all), &all))
			die("sched_setaffinity");
	}
	saakm_join(policy_id);
	while (!self->stop) {
		mine[sched_getcpu() & 3]++;
		self->progress++;
	}
}

static void all_get_on(int n)
{
	for (int i = 0; i < n; i++) {
		uint64_t before = hogs[i].progress;

		AWAIT(hogs[i].progress > before + 100000);
	}
}

static void say_where(int n)
{
	for (int i = 0; i < n; i++)
		for (int cpu = 0; cpu < 4; cpu++)
			printf("%llu%c", (unsigned long long)seen[i][cpu], cpu < 3 ? ' ' : '\n');
}

static void where(void)
{
	for (int i = 0; i < HOGS; i++)
		subject_start(&hogs[i], looks, -1);
	all_get_on(HOGS);
	say_where(HOGS);
	end(HOGS);
}

static void bound(void)
{
	for (int i = 0; i < HOGS; i++)
		subject_start(&hogs[i], looks, -1);
	subject_start(&hogs[HOGS], looks, 3);
	all_get_on(HOGS + 1);
	say_where(HOGS + 1);
	end(HOGS + 1);
}

static void forever(void)
{
	for (int i = 0; i < HOGS; i++)
		subject_start(&hogs[i], looks, -1);
	printf("they run\n");
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{ "classes", classes }, { "wakes", wakes },
		{ "where", where }, { "bound", bound }, { "forever", forever }, {},
	};

	pin(0, 0);
	return run_scenario(argc, argv, scenarios);
}
