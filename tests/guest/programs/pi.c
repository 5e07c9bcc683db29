// SPDX-License-Identifier: GPL-2.0
/*
 * pi POLICY POLICY CASE...
 *
 * Priority inheritance: a thread of a policy holds a PI mutex on the CPU of a
 * fair hog, which leaves it nothing (the deadline server must be off). Then a
 * real-time thread waits for the mutex.
 */
#include "abi.h"
#include <fcntl.h>

#define CPU 1
#define WAITER_CPU 2

static struct shared {
	uint32_t lock;
	volatile uint64_t progress;	/* of the holder, at any time */
	volatile int holds, release, leave, got;
	volatile uint32_t lock_after;	/* as the waiter found it */
} *shared;

static pid_t holder_pid, hog_pid, waiter_pid;

static pid_t start(void (*f)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		f();
		_exit(0);
	}
	return pid;
}

static void wait_for(const char *what, bool (*condition)(void))
{
	crowd_doing = what;
	while (!condition())
		sleep_ms(2);
}

static void holder(void)
{
	pin(0, CPU);
	saakm_join(id_a);
	if (futex(&shared->lock, FUTEX_LOCK_PI, 0, NULL))
		die("FUTEX_LOCK_PI");
	shared->holds = 1;
	while (!shared->release && !shared->leave) {
		spin(1000);
		shared->progress++;
	}
	if (shared->leave)
		_exit(0);
	if (futex(&shared->lock, FUTEX_UNLOCK_PI, 0, NULL))
		die("FUTEX_UNLOCK_PI");
	for (;;) {
		spin(1000);
		shared->progress++;
	}
}

static void hog(void)
{
	pin(0, CPU);
	for (;;)
		spin(1000);
}

static void waiter(void)
{
	struct sched_param param = { .sched_priority = 10 };

	pin(0, WAITER_CPU);
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("SCHED_FIFO");
	if (futex(&shared->lock, FUTEX_LOCK_PI, 0, NULL))
		die("FUTEX_LOCK_PI of the waiter");
	shared->lock_after = shared->lock;
	shared->got = 1;
	if (futex(&shared->lock, FUTEX_UNLOCK_PI, 0, NULL))
		die("FUTEX_UNLOCK_PI of the waiter");
}

/* --- steps --- */

static bool holds(void) { return shared->holds; }
static bool got(void) { return shared->got; }

static bool stalls(void)
{
	uint64_t before = shared->progress;

	sleep_ms(200);
	return shared->progress == before;
}

static bool moves(void)
{
	uint64_t before = shared->progress;

	for (int i = 0; i < 100 && shared->progress < before + 10; i++)
		sleep_ms(2);
	return shared->progress >= before + 10;
}

static bool waits(void)
{
	return shared->lock & FUTEX_WAITERS;
}

static const char *holder_state(void)
{
	static char state[32];

	return saakm_state(holder_pid, state);
}

static bool is_ready(void)
{
	return !strcmp(holder_state(), "READY");
}

/* Asked once: a thread of the kernel may take its CPU, or give it back, at any time. */
static bool is_runnable(void)
{
	const char *state = holder_state();

	return !strcmp(state, "READY") || !strcmp(state, "RUNNING");
}

/* The holder runs in place of the hog, though it is still the policy's by name. */
static void boost(void)
{
	memset(shared, 0, sizeof(*shared));	/* cases of one run share the mapping */
	holder_pid = start(holder);
	wait_for("taking the mutex", holds);
	hog_pid = start(hog);
	wait_for("the hog's keeping the holder from running", stalls);
	EXPECT_EQ(strcmp(holder_state(), "READY"), 0);
	waiter_pid = start(waiter);
	wait_for("the waiter's waiting", waits);
	wait_for("the holder's running by the waiter's priority", moves);
	EXPECT_EQ(shared->got, 0);
}

static void end(void)
{
	end_child(hog_pid);
	end_child(waiter_pid);
	end_child(holder_pid);
}

static void release(void)
{
	shared->release = 1;
	wait_for("the waiter's getting the mutex", got);
}

/* --- cases --- */

static void boosted(void)
{
	boost();
	EXPECT(sched_getscheduler(holder_pid), SCHED_SAAKM);
	EXPECT_EQ(get(holder_pid).sched_saakm_policy, id_a);
	EXPECT_EQ(strcmp(holder_state(), "BLOCKED"), 0);

	release();
	wait_for("the holder's return to its policy", is_ready);
	wait_for("the hog's keeping the holder from running again", stalls);
	EXPECT_IN(holder_pid, id_a, 0, 0);
	end_child(hog_pid);
	wait_for("the holder's running without the hog", moves);
	EXPECT_EQ(is_runnable(), true);
	end();
}

/* Who dies with the mutex leaves it to the waiter. */
static void owner_exits(void)
{
	boost();
	shared->leave = 1;
	wait_for("the waiter's getting the mutex of the dead", got);
	EXPECT_EQ(shared->lock_after & FUTEX_OWNER_DIED, FUTEX_OWNER_DIED);
	end();
}

static void owner_killed(void)
{
	boost();
	kill(holder_pid, SIGKILL);
	wait_for("the waiter's getting the mutex of the killed", got);
	EXPECT_EQ(shared->lock_after & FUTEX_OWNER_DIED, FUTEX_OWNER_DIED);
	end();
}

static void waiter_killed(void)
{
	boost();
	kill(waiter_pid, SIGKILL);
	wait_for("the hog's keeping the holder from running again", stalls);
	EXPECT_IN(holder_pid, id_a, 0, 0);
	EXPECT_EQ(strcmp(holder_state(), "READY"), 0);
	end();
}

/* Changes take effect when the boost ends, and do not end it. */
static void setattr_boosted(void)
{
	struct saakm_attr a = joining(id_a), b = joining(id_b), fair = { .size = 64 };

	boost();
	a.sched_nice = b.sched_nice = 3;
	b.sched_saakm_param = 8;
	EXPECT(set(holder_pid, &a), 0);
	EXPECT_IN(holder_pid, id_a, 3, 0);
	wait_for("moving after a change of nice", moves);
	EXPECT(set(holder_pid, &b), 0);
	EXPECT_IN(holder_pid, id_b, 3, 8);
	wait_for("moving after a change of policy", moves);
	EXPECT(set(holder_pid, &fair), 0);
	EXPECT_IN(holder_pid, 0, 0, 0);
	wait_for("moving after leaving", moves);
	EXPECT(set(holder_pid, &b), 0);
	wait_for("moving after joining", moves);
	EXPECT_EQ(shared->got, 0);

	release();
	wait_for("the holder's return to its new policy", is_ready);
	EXPECT_IN(holder_pid, id_b, 3, 8);
	wait_for("the hog's keeping the holder from running again", stalls);
	end_child(hog_pid);
	wait_for("the holder's running without the hog", moves);
	end();
}

static void left_boosted(void)
{
	struct saakm_attr fair = { .size = 64 };

	boost();
	EXPECT(set(holder_pid, &fair), 0);
	release();
	/* A fair thread gets its share beside the hog. */
	wait_for("the holder's running as a fair thread", moves);
	EXPECT_IN(holder_pid, 0, 0, 0);
	end();
}

/* The holder's policy is unloaded: the first one, named fifo here. */
static void unloaded_boosted(void)
{
	boost();
	crowd_doing = "unloading the policy of a boosted thread";
	EXPECT(syscall(SYS_delete_module, "fifo", O_NONBLOCK), 0);
	EXPECT_IN(holder_pid, 0, 0, 0);
	wait_for("the holder's running on, boosted", moves);
	EXPECT_EQ(shared->got, 0);
	release();
	wait_for("the holder's running as a fair thread", moves);
	EXPECT_IN(holder_pid, 0, 0, 0);
	end();
}

static const struct abi_case cases[] = {
	{ "boosted", boosted },
	{ "owner_exits", owner_exits },
	{ "owner_killed", owner_killed },
	{ "waiter_killed", waiter_killed },
	{ "setattr_boosted", setattr_boosted },
	{ "left_boosted", left_boosted },
	{ "unloaded_boosted", unloaded_boosted },
	{}
};

static void show_holder(void)
{
	fprintf(stderr, "holder %d: progress %llu, lock %#x, got %d\n", holder_pid,
		(unsigned long long)shared->progress, shared->lock, shared->got);
	show_file(holder_pid, "saakm");
	show_file(holder_pid, "stat");
}

int main(int argc, char **argv)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	show_more = show_holder;
	return run_cases(cases, argc, argv);
}
