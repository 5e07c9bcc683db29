// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that race with other CPUs. When a call in the kernel has read what another one, or a tick,
 * wrote meanwhile is not recorded, so whoever runs this program tries: the lines "raced FRAME
 * begin" and "raced FRAME end" say for which calls (conduct.c). They are counted by themselves.
 *
 * QEMU runs one CPU after the other, and leaves each where its turn happens to be over. So a call
 * may have read one thing before others came, and the next one after them: "raced FRAME 3" lets
 * them come before its third READ_ONCE(), of those between two effects between which others came.
 *
 * A static key is negative while the code that asks it is patched; from which call on that has been
 * done is not recorded either: "raced FRAME patched".
 */
#include "replay.h"

#define MOST_RACES	1024

bool replay_cutting;
unsigned int replay_nr_cut;

static struct {
	u64 frame;
	enum replay_moved moved;
	unsigned int read;
} races[MOST_RACES];
unsigned int replay_nr_races;

void replay_add_race(const char *text)
{
	static const char * const places[] = {
		[TO_BEGIN] = "begin", [TO_END] = "end", [PATCHED] = "patched",
	};
	enum replay_moved moved;
	unsigned int read = 0;
	char where[16];
	u64 frame;

	if (replay_nr_races == MOST_RACES || sscanf(text, "raced %llu %15s", &frame, where) != 2)
		where[0] = 0;
	for (moved = NOT_MOVED; moved < ARRAY_SIZE(places); moved++)
		if (places[moved] && !strcmp(where, places[moved]))
			break;
	if (moved == ARRAY_SIZE(places)) {
		moved = CUT;
		if (kstrtouint(where, 10, &read) || !read)
			sim_bad_input(sim_options.program_name, 0,
				      "a line is not: raced CALL begin|end|patched|READ");
	}
	races[replay_nr_races].frame = frame;
	races[replay_nr_races].read = read;
	races[replay_nr_races++].moved = moved;
}

void replay_move(struct replay_frame *f)
{
	unsigned int i;

	for (i = 0; i < replay_nr_races && races[i].frame != f->begin.frame; i++)
		;
	if (i == replay_nr_races)
		return;
	f->moved = races[i].moved;
	f->cut_at = races[i].read;
}

u64 replay_jiffies(const struct replay_frame *f)
{
	if (f->moved != TO_END && !f->is_cut)
		return f->next_effect ? f->effects[f->next_effect - 1].jiffies : f->begin.jiffies;
	return f->next_effect < f->nr_effects ? f->effects[f->next_effect].jiffies :
		f->jiffies_at_end;
}

/* READ_ONCE() in a call that is to be cut. */
void replay_count_read(void)
{
	struct replay_frame *f = replay_making;
	const struct replay_effect *next = replay_next_effect();

	if (!(next ? next->after_others : f->ends_after_others) || ++f->reads != f->cut_at)
		return;
	f->is_cut = true;
	replay_nr_cut++;
	replay_wait(next ? next->position : f->ends_at);
}
