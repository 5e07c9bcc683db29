// SPDX-License-Identifier: GPL-2.0
/* slicer: a FIFO with a slice, which notes when each slice ends. Times are of the CPU's clock. */
#include <linux/saakm.h>

static unsigned int own_us;
module_param(own_us, uint, 0444);
MODULE_PARM_DESC(own_us, "slice of each thread, by saakm_set_slice() when it is placed");
static bool in_running;
module_param(in_running, bool, 0444);
MODULE_PARM_DESC(in_running, "not then, but when it gets the CPU");
/* Of the turns that ended by the slice: how many, how long, how many were late. */
static unsigned int ended, shortest_ns = UINT_MAX, longest_ns, late;
module_param(ended, uint, 0644);
module_param(shortest_ns, uint, 0444);
module_param(longest_ns, uint, 0444);
module_param(late, uint, 0444);
/* Of the others, while somebody waited: how long. */
static unsigned int longest_other_ns;
module_param(longest_other_ns, uint, 0444);
static unsigned int ticks;
module_param(ticks, uint, 0444);

struct slicer_task {
	u64 began_ns;
	bool contended;		/* somebody waited when the turn began */
};

static void slicer_place(struct process_event *event, struct core_event *core)
{
	if (own_us && !in_running)
		saakm_set_slice(event->task, (u64)own_us * NSEC_PER_USEC);
}

static void slicer_running(struct process_event *event, struct core_event *core)
{
	struct slicer_task *t = event->data;

	t->began_ns = event->task->saakm.since_ns;
	t->contended = core->nr_runnable > 1;
	if (in_running)
		saakm_set_slice(event->task, (u64)own_us * NSEC_PER_USEC);
}

static void slicer_tick(struct process_event *event, struct core_event *core)
{
	ticks++;
}

/* since_ns: when it was told to make way, or else got the CPU. */
static void slicer_requeue(struct process_event *event, struct core_event *core)
{
	struct slicer_task *t = event->data;
	unsigned int slice_us = own_us ?: core->policy->slice_us;
	unsigned int turn_ns;

	if (!t->contended)
		return;
	if (!(event->flags & SAAKM_EV_TICK)) {
		turn_ns = saakm_clock_ns(core) - t->began_ns;
		longest_other_ns = max(longest_other_ns, turn_ns);
		return;
	}
	turn_ns = event->task->saakm.since_ns - t->began_ns;
	ended++;
	shortest_ns = min(shortest_ns, turn_ns);
	longest_ns = max(longest_ns, turn_ns);
	late += turn_ns > (slice_us + 1) * NSEC_PER_USEC;
}

SAAKM_POLICY(slicer,
	     .prepare = saakm_prev_cpu, .task_size = sizeof(struct slicer_task),
	     .place = slicer_place, .running = slicer_running, .tick = slicer_tick,
	     .requeue = slicer_requeue);
