// SPDX-License-Identifier: GPL-2.0
/*
 * failnth STEP load FILE NAME PARAMETERS | fork POLICY_ID | setattr POLICY_ID
 *
 * Lets the first allocation of the operation fail, then the STEP-th after it, and so on,
 * until it meets none that fails any more. Each time it must either succeed or
 * say that there is no memory, and be without effect then. Prints how many
 * allocations failed. FILE is on a file system of the guest's own: the host's, short of
 * memory, has other excuses. Needs /sys/kernel/debug/failslab/ignore-gfp-wait = 0.
 */
#include "saakm_user.h"
#include <fcntl.h>
#include <stdbool.h>
#include <sys/wait.h>

#define MOST 2000

static int nth_file, failed;

static void arm(int n)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%d", n);

	if (pwrite(nth_file, text, length, 0) != length)
		die("fail-nth");
}

/* True if an allocation has failed since arm(). */
static bool disarm(void)
{
	char text[16] = "";

	if (pread(nth_file, text, sizeof(text) - 1, 0) <= 0)
		die("fail-nth");
	arm(0);
	return atoi(text) == 0;
}

static void check(int error)
{
	if (error && error != ENOMEM && error != EAGAIN) {
		errno = error;
		die("neither success nor lack of memory, after %d failures", failed);
	}
}

/* --- operations: 0 or errno --- */

static const char *module_name, *module_parameters;
static int module_file;
static uint32_t id;

static int load(void)
{
	return syscall(SYS_finit_module, module_file, module_parameters, 0) ? errno : 0;
}

static void unload(void)
{
	if (syscall(SYS_delete_module, module_name, O_NONBLOCK))
		die("unloading %s", module_name);
}

static int fork_child(void)
{
	pid_t pid = fork();
	int error = errno, status;

	if (!pid)
		_exit(0);
	if (pid < 0)
		return error;
	if (waitpid(pid, &status, 0) != pid || status)
		die("the child");
	return 0;
}

static void nothing(void)
{
}

static int join(void)
{
	return -saakm_setattr(0, SCHED_SAAKM, id, 0, 0);
}

static void leave(void)
{
	saakm_leave();
}

int main(int argc, char **argv)
{
	int (*operation)(void);
	void (*undo)(void) = nothing;
	int n, step;

	step = argc > 1 ? atoi(argv[1]) : 0;
	if (step > 0 && argc == 6 && !strcmp(argv[2], "load")) {
		module_file = open(argv[3], O_RDONLY | O_CLOEXEC);
		if (module_file < 0)
			die("%s", argv[3]);
		module_name = argv[4];
		module_parameters = argv[5];
		operation = load;
		undo = unload;
	} else if (step > 0 && argc == 4 && !strcmp(argv[2], "fork")) {
		operation = fork_child;
		saakm_join(atoi(argv[3]));
	} else if (step > 0 && argc == 4 && !strcmp(argv[2], "setattr")) {
		operation = join;
		undo = leave;
		id = atoi(argv[3]);
	} else {
		die("usage: %s STEP load FILE NAME PARAMETERS | fork ID | setattr ID", argv[0]);
	}
	nth_file = open("/proc/thread-self/fail-nth", O_RDWR);
	if (nth_file < 0)
		die("/proc/thread-self/fail-nth");
	for (n = 1; n < MOST; n += step) {
		bool hit;
		int error;

		arm(n);
		error = operation();
		hit = disarm();
		check(error);
		if (!error)
			undo();
		if (!hit)
			break;
		failed++;
	}
	if (n >= MOST)
		die("no end of allocations");
	printf("%d\n", failed);
	return 0;
}
