/* SPDX-License-Identifier: GPL-2.0 */
/* A thread that sleeps until it is woken, and counts how often. */
#ifndef SLEEPER_H
#define SLEEPER_H

#include "subject.h"
#include <sys/eventfd.h>

static int sleeper_event = -1;	/* eventfd, of the program's making */

static inline void sleeper_wake(void)
{
	uint64_t one = 1;

	if (write(sleeper_event, &one, sizeof(one)) != sizeof(one))
		die("eventfd");
}

static inline void sleeper_run(struct subject *self)
{
	uint64_t value;

	while (!self->stop) {
		if (read(sleeper_event, &value, sizeof(value)) != sizeof(value))
			die("eventfd");
		self->progress++;
	}
}

#endif /* SLEEPER_H */
