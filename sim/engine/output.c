// SPDX-License-Identifier: GPL-2.0
/* Files: read as a whole, written through a buffer. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"

#define BUFFER_SIZE	65536

int sim_result_fd = STDOUT_FILENO;

struct sim_output {
	FILE		*file;
	const char	*path;
};

static FILE *open_standard_output(void)
{
	int fd;

	if (sim_result_fd == STDOUT_FILENO)
		return stdout;
	fd = dup(sim_result_fd);
	return fd < 0 ? NULL : fdopen(fd, "w");
}

struct sim_output *sim_output_open(const char *path)
{
	struct sim_output *output = sim_alloc(sizeof(*output));

	output->path = path;
	output->file = strcmp(path, "-") ? fopen(path, "w") : open_standard_output();
	if (!output->file) {
		sim_free(output);
		return NULL;
	}
	setvbuf(output->file, NULL, _IOFBF, BUFFER_SIZE);
	return output;
}

void sim_output_write(struct sim_output *output, const char *text, unsigned long length)
{
	fwrite(text, 1, length, output->file);
}

/* A result that is not all there must not look like one. */
void sim_output_close(struct sim_output *output)
{
	const char *path = output->path;
	int failed = ferror(output->file);

	if (output->file == stdout)
		failed |= fflush(stdout);
	else
		failed |= fclose(output->file);
	sim_free(output);
	if (failed)
		sim_bad_input(strcmp(path, "-") ? path : "standard output", 0,
			      "not everything could be written: %s", strerror(errno));
}
