/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wrong: a policy that makes, on purpose, the mistake that `fault` names. Each
 * fault replaces some handlers of a policy that is otherwise good, or the way
 * in which it is loaded. What each is about is said in saakm/lab/attacks/catalogue.py.
 */
#ifndef WRONG_H
#define WRONG_H

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/saakm.h>
#include <linux/sched/signal.h>

struct wrong_fault {
	const char *name;
	struct saakm_module_routines routines;	/* in place of the good ones */
	unsigned int task_size, core_size;
	saakm_key_fn key, bound;		/* of a tree, instead of a FIFO */
	bool class_queue;			/* core->rq, instead of queues of its own */
	bool shares;				/* likewise, and one queue for all cores */
	int (*load)(void);			/* instead of adding wrong_policy */
	void (*unload)(void);			/* before it is removed */
	bool stays;				/* it is not removed */
};

/* Each file's faults; the last one has no name. */
extern const struct wrong_fault call_faults[], election_faults[], field_faults[], loading_faults[],
	queue_faults[], share_faults[], storm_faults[], theft_faults[], wait_faults[];

extern struct saakm_policy wrong_policy;
DECLARE_PER_CPU(struct saakm_rq, wrong_rqs);

/* Is it time to be wrong? If so, that is counted. */
bool wrong_now(void);
/* For what cannot wait until its threads are there: always. */
bool wrong_at_once(void);
/* False until those who wait in a handler shall go on. */
bool wrong_released(void);
/* Threads that join with the parameter 1: what is done, is done to them. */
bool is_prey(struct task_struct *task);
/* A thread of another policy that is READY on another CPU than @cpu, or NULL. Under RCU. */
struct task_struct *foreign_waiting(int cpu);
/* Any other policy that has threads, or NULL. */
struct saakm_policy *foreign_policy(void);
/* The queue that the class keeps for that policy on @cpu, or NULL. */
struct saakm_rq *foreign_rq(int cpu);

static inline struct saakm_rq *wrong_rq(int cpu)
{
	return &per_cpu(wrong_rqs, cpu);
}

static inline int other_cpu(int cpu)
{
	return (cpu + 1) % num_online_cpus();
}

/* The good policy's. */
int good_init(struct saakm_policy *policy);
void good_place(struct process_event *event, struct core_event *core);
void good_tick(struct process_event *event, struct core_event *core);
struct task_struct *good_schedule(struct core_event *core);
/* An init: all cores share one queue. */
int share_all(struct saakm_policy *policy);

#endif /* WRONG_H */
