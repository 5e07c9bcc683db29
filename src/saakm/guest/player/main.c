// SPDX-License-Identifier: GPL-2.0
/*
 * player [OPTION=VALUE ...] PROGRAM
 *
 * Plays the workload in PROGRAM with threads of its own, and is itself what the simulator's
 * launcher is: a fair thread that forks the others at their START.
 *
 *   main=NAME		the policy that `main` means
 *   seed=N		of the random numbers (1)
 *   for=NS		ends then, if threads are left (1000000000)
 *   align=NS		the workload begins at a multiple of this of CLOCK_MONOTONIC (64000000)
 *   pid=N		its first thread's number is N, modulo 240: some policies choose a CPU by it
 *   at=NS:offline:CPU	and online:CPU, eject:POLICY: what somebody at a shell would do then
 *
 * Standard output, at the end: "begin NS COUNTER", the beginning by CLOCK_MONOTONIC and by the
 * CPU's counter; "thread TID GROUP NUMBER" for each, in order of birth; "refused TID LINE ERROR"
 * for threads whose system calls were.
 */
#include "player.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MARGIN_NS	40000000	/* what is to be made ready takes less */
#define PIDS		240		/* a multiple of most numbers of CPUs */

const struct program *program;
struct group *groups;
u64 seed = 1, begin_ns;

const char *main_policy;
static const char *path;
static u64 end_ns = 1000000000, align_ns = 64000000, first_pid = NEVER, begin_counter;
static u32 *policy_ids, main_id;
static volatile u32 alive;

static struct action {
	u64		at_ns;
	int		file;
	const char	*text;
} actions[MAX_ACTIONS];
static unsigned int nr_actions;

/* ---- what the reader needs: sim/engine/host.h, engine.h ---- */

void sim_bad_input(const char *file, unsigned int line, const char *fmt, ...)
{
	va_list args;

	if (file)
		fprintf(stderr, line ? "%s:%u: " : "%s: ", file, line);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	_exit(2);
}

void sim_out_of_memory(void)
{
	sim_bad_input(NULL, 0, "no memory");
}

void *sim_alloc(unsigned long size)
{
	void *memory = calloc(1, size);

	if (!memory)
		sim_out_of_memory();
	return memory;
}

void sim_free(void *memory)
{
	free(memory);
}

void fault(const struct thread *t, const char *fmt, ...)
{
	char text[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	sim_bad_input(path, t ? t->op->line : 0, "thread %u of group '%s' %s", t ? t->number : 0,
		      t ? t->group->name : "launcher", text);
}

/* ---- policies ---- */

static u32 find_policy(const char *name)
{
	char line[256], found[64];
	u32 id, result = 0;
	FILE *file = fopen("/proc/saakm/policies", "r");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%u %63s", &id, found) == 2 && !strcmp(found, name))
			result = id;
	if (file)
		fclose(file);
	if (!result)
		sim_bad_input(path, 0, "the policy '%s' is not loaded", name);
	return result;
}

u32 policy_of(struct program_policy policy)
{
	return policy.kind == PROGRAM_MAIN ? main_id :
	       policy.kind == PROGRAM_SAAKM ? policy_ids[policy.name] : 0;
}

static void find_policies(void)
{
	u32 i;

	if (main_policy)
		main_id = find_policy(main_policy);
	policy_ids = sim_alloc((program->nr_policies + 1) * sizeof(*policy_ids));
	for (i = 0; i < program->nr_policies; i++)
		policy_ids[i] = find_policy(program->policies[i]);
}

static void need_main(unsigned int line)
{
	if (!main_policy)
		sim_bad_input(path, line, "the policy 'main' is none: main=NAME says which");
}

/* ---- what cannot be played ---- */

static void refuse_what_is_not_played(void)
{
	u32 i;

	for (i = 0; i < program->nr_groups; i++)
		if (program->groups[i].policy.kind == PROGRAM_MAIN)
			need_main(program->groups[i].line);
	for (i = 0; i < program->nr_ops; i++) {
		const struct program_op *op = &program->ops[i];

		if (op->code == OP_EXEC)
			sim_bad_input(path, op->line, "'exec' is not played: the threads are of "
				      "one process, which it would end");
		if (op->code >= OP_OTHERS && op->code != OP_SET_CGROUP &&
		    op->code != OP_CGROUP_WEIGHT && op->code != OP_CGROUP_POLICY)
			sim_bad_input(path, op->line, "this operation is not played: those on "
				      "other threads, CPUs and modules are the simulator's alone");
		if (op->code == OP_MEET)
			sim_bad_input(path, op->line, "'meet' is not played: run rt-app itself, or "
				      "use a barrier");
		if (op->code == OP_WAIT && op->how == PROGRAM_PI)
			sim_bad_input(path, op->line, "'wait' with a pimutex is not played");
		if (op->code != OP_SET_POLICY && op->code != OP_CGROUP_POLICY)
			continue;
		if (op->b == PROGRAM_ANY)
			sim_bad_input(path, op->line, "'any' is not played: name a policy");
		if (op->b == PROGRAM_MAIN)
			need_main(op->line);
	}
	if (program->nr_instances > MAX_THREADS)
		sim_bad_input(path, 0, "%u threads: this plays %u at most", program->nr_instances,
			      MAX_THREADS);
}

/* ---- options ---- */

static u64 number(const char *option, const char *value)
{
	char *end;
	u64 result;

	errno = 0;
	result = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno)
		sim_bad_input(NULL, 0, "option %s=%s: a whole number is expected", option, value);
	return result;
}

static int opened(const char *file)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		sim_bad_input(file, 0, "it cannot be written: %s", strerror(errno));
	return fd;
}

static void add_action(char *value)
{
	char *time = strtok(value, ":"), *what = strtok(NULL, ":"), *whom = strtok(NULL, "");
	struct action *action = &actions[nr_actions];
	char file[80];

	if (!whom || nr_actions == MAX_ACTIONS)
		sim_bad_input(NULL, 0, "option at=NS:offline:CPU, online:CPU or eject:POLICY, %u at "
			      "most", MAX_ACTIONS);
	action->at_ns = number("at", time);
	if (nr_actions++ && action->at_ns < action[-1].at_ns)
		sim_bad_input(NULL, 0, "option at=%s: before the one in front of it", time);
	if (!strcmp(what, "eject")) {
		action->file = opened("/sys/kernel/saakm/eject");
		action->text = whom;
		return;
	}
	if (strcmp(what, "offline") && strcmp(what, "online"))
		sim_bad_input(NULL, 0, "option at=%s:%s: there are offline, online, eject", time,
			      what);
	snprintf(file, sizeof(file), "/sys/devices/system/cpu/cpu%u/online",
		 (unsigned int)number("at", whom));
	action->file = opened(file);
	action->text = strcmp(what, "online") ? "0" : "1";
}

static void option(char *name, char *value)
{
	if (!strcmp(name, "main"))
		main_policy = value;
	else if (!strcmp(name, "seed"))
		seed = number(name, value);
	else if (!strcmp(name, "for"))
		end_ns = number(name, value);
	else if (!strcmp(name, "align"))
		align_ns = number(name, value);
	else if (!strcmp(name, "pid"))
		first_pid = number(name, value);
	else if (!strcmp(name, "at"))
		add_action(value);
	else
		sim_bad_input(NULL, 0, "there is no option %s=", name);
}

static void parse(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		char *equals = strchr(argv[i], '=');

		if (equals && !memchr(argv[i], '/', (size_t)(equals - argv[i]))) {
			*equals = '\0';
			option(argv[i], equals + 1);
		} else if (path) {
			sim_bad_input(NULL, 0, "one program is expected, not both %s and %s", path,
				      argv[i]);
		} else {
			path = argv[i];
		}
	}
	if (!path)
		sim_bad_input(NULL, 0, "player [OPTION=VALUE ...] PROGRAM");
}

static void read_program(void)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "r");
	size_t size;

	if (!file)
		sim_bad_input(path, 0, "it cannot be read: %s", strerror(errno));
	size = fread(text, 1, sizeof(text), file);
	if (size == sizeof(text))
		sim_bad_input(path, 0, "it has more than 1 MiB");
	fclose(file);
	program = program_read(path, text, size);
	groups = sim_alloc(program->nr_groups * sizeof(*groups));
}

/* ---- the actor: what happens to the machine ---- */

static void *act(void *unused)
{
	unsigned int i;

	(void)unused;
	prctl(PR_SET_NAME, "actor");
	for (i = 0; i < nr_actions; i++) {
		sleep_until(actions[i].at_ns);
		if (write(actions[i].file, actions[i].text, strlen(actions[i].text)) < 0)
			sim_bad_input(NULL, 0, "writing %s at %llu: %s", actions[i].text,
				      (unsigned long long)actions[i].at_ns, strerror(errno));
	}
	return NULL;
}

/* ---- the launcher ---- */

static void launch(void)
{
	u64 at = 0, next;
	u32 i, j;

	for (; at != NEVER; at = next) {
		next = NEVER;
		sleep_until(at);
		for (i = 0; i < program->nr_groups; i++) {
			const struct program_group *group = &program->groups[i];

			if (group->start > at && group->start < next && group->instances)
				next = group->start;
			if (group->start != at)
				continue;
			for (j = 0; j < group->instances; j++)
				begin_thread(i, NULL, random_child(seed, i, j), at);
		}
	}
}

void has_been_forked(void)
{
	__atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED);
}

void has_ended(void)
{
	if (!__atomic_sub_fetch(&alive, 1, __ATOMIC_RELEASE))
		syscall(SYS_futex, &alive, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void wait_for_end(void)
{
	u64 ns = begin_ns + end_ns;
	struct timespec end = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	u32 left;

	while ((left = __atomic_load_n(&alive, __ATOMIC_ACQUIRE)) && now_ns() < end_ns)
		syscall(SYS_futex, &alive, FUTEX_WAIT_BITSET_PRIVATE, left, &end, NULL,
			FUTEX_BITSET_MATCH_ANY);
}

/* So that the next thread's number is as wanted. */
static void burn_pids(void)
{
	pid_t pid;

	if (first_pid == NEVER)
		return;
	do {
		pid = vfork();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	} while (((u64)pid + 1) % PIDS != first_pid % PIDS);
}

static void print(void)
{
	u32 i;

	printf("begin %llu %llu\n", (unsigned long long)begin_ns,
	       (unsigned long long)begin_counter);
	for (i = 0; i < nr_threads; i++) {
		const struct thread *t = &threads[i];

		printf("thread %d %s %u\n", t->tid, t->group->name, t->number);
		if (t->refused)
			printf("refused %d %u %s\n", t->tid, t->refused_line,
			       strerrorname_np(t->refused));
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	pthread_t actor;

	/* Threads of one process: else each gets an arena of its own when it first allocates. */
	mallopt(M_ARENA_MAX, 1);
	parse(argc, argv);
	read_program();
	refuse_what_is_not_played();
	find_policies();
	objects_init();
	cgroups_init();
	threads_init();
	check_clocks();
	if (mlockall(MCL_CURRENT | MCL_FUTURE) || prctl(PR_SET_TIMERSLACK, 1))
		sim_bad_input(NULL, 0, "memory cannot be locked: %s", strerror(errno));
	alive = program->nr_instances;
	begin_ns = (now_ns() + MARGIN_NS + align_ns) / align_ns * align_ns;
	begin_counter = counter() - now_ns();
	if (nr_actions && pthread_create(&actor, NULL, act, NULL))
		sim_bad_input(NULL, 0, "no actor");
	burn_pids();
	launch();
	wait_for_end();
	print();
	_exit(0);
}
