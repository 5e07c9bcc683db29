/* SPDX-License-Identifier: GPL-2.0 */
/* The part of the event queue that is neither about to happen nor far in the future: a ring of buckets. */
#ifndef _SIM_RING_H
#define _SIM_RING_H

#include "host.h"

#define SIM_BUCKET_SHIFT	13		/* 8,192 ns */
#define SIM_NR_BUCKETS		2048		/* 16 ms */

/* Positions of events that are in the ring. Those of others are below, but for SIM_DEFERRED. */
#define SIM_RING_FIRST		0x80000000U

/* Number of the bucket that is for @at, in time from 0 on. */
static inline sim_u64 sim_bucket(sim_u64 at)
{
	return at >> SIM_BUCKET_SHIFT;
}

void sim_ring_insert(struct sim_event *event);
void sim_ring_remove(struct sim_event *event);
unsigned int sim_ring_length(void);

/* The first bucket from @from on, at most a round later, that has something. The ring is not empty. */
sim_u64 sim_ring_next(sim_u64 from);

/* Take out what is in that one: its events, mostly in the order in which they were set. */
unsigned int sim_ring_take(sim_u64 number, struct sim_event ***events);

/* That one's events will soon be looked at. */
void sim_ring_fetch(sim_u64 number);

void sim_ring_each(void (*fn)(struct sim_event *event, void *arg), void *arg);

#endif /* _SIM_RING_H */
