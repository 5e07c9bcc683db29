// SPDX-License-Identifier: GPL-2.0
/*
 * The first process of a guest that checks a policy: loads it, runs one check, says
 * what came of it, powers off.
 *
 * Arguments, from the kernel command line: policy=NAME (of NAME.ko), check=NAME,
 * seed=N, scale=PERCENT (of the usual count), and parameters=A=B,C=D for the module.
 * Prints lines that begin with TRIED, FAILED or VERDICT, and what the kernel knows
 * between BEGIN and END.
 */
#include "check.h"

#include <fcntl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <termios.h>

#define SAID "/said"
#define LIMIT_S 120
#define SHOW_WARNINGS 7
#define SHOW_EMERGENCIES 1
#define SET_CONSOLE_LEVEL 8

static const struct {
	const char *name;
	void (*run)(void);
} checks[] = {
	{ "lifecycle",		check_lifecycle },
	{ "order",		check_order },
	{ "wakeups",		check_wakeups },
	{ "affinity",		check_affinity },
	{ "work-conservation",	check_conservation },
	{ "no-starvation",	check_starvation },
	{ "fairness",		check_fairness },
	{ "weights",		check_weights },
	{ "storm",		check_storm },
	{ "reload",		check_reload },
	{ "hotplug",		check_hotplug },
	{ "leaks",		check_leaks },
};

/* The kernel's messages come over the same line, and would stand in the midst of ours. */
void begin_to_speak(void)
{
	klogctl(SET_CONSOLE_LEVEL, NULL, SHOW_EMERGENCIES);
}

void end_speaking(void)
{
	fflush(stdout);
	tcdrain(STDOUT_FILENO);
	klogctl(SET_CONSOLE_LEVEL, NULL, SHOW_WARNINGS);
}

void tried(const char *fmt, ...)
{
	va_list args;

	begin_to_speak();
	va_start(args, fmt);
	printf("TRIED ");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
	end_speaking();
}

static void run_check(void)
{
	struct sched_param above = { .sched_priority = 50 };
	int said = open(SAID, O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (said < 0 || dup2(said, STDERR_FILENO) < 0)
		die(SAID);
	if (sched_setscheduler(0, SCHED_FIFO, &above))
		die("sched_setscheduler");
	crowd_seed = seed();
	limit_seconds(LIMIT_S);
	insert_policy();
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
		if (!strcmp(checks[i].name, argument("check", "")))
			checks[i].run();
	refuse_ejected();
	after_all();
	_exit(0);
}

/* What the child said in its trouble, a line each; an ejection explains all else. */
static int tell_failures(void)
{
	FILE *said = fopen(SAID, "r");
	char line[1024];
	int n = 0;

	if (find_ejection(line, sizeof(line)))
		n += printf("FAILED %s\n", line);
	while (said && fgets(line, sizeof(line), said)) {
		printf("FAILED %s", line);
		n++;
	}
	if (said)
		fclose(said);
	return n;
}

static void print_command(const char *title, char *const argv[])
{
	pid_t pid;

	printf("BEGIN %s\n", title);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		execv(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	printf("END %s\n", title);
	fflush(stdout);
}

static void prepare(void)
{
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	klogctl(SET_CONSOLE_LEVEL, NULL, SHOW_WARNINGS);
	write_file("/sys/kernel/saakm/on_violation", "eject");
	write_file("/sys/kernel/saakm/check_transitions", "1");
	write_file("/sys/kernel/saakm/history", "1");
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	/* An exec of one of the policy's threads. */
	if (argc > 1 && !strcmp(argv[1], "again"))
		return sched_getscheduler(0) == SCHED_SAAKM ? 0 : 3;
	prepare();
	pid = fork();
	if (!pid)
		run_check();
	while (waitpid(pid, &status, 0) != pid)
		;
	begin_to_speak();
	if (status && !tell_failures())
		printf("FAILED the check itself ended with status %#x\n", status);
	if (status)
		print_command("dump", (char *[]){ "/saakmctl", "dump", (char *)policy_name(), NULL });
	printf("VERDICT %s\n", status ? "failed" : "held");
	end_speaking();
	reboot(RB_POWER_OFF);
	return 0;
}
