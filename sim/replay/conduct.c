// SPDX-License-Identifier: GPL-2.0
/*
 * How far the replay goes. Where calls race, many ways on are tried from one place, and none of
 * them needs to begin where the recording does: a process that stands there begets one for each.
 *
 * Standard input has lines. "go CALL NUMBER": a process is begotten, which goes on to where this
 * call begins, or to the first difference or the end; it says where it is (replay_tell()) and is the
 * one that reads on. Each answer has the NUMBER of what was asked. "raced CALL WHERE" (races.c) is for the process of the next "go". "back":
 * it ends, and who begot it reads on. Where one dies on its way, {"asked": NUMBER, "died": STATUS} is
 * said instead, and who begot it reads on; so it is where one dies that stands.
 */
#include "replay.h"

bool replay_listen(char *line, unsigned int size);
bool replay_beget(int *status);
__noreturn void replay_exit(void);

u64 replay_asked;

static void tell_death(int status)
{
	struct sim_output *out = sim_output_open("-");
	char text[64];

	sim_output_write(out, text, snprintf(text, sizeof(text), "{\"asked\": %llu, \"died\": %d}\n",
					     replay_asked, status));
	sim_output_close(out);
}

/* Races that have been added for @ours and later ones are not for this process. */
static void go(u64 call, u64 number, unsigned int ours)
{
	int status;

	replay_asked = number;
	if (replay_beget(&status)) {
		replay_until(call);
		replay_tell();
		return;
	}
	replay_nr_races = ours;
	if (status)
		tell_death(status);
}

void replay_conduct(void)
{
	unsigned int ours = 0;
	char line[64];
	u64 call, number;

	while (replay_listen(line, sizeof(line)) && strcmp(line, "back")) {
		if (sscanf(line, "go %llu %llu", &call, &number) == 2) {
			go(call, number, ours);
			ours = replay_nr_races;
		} else {
			replay_add_race(line);
		}
	}
	replay_exit();
}
