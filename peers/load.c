// SPDX-License-Identifier: GPL-2.0
/*
 * NAME [-p] [COMMAND ARG...]
 *
 * Loads the scheduler in NAME.bpf.c, runs COMMAND in SCHED_EXT (or, without
 * one, says "ready" and waits for a signal), unloads. -p: for threads alone that
 * chose SCHED_EXT, not for all fair ones. Exit status: the command's; 125 when
 * the scheduler could not be loaded or was ejected.
 */
#define _GNU_SOURCE
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCHED_EXT 7
#define FAILED 125

/* The compiled scheduler, inside this program: for 6.12, and for later kernels. */
__asm__(".section .rodata\n"
	".balign 8\n"
	"scheduler_begin: .incbin \"" NAME ".bpf.o\"\n"
	"scheduler_end:\n"
	".balign 8\n"
	"later_begin: .incbin \"" NAME ".6.13.bpf.o\"\n"
	"later_end:\n"
	".previous");
extern const char scheduler_begin[], scheduler_end[], later_begin[], later_end[];

static void quit(const char *what)
{
	fprintf(stderr, NAME ": %s: %s\n", what, strerror(errno));
	exit(FAILED);
}

static struct bpf_object *open_scheduler(void)
{
	struct utsname kernel;
	int version, patchlevel;

	if (uname(&kernel) || sscanf(kernel.release, "%d.%d", &version, &patchlevel) != 2)
		quit("uname");
	if (version > 6 || (version == 6 && patchlevel >= 13))
		return bpf_object__open_mem(later_begin, later_end - later_begin, NULL);
	return bpf_object__open_mem(scheduler_begin, scheduler_end - scheduler_begin, NULL);
}

static struct bpf_link *load(const char *name, const char *other)
{
	struct bpf_program *program;
	struct bpf_object *object;
	struct bpf_link *link;

	object = open_scheduler();
	if (!object)
		quit("opening the scheduler");
	bpf_map__set_autocreate(bpf_object__find_map_by_name(object, other), false);
	bpf_object__for_each_program(program, object) {
		if (strstr(bpf_program__section_name(program), "/sleepable/"))
			bpf_program__set_flags(program, BPF_F_SLEEPABLE);
	}
	if (bpf_object__load(object))
		quit("loading the scheduler");
	link = bpf_map__attach_struct_ops(bpf_object__find_map_by_name(object, name));
	if (!link)
		quit("starting the scheduler");
	return link;
}

static int enabled(void)
{
	char state[32] = "";
	FILE *file = fopen("/sys/kernel/sched_ext/state", "r");

	if (file) {
		if (!fgets(state, sizeof(state), file))
			state[0] = 0;
		fclose(file);
	}
	return !strcmp(state, "enabled\n");
}

static int run(char **command)
{
	struct sched_param param = {};
	int status;
	pid_t pid = fork();

	if (pid < 0)
		quit("fork");
	if (!pid) {
		if (sched_setscheduler(0, SCHED_EXT, &param))
			quit("SCHED_EXT");
		execvp(*command, command);
		quit(*command);
	}
	if (waitpid(pid, &status, 0) < 0)
		quit("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void wait_for_signal(void)
{
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	puts("ready");
	fflush(stdout);
	sigwait(&set, &signal);
}

int main(int argc, char **argv)
{
	int partial = argc > 1 && !strcmp(argv[1], "-p");
	char **command = argv + 1 + partial;
	struct bpf_link *link;
	int status = 0;

	link = partial ? load("partial", "full") : load("full", "partial");
	if (*command)
		status = run(command);
	else
		wait_for_signal();
	if (!enabled()) {
		fprintf(stderr, NAME ": the kernel has ejected the scheduler\n");
		status = FAILED;
	}
	bpf_link__destroy(link);
	return status;
}
