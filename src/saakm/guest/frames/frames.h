/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The frame loop of a game: each period one thread computes what happens, hands the frame to one that
 * draws it, and that one to a third, which shows it. A frame is late if it is shown after the period.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdint.h>

struct settings {
	long frames;		/* that are measured */
	long warmup;		/* before them, which are not */
	long period_us;
	long logic_us, render_us, present_us;	/* what each thread does for a frame: see work() */
};

struct frame {
	uint64_t due_ns;	/* when it begins, whether or not its first thread is late */
	uint64_t shown_ns;
};

_Noreturn void die(const char *what);

/* --- loop.c --- */

void loop(const struct settings *settings, struct frame *frames, long count);

/* --- report.c: one figure a line, `NAME: VALUE UNIT` --- */

void report(const struct frame *frames, long count, uint64_t period_ns);

#endif
