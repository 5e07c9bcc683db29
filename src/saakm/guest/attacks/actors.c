// SPDX-License-Identifier: GPL-2.0
/* Threads, as processes, that work a little, sleep a little and note how long they had to wait. */
#include "attacks.h"

#include <fcntl.h>
#include <sys/prctl.h>

#define ACTORS 1100
#define CHUNK 2000	/* some microseconds */
#define CHUNKS_PER_MS 75	/* of a CPU that takes 2 ns for an instruction */
#define MOST_NICE 19

static struct {
	volatile enum phase phase;
	volatile bool calm;		/* hogs sleep, too */
	volatile uint32_t own_id;	/* for those who leave the policy and come back */
	unsigned int nr;
	struct actor actors[ACTORS];
} *stage;

void actors_new(void)
{
	stage = mmap(NULL, sizeof(*stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (stage == MAP_FAILED)
		die("mmap");
}

#define for_each_actor(a, of)							\
	for (struct actor *a = stage->actors; a < stage->actors + stage->nr; a++)	\
		if (a->side == (of) && a->pid)

/* It runs: how long has it waited for that? */
static void note(struct actor *a)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC), waited = now > a->due_ns ? now - a->due_ns : 0;

	if (waited > a->longest_ns[stage->phase])
		a->longest_ns[stage->phase] = waited;
	a->due_ns = now;
}

static void work(struct actor *a)
{
	unsigned int chunks = a->work_us * CHUNKS_PER_MS / 1000;

	for (unsigned int i = 0; i < chunks || (a->does == HOGS && !stage->calm); i++) {
		spin(CHUNK);
		note(a);
		if (i % 100 == 99)
			a->rounds++;
	}
}

static void sleep_until(uint64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void rest(struct actor *a)
{
	uint64_t ns = a->sleep_us * NS_PER_US;

	a->due_ns = a->together ? (a->due_ns / ns + 1) * ns : a->due_ns + ns;
	sleep_until(a->due_ns);
	note(a);
}

static void leave_and_join(struct actor *a)
{
	saakm_leave();
	spin(CHUNK);
	/* It may have been ejected meanwhile. */
	if (stage->own_id)
		saakm_setattr(0, SCHED_SAAKM, stage->own_id, a->nice, a->prey);
}

/* In the kernel, in an RCU read section. */
static void read_file(void)
{
	char text[64];
	int fd = open("/proc/wrong_reader", O_RDONLY);

	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text)) < 0)
		die("wrong_reader");
	close(fd);
}

/* A child becomes another program: this one again, which ends at once. */
static void run_program(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execl("/proc/self/exe", "program", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

static void act(struct actor *a)
{
	static const char * const names[NR_SIDES] = { "own", "rr", "fair", "next" };

	prctl(PR_SET_NAME, names[a->side]);
	a->due_ns = now_ns(CLOCK_MONOTONIC);
	while (1) {
		work(a);
		if (a->does == READS)
			read_file();
		if (a->does == EXECS)
			run_program();
		note(a);
		rest(a);
		if (a->does == RESTLESS)
			leave_and_join(a);
		a->rounds++;
	}
}

void actors_start(const struct actor *like, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct actor *a = &stage->actors[stage->nr++];
		pid_t pid;

		if (stage->nr > ACTORS)
			fail("more than %d actors", ACTORS);
		*a = *like;
		a->due_ns = now_ns(CLOCK_MONOTONIC);
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!pid)
			act(a);
		/* Before it is in anybody's list: it may be asked to join a policy at once. */
		saakm_setattr(pid, SCHED_OTHER, 0, 0, 0);
		if (a->cpu >= 0)
			pin(pid, a->cpu);
		a->pid = pid;
	}
}

void actors_calm(void)
{
	stage->calm = true;
}

void actors_phase(enum phase phase)
{
	stage->phase = phase;
}

void actors_join(enum side side, uint32_t id)
{
	if (side == OWN)
		stage->own_id = id;
	for_each_actor(a, side)
		saakm_setattr(a->pid, SCHED_SAAKM, id, a->nice, a->prey);
}

int actors_in(enum side side, int policy)
{
	int nr = 0;

	for_each_actor(a, side)
		nr += sched_getscheduler(a->pid) == policy;
	return nr;
}

void actors_mark(enum side side)
{
	for_each_actor(a, side)
		a->seen_rounds = a->rounds;
}

int actors_stuck(enum side side)
{
	int nr = 0;

	for_each_actor(a, side)
		nr += a->rounds == a->seen_rounds;
	return nr;
}

/* Who still waits has waited until now. */
uint64_t longest_us(enum side side, enum phase phase)
{
	uint64_t longest = 0, now = now_ns(CLOCK_MONOTONIC);

	for_each_actor(a, side) {
		uint64_t waits = phase == stage->phase && now > a->due_ns ? now - a->due_ns : 0;

		waits = waits > a->longest_ns[phase] ? waits : a->longest_ns[phase];
		longest = waits > longest ? waits : longest;
	}
	return longest / NS_PER_US;
}

void change_nice(unsigned int round)
{
	for_each_actor(a, OWN)
		if (a->prey)
			setpriority(PRIO_PROCESS, a->pid, round % (MOST_NICE + 1));
}

void change_affinity(unsigned int round)
{
	for_each_actor(a, OWN)
		if (a->prey)
			pin(a->pid, round % nr_cpus());
}

void actors_end(enum side side)
{
	for_each_actor(a, side)
		kill(a->pid, SIGKILL);
	for_each_actor(a, side) {
		waitpid(a->pid, NULL, 0);
		a->pid = 0;
	}
}
