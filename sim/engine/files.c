// SPDX-License-Identifier: GPL-2.0
/* Files of the host. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine.h"

static int read_error;

const char *sim_read_error(void)
{
	return strerror(read_error);
}

char *sim_read_file(const char *path, unsigned long *size)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	unsigned long used = 0, room = 1 << 16;
	char *text, *larger;

	if (!file) {
		read_error = errno;
		return NULL;
	}
	text = sim_alloc(room);
	for (;;) {
		used += fread(text + used, 1, room - used - 1, file);
		if (used < room - 1)
			break;
		larger = sim_alloc(2 * room);
		memcpy(larger, text, room);
		sim_free(text);
		text = larger;
		room *= 2;
	}
	read_error = ferror(file) ? errno : 0;
	if (file != stdin)
		fclose(file);
	if (read_error) {
		sim_free(text);
		return NULL;
	}
	text[used] = 0;
	if (size)
		*size = used;
	return text;
}

void sim_error_write(const char *text, unsigned long length)
{
	fwrite(text, 1, length, stderr);
}
