// SPDX-License-Identifier: GPL-2.0
/*
 * What events will look at is fetched from memory while others happen: with thousands of threads
 * none of it is in a cache, and a simulation would spend its time in waiting for that.
 */
#include "model.h"

#define LINE		64
#define SUBJECT_LINES	7

void sim_core_fetch(const struct sim_event *event, bool later)
{
	const char *subject = event->subject;
	unsigned int i;

	if (later || !subject)
		return;
	__builtin_prefetch((const char *)event - LINE);
	__builtin_prefetch((const char *)event + LINE);
	for (i = 0; i < SUBJECT_LINES; i++)
		__builtin_prefetch(subject + i * LINE);
}
