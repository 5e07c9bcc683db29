// SPDX-License-Identifier: GPL-2.0
/*
 * rr: one queue per CPU, a time slice, and balancing. A thread starts and wakes
 * on an idle CPU near its last one; a newly idle CPU takes a waiting thread
 * from the nearest queue that has one, and every CPU looks around from time to
 * time, so that none sleeps through a wakeup elsewhere.
 */
#include <linux/module.h>
#include <linux/saakm.h>

static unsigned int slice_us = 4000;
module_param(slice_us, uint, 0644);
MODULE_PARM_DESC(slice_us, "time slice; its end is noticed at a timer tick");

struct rr_task {
	u64 start_ns;		/* CPU time at which its slice began */
};

static DEFINE_PER_CPU(struct saakm_rq, rr_rq);

static int rr_prepare(struct saakm_policy *policy, struct process_event *event)
{
	int cpu = saakm_idle_cpu_near(event->task, event->prev_cpu);

	return cpu >= 0 ? cpu : event->prev_cpu;
}

static void rr_place(struct saakm_policy *policy, struct process_event *event,
		     struct core_event *core)
{
	change_state(event->task, SAAKM_READY, core->id, &per_cpu(rr_rq, core->id));
}

static void rr_running(struct saakm_policy *policy, struct process_event *event,
		       struct core_event *core)
{
	struct rr_task *rr = event->data;

	rr->start_ns = saakm_task_runtime_ns(event->task);
}

static void rr_tick(struct saakm_policy *policy, struct process_event *event,
		    struct core_event *core)
{
	struct rr_task *rr = event->data;
	u64 ran_ns = saakm_task_runtime_ns(event->task) - rr->start_ns;

	if (ran_ns >= (u64)slice_us * NSEC_PER_USEC && per_cpu(rr_rq, core->id).nr_tasks)
		change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
}

static struct task_struct *rr_schedule(struct saakm_policy *policy,
				       struct core_event *core)
{
	return saakm_curr(core) ?: saakm_rq_first(&per_cpu(rr_rq, core->id));
}

/* Takes one thread from the nearest queue with more than @spare of them. */
static void rr_pull(int cpu, unsigned int spare)
{
	struct topology_level *level;
	int other;

	for_each_topology_level(level, cpu) {
		for_each_cpu_wrap(other, &level->cores, cpu + 1) {
			struct saakm_rq *from = &per_cpu(rr_rq, other);

			if (other != cpu && READ_ONCE(from->nr_tasks) > spare &&
			    saakm_steal(from, cpu, &per_cpu(rr_rq, cpu), 1, NULL) > 0)
				return;
		}
	}
}

static void rr_newly_idle(struct saakm_policy *policy, struct core_event *core)
{
	rr_pull(core->id, 0);
}

static void rr_balance(struct saakm_policy *policy, struct core_event *core)
{
	rr_pull(core->id, READ_ONCE(core->nr_runnable));
}

static int rr_init(struct saakm_policy *policy)
{
	return saakm_runqueues_init(&rr_rq, SAAKM_RQ_FIFO, NULL);
}

static const struct saakm_module_routines rr_routines = {
	.init			= rr_init,
	.new_prepare		= rr_prepare,
	.new_place		= rr_place,
	.unblock_prepare	= rr_prepare,
	.unblock_place		= rr_place,
	.running		= rr_running,
	.tick			= rr_tick,
	.schedule		= rr_schedule,
	.newly_idle		= rr_newly_idle,
	.balancing_select	= rr_balance,
};

static struct saakm_policy rr = {
	.name			= "rr",
	.routines		= &rr_routines,
	.owner			= THIS_MODULE,
	.task_size		= sizeof(struct rr_task),
	.balance_interval_ms	= 16,
};
module_saakm_policy(rr);
MODULE_INFO(saakm_promises, "work-conservation, no-starvation, fairness");
MODULE_DESCRIPTION("SaaKM: round robin with idle placement and stealing");
MODULE_LICENSE("GPL");
