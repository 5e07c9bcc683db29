// SPDX-License-Identifier: GPL-2.0
/*
 * A policy that keeps a list of all its threads, and walks it at each tick. test_sim_torture.py
 * compiles it as it is, which is right, and with a line left out.
 */
#include <linux/saakm.h>

struct census_task {
	struct list_head	node;
	raw_spinlock_t		lock;
	u64			seen;
};

static LIST_HEAD(all);
static DEFINE_RAW_SPINLOCK(all_lock);

static int census_prepare(struct process_event *event)
{
	return saakm_idle_prepare(event);
}

static void census_new_end(struct process_event *event, struct core_event *core)
{
	struct census_task *t = event->data;

	raw_spin_lock_init(&t->lock);
	guard(raw_spinlock)(&all_lock);
	list_add(&t->node, &all);
}

static void census_terminate(struct process_event *event, struct core_event *core)
{
	struct census_task *t = event->data;

	/* Who joins while it sleeps, and leaves before it wakes, has not come yet. */
	if (!t->node.next)
		return;
	guard(raw_spinlock)(&all_lock);	/* leaves the list */
	list_del(&t->node);
}

static void census_tick(struct process_event *event, struct core_event *core)
{
	struct census_task *t;

	guard(raw_spinlock)(&all_lock);
	list_for_each_entry(t, &all, node) {
		guard(raw_spinlock)(&t->lock);
		t->seen++;
	}
}

SAAKM_POLICY(census,
	     .slice_us = 1000,
	     .task_size = sizeof(struct census_task),
	     .prepare = census_prepare,
	     .new_end = census_new_end,
	     .terminate = census_terminate,
	     .tick = census_tick);
