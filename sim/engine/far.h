/* SPDX-License-Identifier: GPL-2.0 */
/* The part of the event queue that is far in the future: a heap. */
#ifndef _SIM_FAR_H
#define _SIM_FAR_H

#include "host.h"

struct sim_event *sim_far_first(void);
void sim_far_insert(struct sim_event *event);
void sim_far_remove(struct sim_event *event);
unsigned int sim_far_length(void);
void sim_far_each(void (*fn)(struct sim_event *event, void *arg), void *arg);

#endif /* _SIM_FAR_H */
