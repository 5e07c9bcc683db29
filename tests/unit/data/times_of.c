// SPDX-License-Identifier: GPL-2.0
/*
 * Two clients: one ends a pass each 10 ms until 40, the other one at 25, 50, 60 and 61. With an argument
 * only what begins at 10 ms or later is asked for.
 */
#include "loadfile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define MS	1000000ull

static struct client clients[2] = {
	{ .passes = 4, .ends = { 10 * MS, 20 * MS, 30 * MS, 40 * MS } },
	{ .passes = 4, .ends = { 25 * MS, 50 * MS, 60 * MS, 61 * MS } },
};

void die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	exit(1);
}

int main(int argc, char **argv)
{
	(void)argv;
	times_report(clients, 2, argc > 1 ? 10 * MS : 0);
	return 0;
}
