// SPDX-License-Identifier: GPL-2.0
/* Threads begin, change what the scheduler knows of them, and end. */
#include "player.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "saakm_attr.h"

#define STACK_SIZE	(32 << 10)
#define FLAG_RESET_ON_FORK	1

struct thread threads[MAX_THREADS];
u32 nr_threads;
static char *stacks;
static cpu_set_t possible;

void threads_init(void)
{
	long cpu, count = sysconf(_SC_NPROCESSORS_CONF);

	stacks = mmap(NULL, (size_t)MAX_THREADS * STACK_SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (stacks == MAP_FAILED) {
		perror("memory for stacks");
		exit(2);
	}
	CPU_ZERO(&possible);
	for (cpu = 0; cpu < count; cpu++)
		CPU_SET(cpu, &possible);
}

/* ---- they begin ---- */

static struct thread *new_thread(u32 group, struct thread *parent, u64 origin)
{
	struct thread *t;

	lock_objects();
	t = &threads[nr_threads];
	if (nr_threads == MAX_THREADS)
		fault(parent, "forks: this plays %u threads at most", MAX_THREADS);
	t->group = &program->groups[group];
	t->number = groups[group].next_number++;
	t->parent = parent;
	if (parent)
		parent->alive++;
	nr_threads++;
	unlock_objects();
	t->op = &program->ops[t->group->ops];
	t->origin = t->random = origin;
	t->due_ns = t->sent_ns = NEVER;
	return t;
}

struct thread *begin_thread(u32 group, struct thread *parent, u64 origin, u64 began_ns)
{
	struct thread *t = new_thread(group, parent, origin);
	pthread_attr_t attr;
	pthread_t ignored;
	int error;

	t->launched = !parent;
	t->began_ns = began_ns;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstack(&attr, stacks + (size_t)(t - threads) * STACK_SIZE, STACK_SIZE);
	error = pthread_create(&ignored, &attr, play, t);
	if (error)
		fault(parent, "cannot fork: %s", strerror(error));
	return t;
}

void fork_children(struct thread *t)
{
	u64 left;

	for (left = t->op->a; left; left--) {
		has_been_forked();
		begin_thread(t->op->ref, t, random_child(t->origin, t->op->ref, t->forks++),
			     now_ns());
	}
}

/* ---- they change ---- */

void note(struct thread *t, int result)
{
	if (!result || t->refused)
		return;
	t->refused = errno;
	t->refused_line = t->op->line;
}

void set_nice(struct thread *t, int nice)
{
	note(t, setpriority(PRIO_PROCESS, 0, nice));
}

void set_cpus(struct thread *t, struct program_cpus cpus)
{
	cpu_set_t wanted, has;
	u32 i;
	int cpu;

	CPU_ZERO(&wanted);
	if (!cpus.count)
		wanted = possible;
	for (i = 0; i < cpus.count; i++) {
		const struct program_range *range = &program->ranges[cpus.first + i];

		for (cpu = range->first; cpu <= range->last && cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &possible))
				CPU_SET(cpu, &wanted);
	}
	CPU_ZERO(&has);
	sched_getaffinity(0, sizeof(has), &has);
	if (CPU_COUNT(&wanted) && !CPU_EQUAL(&wanted, &has))
		note(t, sched_setaffinity(0, sizeof(wanted), &wanted));
}

static u32 number_of(struct program_policy policy)
{
	static const u32 numbers[] = {
		[PROGRAM_MAIN] = SCHED_SAAKM, [PROGRAM_SAAKM] = SCHED_SAAKM,
		[PROGRAM_FAIR] = SCHED_OTHER, [PROGRAM_BATCH] = SCHED_BATCH,
		[PROGRAM_IDLE] = SCHED_IDLE, [PROGRAM_FIFO] = SCHED_FIFO, [PROGRAM_RR] = SCHED_RR,
	};

	return numbers[policy.kind];
}

static struct saakm_attr attributes(void)
{
	struct saakm_attr attr = { 0 };

	syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0);
	return attr;
}

static int nice_now(void)
{
	return getpriority(PRIO_PROCESS, 0);
}

static void change(struct thread *t, struct program_policy policy, int nice, bool reset)
{
	struct saakm_attr attr = {
		.size			= sizeof(attr),
		.sched_policy		= number_of(policy),
		.sched_flags		= reset ? FLAG_RESET_ON_FORK : 0,
		.sched_nice		= nice,
		.sched_priority		= policy.priority,
		.sched_saakm_policy	= policy_of(policy),
	};
	int result = (int)syscall(SYS_sched_setattr, 0, &attr, 0);

	note(t, result);
	if (!result && nice_now() != nice)
		set_nice(t, nice);
}

void set_policy(struct thread *t, struct program_policy policy)
{
	change(t, policy, nice_now(), attributes().sched_flags & FLAG_RESET_ON_FORK);
}

/* What its group says and it does not have. */
void set_first(struct thread *t)
{
	const struct program_group *group = t->group;
	struct saakm_attr has = attributes();
	bool resets = has.sched_flags & FLAG_RESET_ON_FORK;

	prctl(PR_SET_NAME, group->name);
	if (group->inherit && !t->launched) {
		if (group->reset && !resets) {
			has.sched_flags = FLAG_RESET_ON_FORK;
			note(t, (int)syscall(SYS_sched_setattr, 0, &has, 0));
		}
		return;
	}
	set_cpus(t, group->cpus);
	if (has.sched_policy != number_of(group->policy) ||
	    has.sched_priority != group->policy.priority ||
	    (policy_of(group->policy) && has.sched_saakm_policy != policy_of(group->policy)) ||
	    nice_now() != group->nice || resets != group->reset)
		change(t, group->policy, group->nice, group->reset);
}

/* ---- they end ---- */

void tell_parent(struct thread *t)
{
	struct thread *parent = t->parent;
	bool waited_for;

	if (!parent)
		return;
	lock_objects();
	parent->alive--;
	parent->ended++;
	waited_for = parent->wanted && parent->ended == parent->wanted;
	unlock_objects();
	if (waited_for)
		wake(parent);
}

void join_children(struct thread *t)
{
	u64 wanted = t->op->a;

	lock_objects();
	if (wanted > t->alive + t->ended)
		wanted = t->alive + t->ended;
	t->word = 0;
	t->wanted = (u32)wanted;
	if (t->ended < wanted) {
		unlock_objects();
		wait_to_be_woken(t);
		lock_objects();
	}
	t->ended -= t->wanted;
	t->wanted = 0;
	unlock_objects();
}
