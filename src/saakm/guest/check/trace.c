// SPDX-License-Identifier: GPL-2.0
/* The kernel's own record of what happened, for the host to judge. */
#include "check.h"

#include <fcntl.h>

#define TRACING "/sys/kernel/tracing/"

static int marker = -1;

/* Events as "system/name", separated by blanks. */
void trace_start(const char *events)
{
	char list[256], path[300];

	snprintf(list, sizeof(list), "%s", events);
	write_file(TRACING "trace_clock", "mono");
	write_file(TRACING "buffer_size_kb", "8192");
	for (char *name = strtok(list, " "); name; name = strtok(NULL, " ")) {
		snprintf(path, sizeof(path), TRACING "events/%s/enable", name);
		write_file(path, "1");
	}
	marker = open(TRACING "trace_marker", O_WRONLY);
	if (marker < 0)
		die("trace_marker");
}

void trace_note(const char *fmt, ...)
{
	char text[128];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (write(marker, text, n) != n)
		die("trace_marker");
}

void trace_stop(void)
{
	char line[512];
	FILE *trace;

	write_file(TRACING "tracing_on", "0");
	trace = fopen(TRACING "trace", "r");
	if (!trace)
		die("the trace");
	begin_to_speak();
	printf("BEGIN trace\n");
	while (fgets(line, sizeof(line), trace))
		if (line[0] != '#')
			fputs(line, stdout);
	printf("END trace\n");
	end_speaking();
	fclose(trace);
}
