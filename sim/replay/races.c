// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that race with other CPUs. When a call in the kernel has read what another one, or a tick,
 * wrote meanwhile is not recorded, so whoever runs this program tries: the lines "raced FRAME
 * begin" and "raced FRAME end" of the program say for which calls. They are counted by themselves.
 */
#include "replay.h"

#define MOST_RACES	1024

static struct {
	u64 frame;
	enum replay_moved moved;
} races[MOST_RACES];
static unsigned int nr_races;

void replay_add_race(const char *text)
{
	char where[8];
	u64 frame;

	if (nr_races == MOST_RACES || sscanf(text, "raced %llu %7s", &frame, where) != 2 ||
	    (strcmp(where, "begin") && strcmp(where, "end")))
		sim_bad_input(sim_options.program_name, 0, "a line is not: raced CALL begin|end");
	races[nr_races].frame = frame;
	races[nr_races++].moved = strcmp(where, "end") ? TO_BEGIN : TO_END;
}

enum replay_moved replay_moved(u64 frame)
{
	unsigned int i;

	for (i = 0; i < nr_races; i++)
		if (races[i].frame == frame)
			return races[i].moved;
	return NOT_MOVED;
}

u64 replay_jiffies(const struct replay_frame *f)
{
	if (f->moved != TO_END)
		return f->next_effect ? f->effects[f->next_effect - 1].jiffies : f->begin.jiffies;
	return f->next_effect < f->nr_effects ? f->effects[f->next_effect].jiffies :
		f->jiffies_at_end;
}
