// SPDX-License-Identifier: GPL-2.0
/* The simulator as a program: reads its options and its input, runs, and ends. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "engine.h"

_Bool sim_interrupted;
_Bool sim_misbehaves;
const struct sim_agents *sim_agents;

static struct sim_event boot, progress;

/* Stacks of strands are unknown to LeakSanitizer, which would take what they refer to for lost. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0:detect_stack_use_after_return=1";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "print_stacktrace=1:halt_on_error=1";
}

void sim_bad_input(const char *file, unsigned int line, const char *fmt, ...)
{
	char text[2048];
	va_list args;

	va_start(args, fmt);
	sim_kernel_vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fflush(stdout);
	if (file && line)
		fprintf(stderr, "%s:%u: %s\n", file, line, text);
	else if (file)
		fprintf(stderr, "%s: %s\n", file, text);
	else
		fprintf(stderr, "sim: %s\n", text);
	exit(2);
}

void sim_misbehaved(void)
{
	sim_misbehaves = 1;
}

void sim_die(void)
{
	static _Bool dying;

	sim_misbehaves = 1;
	if (!dying) {
		dying = 1;
		sim_core_finish();
	}
	fflush(NULL);
	_exit(1);
}

static void boots(struct sim_event *event)
{
	(void)event;
	sim_core_boot();
	sim_booted = true;
	sim_failing(true);
}

/* A line for each per cent of the time. It is no event of the simulation, and not counted. */
static void progresses(struct sim_event *event)
{
	char line[64];
	int length;

	length = snprintf(line, sizeof(line), "%llu %llu\n", sim_now, sim_events);
	sim_events--;
	if (write(sim_options.progress_fd, line, length) != length)
		return;			/* nobody reads any more */
	sim_event_set(event, sim_now + sim_options.end_ns / 100);
}

static void read_program(void)
{
	sim_options.program_name = sim_options.program;
	if (!strcmp(sim_options.program, "-"))
		sim_options.program_name = "standard input";
	sim_options.program_text = sim_read_file(sim_options.program, &sim_options.program_size);
	if (!sim_options.program_text)
		sim_bad_input(sim_options.program_name, 0, "cannot be read: %s", sim_read_error());
	if (strlen(sim_options.program_text) != sim_options.program_size)
		sim_bad_input(sim_options.program_name, 0, "is no text: it has a byte 0");
}

int sim_main(int argc, char **argv)
{
	sim_options_parse(argc, argv);
	if (sim_options.progress_fd >= 0)	/* else nobody would be left to stop it */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	read_program();
	sim_memory_init();
	sim_signals_init();
	sim_percpu_init(sim_options.cpus);
	sim_event_init(&boot, boots, -1);
	sim_event_set(&boot, 0);
	if (sim_options.progress_fd >= 0 && sim_options.end_ns >= 100) {
		sim_event_init(&progress, progresses, -1);
		sim_event_set(&progress, sim_options.end_ns / 100);
	}
	sim_run();
	sim_core_finish();
	if (fflush(stdout) || ferror(stdout)) {
		fputs("sim: the result could not be written to standard output\n", stderr);
		return 2;
	}
	return sim_misbehaves ? 1 : 0;
}
