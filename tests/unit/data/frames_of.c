// SPDX-License-Identifier: GPL-2.0
/* A hundred frames, one each 10 ms: frame N takes N times 0.2 ms, so that half of them are late. */
#include "frames.h"

#include <stdio.h>
#include <stdlib.h>

#define MS	1000000ull
#define COUNT	100

void die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

int main(void)
{
	static struct frame frames[COUNT];

	for (int i = 0; i < COUNT; i++) {
		/* In another order than that of what they take. */
		int takes = (i * 37 + 11) % COUNT + 1;

		frames[i].due_ns = (i + 5) * 10 * MS;
		frames[i].shown_ns = frames[i].due_ns + takes * MS / 5;
	}
	report(frames, COUNT, 10 * MS);
	return 0;
}
