// SPDX-License-Identifier: GPL-2.0
#include "frames.h"
#include "options.h"

#include <stdio.h>
#include <stdlib.h>

static struct settings settings = {
	.frames = 300,
	.warmup = 20,
	.period_us = 16667,
	.logic_us = 500,
	.render_us = 1000,
	.present_us = 250,
};

static const struct parameter parameters[] = {
	{ { "frames", 1, NULL, 'n' }, &settings.frames, 1, 10000000, "frames that are measured" },
	{ { "warmup", 1, NULL, 'w' }, &settings.warmup, 0, 10000000,
	  "frames before them, which are not" },
	{ { "period", 1, NULL, 'p' }, &settings.period_us, 1, 10000000, "us from a frame to the next" },
	{ { "logic", 1, NULL, 'l' }, &settings.logic_us, 0, 10000000,
	  "thousands of instructions of the first thread in each frame" },
	{ { "render", 1, NULL, 'r' }, &settings.render_us, 0, 10000000, "of the second thread" },
	{ { "present", 1, NULL, 's' }, &settings.present_us, 0, 10000000, "of the third thread" },
};

static const struct command_line line = { "frames", parameters,
					  sizeof(parameters) / sizeof(parameters[0]) };

void die(const char *what)
{
	fprintf(stderr, "frames: %s\n", what);
	exit(1);
}

int main(int argc, char **argv)
{
	struct frame *frames;
	long count;

	options_parse(&line, argc, argv);
	count = settings.warmup + settings.frames;
	frames = calloc(count, sizeof(*frames));
	if (!frames)
		die("no memory for so many frames");
	loop(&settings, frames, count);
	report(frames + settings.warmup, settings.frames, settings.period_us * 1000);
	return 0;
}
