// SPDX-License-Identifier: GPL-2.0
/*
 * delayed SCENARIO POLICY_ID [COMMAND or id of another policy]: a thread sleeps in the policy
 * delayer, beside one that keeps the CPU busy, and is DELAYED. Then something happens to it. It
 * must wake afterwards, and run.
 */
#include "gates.h"
#include "sleeper.h"
#include <sys/ptrace.h>
#include <sys/resource.h>

#define HERE	1
#define THERE	2

static const char *argument;
static struct subject busy, asleep;

static void sleeps_as_member(struct subject *self)
{
	saakm_join(policy_id);
	sleeper_run(self);
}

/* Who keeps the CPU busy must do so already: nobody stays beside a queue that is empty. */
static void begin(void)
{
	sleeper_event = eventfd(0, 0);
	subject_start(&busy, hog, HERE);
	AWAIT(busy.progress);
	subject_start(&asleep, sleeps_as_member, HERE);
	AWAIT(in_state(asleep.tid, "DELAYED"));
}

static void wakes(void)
{
	uint64_t before = asleep.progress;

	sleeper_wake();
	AWAIT(asleep.progress == before + 1);
}

static void end(void)
{
	asleep.stop = 1;
	sleeper_wake();
	subject_stop(&asleep);
	subject_stop(&busy);
}

/* It stays once more when it sleeps again. */
static void woken(void)
{
	begin();
	for (int i = 0; i < 5; i++) {
		wakes();
		AWAIT(in_state(asleep.tid, "DELAYED"));
	}
	end();
}

/* While somebody else has the CPU, it is READY. */
static void ready(void)
{
	begin();
	close_gate(HERE);
	sleeper_wake();
	AWAIT(in_state(asleep.tid, "READY"));
	open_gate(HERE);
	AWAIT(asleep.progress == 1);
	end();
}

static void elected(void)
{
	begin();
	subject_stop(&busy);
	AWAIT(in_state(asleep.tid, "BLOCKED"));
	wakes();
	asleep.stop = 1;
	sleeper_wake();
	subject_stop(&asleep);
}

/* To a busy CPU, where it stays; then to one that idles, where it does not. */
static void affinity(void)
{
	struct subject there;

	begin();
	subject_start(&there, hog, THERE);
	AWAIT(there.progress);
	allow(asleep.tid, 1 << THERE);
	AWAIT(saakm_cpu(asleep.tid) == THERE);
	AWAIT(in_state(asleep.tid, "DELAYED"));
	wakes();
	AWAIT(in_state(asleep.tid, "DELAYED"));
	allow(asleep.tid, 1 << (THERE + 1));
	AWAIT(in_state(asleep.tid, "BLOCKED"));
	wakes();
	subject_stop(&there);
	end();
}

static void set_online(int cpu, const char *value)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	file = fopen(path, "w");
	if (!file || fputs(value, file) < 0 || fclose(file))
		die("cannot write %s to %s", value, path);
}

static void hotplug(void)
{
	begin();
	set_online(HERE, "0");
	wakes();
	set_online(HERE, "1");
	wakes();
	end();
}

static void changes_to(int policy, uint32_t id, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (id ? saakm_setattr(asleep.tid, policy, id, 0, 0) :
		 sched_setscheduler(asleep.tid, policy, &param))
		die("cannot change the policy");
}

static void to_other_policy(void)
{
	begin();
	changes_to(SCHED_SAAKM, atoi(argument), 0);
	AWAIT(in_state(asleep.tid, "NOT_QUEUED"));
	wakes();
	AWAIT(in_state(asleep.tid, "BLOCKED"));
	end();
}

static void to_fair(void)
{
	begin();
	changes_to(SCHED_OTHER, 0, 0);
	AWAIT(!is_member(asleep.tid));
	wakes();
	end();
}

static void to_real_time(void)
{
	begin();
	changes_to(SCHED_FIFO, 0, 1);
	AWAIT(!is_member(asleep.tid));
	wakes();
	end();
}

/* Neither a nice value nor the parameter is a reason to leave. */
static void renice(void)
{
	begin();
	for (int nice = 10; nice >= -10; nice -= 5) {
		if (setpriority(PRIO_PROCESS, asleep.tid, nice))
			die("setpriority");
		if (!in_state(asleep.tid, "DELAYED"))
			die("at nice %d it is not DELAYED", nice);
	}
	if (saakm_setattr(asleep.tid, SCHED_SAAKM, policy_id, 0, 7) ||
	    !in_state(asleep.tid, "DELAYED"))
		die("with another parameter it is not DELAYED");
	wakes();
	end();
}

static pthread_mutex_t mutex;

static void holds_mutex(struct subject *self)
{
	pthread_mutex_lock(&mutex);
	sleeps_as_member(self);
	pthread_mutex_unlock(&mutex);
}

static void wants_mutex(struct subject *self)
{
	be_real_time(GATE_PRIORITY);
	pthread_mutex_lock(&mutex);
	self->progress = 1;
	pthread_mutex_unlock(&mutex);
}

/* Priority inheritance takes it out of the class. */
static void boosted(void)
{
	pthread_mutexattr_t attr;
	struct subject wants;

	pthread_mutexattr_init(&attr);
	if (pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) ||
	    pthread_mutex_init(&mutex, &attr))
		die("mutex");
	sleeper_event = eventfd(0, 0);
	subject_start(&busy, hog, HERE);
	AWAIT(busy.progress);
	subject_start(&asleep, holds_mutex, HERE);
	AWAIT(in_state(asleep.tid, "DELAYED"));
	subject_start(&wants, wants_mutex, THERE);
	AWAIT(in_state(asleep.tid, "BLOCKED"));
	asleep.stop = 1;
	sleeper_wake();
	AWAIT(wants.progress);
	subject_stop(&wants);
	subject_stop(&asleep);
	subject_stop(&busy);
}

/* COMMAND takes the policy away, or all threads from it: rmmod, an ejection, a replacement. */
static void commanded(void)
{
	begin();
	if (system(argument))
		die("%s", argument);
	AWAIT(!in_state(asleep.tid, "DELAYED"));
	wakes();
	wakes();
	end();
}

/* Processes */

static void sleeps(void)
{
	uint64_t value;

	pin(0, HERE);
	saakm_join(policy_id);
	while (read(sleeper_event, &value, sizeof(value)) == sizeof(value))
		shared->progress++;
}

static pid_t begin_process(void)
{
	pid_t pid;

	sleeper_event = eventfd(0, 0);
	subject_start(&busy, hog, HERE);
	AWAIT(busy.progress);
	pid = process_start(sleeps);
	AWAIT(in_state(pid, "DELAYED"));
	return pid;
}

static void end_process(pid_t pid)
{
	uint64_t before = shared->progress;

	sleeper_wake();
	AWAIT(shared->progress == before + 1);
	kill(pid, SIGKILL);
	process_reap(pid, SIGKILL);
	subject_stop(&busy);
}

static void killed(void)
{
	pid_t pid = begin_process();

	kill(pid, SIGKILL);
	process_reap(pid, SIGKILL);
	subject_stop(&busy);
}

/* Who is traced, or stopped, sleeps in a special state: it is not delayed. */
static void traced(void)
{
	pid_t pid = begin_process();
	int status;

	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid ||
	    !WIFSTOPPED(status))
		die("cannot trace");
	AWAIT(in_state(pid, "BLOCKED"));
	if (ptrace(PTRACE_DETACH, pid, NULL, NULL))
		die("cannot detach");
	AWAIT(in_state(pid, "DELAYED"));
	kill(pid, SIGSTOP);
	AWAIT(in_state(pid, "BLOCKED"));
	kill(pid, SIGCONT);
	AWAIT(in_state(pid, "DELAYED"));
	end_process(pid);
}

static void cgroup_of(pid_t pid, const char *path)
{
	char procs[256];
	FILE *file;

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	file = fopen(procs, "w");
	if (!file || fprintf(file, "%d", pid) < 0 || fclose(file))
		die("cannot write to %s", procs);
}

/* COMMAND: a cgroup that has two, `plain`, and `policy`, which has another policy. */
static void cgroup(void)
{
	pid_t pid = begin_process();
	char path[256];

	snprintf(path, sizeof(path), "%s/plain", argument);
	cgroup_of(pid, path);
	if (!in_state(pid, "DELAYED"))
		die("in another cgroup it is not DELAYED");
	snprintf(path, sizeof(path), "%s/policy", argument);
	cgroup_of(pid, path);
	AWAIT(in_state(pid, "NOT_QUEUED"));
	end_process(pid);
}

static void *sleeps_forever(void *arg)
{
	while (pause())
		;
	return arg;
}

/* All threads must be off the runqueue before the core is written: wait_task_inactive(). */
static void dumps_core(void)
{
	static struct rlimit some = { 1 << 20, 1 << 20 };
	pthread_t thread;

	pin(0, HERE);
	saakm_join(policy_id);
	setrlimit(RLIMIT_CORE, &some);
	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread, NULL, sleeps_forever, NULL))
			die("pthread_create");
	sleep_ms(10);
	abort();
}

static void core(void)
{
	pid_t pid;
	int status;

	subject_start(&busy, hog, HERE);
	AWAIT(busy.progress);
	pid = process_start(dumps_core);
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
		die("it ended with %#x", status);
	subject_stop(&busy);
}

static const struct scenario scenarios[] = {
	{ "woken", woken },
	{ "ready", ready },
	{ "elected", elected },
	{ "affinity", affinity },
	{ "hotplug", hotplug },
	{ "to_other_policy", to_other_policy },
	{ "to_fair", to_fair },
	{ "to_real_time", to_real_time },
	{ "renice", renice },
	{ "boosted", boosted },
	{ "commanded", commanded },
	{ "killed", killed },
	{ "traced", traced },
	{ "cgroup", cgroup },
	{ "core", core },
	{ NULL, NULL }
};

int main(int argc, char **argv)
{
	argument = argc > 3 ? argv[3] : "";
	return run_scenario(argc, argv, scenarios);
}
