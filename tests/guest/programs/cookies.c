// SPDX-License-Identifier: GPL-2.0
/*
 * cookies POLICY progress|switch COMMAND
 * cookies POLICY overlap|control TIMES
 *
 * Core scheduling: groups of processes with a cookie each. All must get on, while
 * a command runs or while cookies change; or (overlap) it is counted how often
 * siblings are seen running the same and different groups, and printed; control:
 * without cookies, and with another group on each sibling.
 */
#include "crowd.h"
#include <sys/prctl.h>
#include <x86intrin.h>

#define MEMBERS 12
#define COUNTING_CPUS 4		/* 0 to 3 */
#define GROUPS 4
#define FAIR_GROUP 2		/* not in the policy */
#define BARE_GROUP 3		/* no cookie */
#define SWITCHES 400
#define NEAR_CYCLES 60000	/* a thread that was preempted meanwhile takes longer */

static struct slot {
	volatile uint64_t seq;
	volatile unsigned int group;
} __attribute__((aligned(64))) *slots;
static unsigned long *overlaps;	/* of the same group, of different ones */
static unsigned int nr_groups = GROUPS;
static bool strangers;		/* one group to a CPU: else siblings may take turns in step */

static unsigned int group_of(const struct member *m)
{
	unsigned int i = m - crowd->members;

	return (strangers ? i / 2 : i) % nr_groups;
}

static void core_sched(int what, pid_t pid)
{
	/* The last but one: this thread alone. */
	if (prctl(PR_SCHED_CORE, what, pid, 0, 0))
		die("PR_SCHED_CORE %d of %d", what, pid);
}

/* Runs in a process of its own, since sharing changes one's own cookie too. */
static void share(pid_t from, pid_t to)
{
	core_sched(PR_SCHED_CORE_SHARE_FROM, from);
	core_sched(PR_SCHED_CORE_SHARE_TO, to);
}

static void give_cookies(void)
{
	for (unsigned int i = 0; i < crowd->nr; i++) {
		struct member *m = &crowd->members[i];

		if (nr_groups == GROUPS && group_of(m) == BARE_GROUP)
			continue;
		if (i < nr_groups)
			core_sched(PR_SCHED_CORE_CREATE, m->tid);
		else
			share(crowd->members[group_of(m)].tid, m->tid);
	}
}

static void switch_cookies(void)
{
	for (int i = 0; i < SWITCHES; i++) {
		pid_t pid = crowd->members[rnd(crowd->nr)].tid;

		if (rnd(3))
			share(crowd->members[rnd(crowd->nr)].tid, pid);
		else
			core_sched(PR_SCHED_CORE_CREATE, pid);
	}
}

static void in_process(void (*f)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		f();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		fail("changing cookies failed");
}

/* --- progress --- */

/* A fair thread that never sleeps would leave the others little. */
static void round_progress(struct member *m)
{
	if (group_of(m) == FAIR_GROUP) {
		if (!m->progress)
			saakm_leave();
		sleep_us(100 + rnd(1000));
	}
	usual_round(m);
}

static void progress(bool switching, const char *command)
{
	crowd->round = round_progress;
	crowd_start();
	crowd_moves(40, "without cookies");
	in_process(give_cookies);
	crowd_moves(40, "with cookies");
	crowd_doing = "the command";
	if (switching)
		in_process(switch_cookies);
	if (system(command))
		fail("the command failed");
	crowd_moves(40, "in the end");
	crowd_end();
}

/* --- overlap --- */

/* Does the sibling run something while we do? What? */
static void observe(unsigned int cpu, unsigned int group)
{
	struct slot *own = &slots[cpu], *other = &slots[cpu ^ 1];
	uint64_t begin = __rdtsc(), seq = other->seq;
	unsigned int others = other->group;

	for (int i = 0; i < 20; i++) {
		own->group = group;
		own->seq++;
		spin(20);
	}
	if (other->seq == seq || other->group != others ||
	    __rdtsc() - begin > NEAR_CYCLES || sched_getcpu() != (int)cpu)
		return;
	__atomic_add_fetch(&overlaps[others != group], 1, __ATOMIC_RELAXED);
}

/* Two members of each CPU, with cookies one of each group: no placement keeps them apart. */
static void round_overlap(struct member *m)
{
	if (!m->progress)
		pin(0, (m - crowd->members) / 2);
	for (int i = 0; i < 200; i++)
		observe(sched_getcpu(), group_of(m));
	if (m->progress % 4 == 0)
		sched_yield();
	if (m->progress % 64 == 0)
		sleep_us(500);
}

static void overlap(bool with_cookies, unsigned long wanted)
{
	crowd->round = round_overlap;
	crowd_start();
	crowd_moves(40, "without cookies");
	if (with_cookies)
		in_process(give_cookies);
	crowd_moves(40, "with cookies");
	overlaps[0] = overlaps[1] = 0;
	crowd_doing = "waiting for overlaps";
	while (overlaps[0] + overlaps[1] < wanted)
		sleep_ms(10);
	printf("%lu %lu\n", overlaps[0], overlaps[1]);
	crowd_moves(40, "in the end");
	crowd_end();
}

static void *shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		die("mmap");
	return memory;
}

int main(int argc, char **argv)
{
	bool counting;

	if (argc != 4)
		fail("cookies POLICY MODE ARGUMENT");
	limit_seconds(100);
	counting = argv[2][0] == 'o' || argv[2][0] == 'c';
	crowd_new(counting ? 2 * COUNTING_CPUS : MEMBERS, policy_id(argv[1]), true);
	slots = shared_memory(64 * sizeof(*slots));
	overlaps = shared_memory(2 * sizeof(*overlaps));
	if (counting) {
		nr_groups = 2;
		strangers = argv[2][0] == 'c';
		overlap(!strangers, atol(argv[3]));
	} else {
		progress(argv[2][0] == 's', argv[3]);
	}
	return 0;
}
