// SPDX-License-Identifier: GPL-2.0
/*
 * fork_held POLICY_ID HOLD UNLOAD
 *
 * A thread of the policy forks, and waits in the kernel for the lock of its memory. The command
 * HOLD makes the policy elect nobody; so the thread, once it has the lock, waits on a CPU that
 * idles, in the midst of its fork. Says how many ms UNLOAD takes.
 */
#include "subject.h"

#define AREA	(128ul << 20)
#define LONG_MS	20

static void *area;

/* Locks the memory, and is not done with it soon. */
static void filler(struct subject *self)
{
	shared->step = 1;
	if (mlock(area, AREA))
		die("mlock");
	self->progress = 1;
}

static void forker(void)
{
	struct subject fills;
	pid_t pid;

	pin(0, 1);
	area = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		die("mmap");
	subject_start(&fills, filler, 2);
	saakm_join(policy_id);
	AWAIT(shared->step);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		_exit(0);
	shared->progress = 1;
	waitpid(pid, NULL, 0);
	for (;;)
		pause();
}

static bool waits_for_lock(pid_t pid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		die("%s", path);
	fclose(file);
	return state == 'D';
}

int main(int argc, char **argv)
{
	uint64_t begin_ns;
	pid_t pid;

	if (argc != 4)
		die("usage: %s POLICY_ID HOLD UNLOAD", argv[0]);
	policy_id = atoi(argv[1]);
	make_shared();
	pin(0, 0);
	pid = process_start(forker);
	AWAIT(waits_for_lock(pid));
	if (system(argv[2]) || !waits_for_lock(pid))
		die("%s, or too late", argv[2]);
	AWAIT(in_state(pid, "READY"));
	sleep_ms(LONG_MS);
	if (shared->progress || !in_state(pid, "READY"))
		die("it is not held back");
	begin_ns = now_ns(CLOCK_MONOTONIC);
	if (system(argv[3]))
		die("%s", argv[3]);
	printf("%lu\n", (now_ns(CLOCK_MONOTONIC) - begin_ns) / 1000000);
	AWAIT(shared->progress);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}
