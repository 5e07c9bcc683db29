// SPDX-License-Identifier: GPL-2.0
/*
 * inherits MILLISECONDS CPU free|pinned NICE[:s|:l]...
 *
 * A hog for each nice value, of whatever class we are in ourselves, all on one
 * CPU; with :s it sleeps for 6 ms after each 2 ms of CPU time, with :l for the first
 * second. free: after a while they may go where they like; then a fair thread on each CPU
 * wakes up now and then, so that a CPU gets idle that may fetch them. Says how much CPU time
 * each had, in us, counted from then on. We become fair ourselves, to be able to.
 */
#include "crowd.h"
#include "nappers.h"

#define MOST 64

static void hog(void)
{
	spin(1000);
}

static void burst(void)
{
	uint64_t end_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) + 2000000;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		spin(100);
	sleep_us(6000);
}

static pid_t start(int cpu, const char *member)
{
	void (*turn)(void) = strstr(member, ":s") ? burst : hog;
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpriority(PRIO_PROCESS, 0, atoi(member));
	pin(0, cpu);
	if (strstr(member, ":l"))
		sleep_us(1000000);
	for (;;)
		turn();
}

static uint64_t used_us(pid_t pid)
{
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock))
		fail("process %d is gone", pid);
	return now_ns(clock) / 1000;
}

int main(int argc, char **argv)
{
	int n = argc - 4, cpu;
	uint64_t before[MOST];
	pid_t pids[MOST];
	struct sched_param fair = {};
	cpu_set_t all;

	if (n < 1 || n > MOST)
		fail("inherits MILLISECONDS CPU free|pinned NICE[:s|:l]...");
	limit_seconds(60);
	cpu = atoi(argv[2]);
	pin(0, 0);
	for (int i = 0; i < n; i++)
		pids[i] = start(cpu, argv[4 + i]);
	if (sched_setscheduler(0, SCHED_OTHER, &fair))
		die("SCHED_OTHER");
	if (!strcmp(argv[3], "free"))
		start_nappers();
	sleep_ms(300);
	memset(&all, 0xff, sizeof(all));
	for (int i = 0; i < n; i++) {
		if (!strcmp(argv[3], "free") && sched_setaffinity(pids[i], sizeof(all), &all))
			die("sched_setaffinity");
		before[i] = used_us(pids[i]);
	}
	sleep_ms(atoi(argv[1]));
	for (int i = 0; i < n; i++)
		printf("%llu\n", (unsigned long long)(used_us(pids[i]) - before[i]));
	return 0;
}
