// SPDX-License-Identifier: GPL-2.0
/*
 * sbf: the thread with the shortest burst runs, preemptively, as a textbook has it. It
 * promises that nobody starves, and does not keep it: whoever never sleeps has a long
 * burst and waits as long as short ones fill the CPU.
 */
#include <linux/module.h>
#include <linux/saakm.h>

struct sbf_task {
	u64 woke_ns;		/* its CPU time at the end of its last sleep */
	u64 burst_ns;		/* average of its bursts, or the present one if that is longer */
};

static DEFINE_PER_CPU(struct saakm_rq, sbf_rq);

static int sbf_order(const struct task_struct *a, const struct task_struct *b)
{
	struct sbf_task *ta = saakm_task_data(a), *tb = saakm_task_data(b);

	return ta->burst_ns < tb->burst_ns ? -1 : ta->burst_ns > tb->burst_ns;
}

static u64 sbf_present_ns(struct process_event *event)
{
	struct sbf_task *t = event->data;

	return saakm_task_runtime_ns(event->task) - t->woke_ns;
}

static int sbf_prepare(struct saakm_policy *policy, struct process_event *event)
{
	int cpu = saakm_idle_cpu_near(event->task, event->prev_cpu);

	return cpu >= 0 ? cpu : event->prev_cpu;
}

static void sbf_place(struct saakm_policy *policy, struct process_event *event,
		      struct core_event *core)
{
	change_state(event->task, SAAKM_READY, core->id, &per_cpu(sbf_rq, core->id));
}

static void sbf_new_place(struct saakm_policy *policy, struct process_event *event,
			  struct core_event *core)
{
	struct sbf_task *t = event->data;

	t->woke_ns = saakm_task_runtime_ns(event->task);
	sbf_place(policy, event, core);
}

static void sbf_tick(struct saakm_policy *policy, struct process_event *event,
		     struct core_event *core)
{
	struct task_struct *first = saakm_rq_first(&per_cpu(sbf_rq, core->id));
	struct sbf_task *t = event->data;

	t->burst_ns = max(t->burst_ns, sbf_present_ns(event));
	if (first && sbf_order(first, event->task) < 0)
		change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
}

static void sbf_block(struct saakm_policy *policy, struct process_event *event,
		      struct core_event *core)
{
	struct sbf_task *t = event->data;

	t->burst_ns = (t->burst_ns + sbf_present_ns(event)) / 2;
	t->woke_ns = saakm_task_runtime_ns(event->task);
}

static bool sbf_wakeup_preempt(struct saakm_policy *policy, struct task_struct *running,
			       struct task_struct *woken)
{
	return sbf_order(woken, running) < 0;
}

static struct task_struct *sbf_schedule(struct saakm_policy *policy, struct core_event *core)
{
	struct task_struct *first = saakm_rq_first(&per_cpu(sbf_rq, core->id));
	struct task_struct *curr = saakm_curr(core);

	return curr && first && sbf_order(curr, first) <= 0 ? curr : first;
}

static int sbf_init(struct saakm_policy *policy)
{
	return saakm_runqueues_init(&sbf_rq, SAAKM_RQ_RBTREE, sbf_order);
}

static const struct saakm_module_routines sbf_routines = {
	.init			= sbf_init,
	.new_prepare		= sbf_prepare,
	.new_place		= sbf_new_place,
	.unblock_prepare	= sbf_prepare,
	.unblock_place		= sbf_place,
	.requeue		= sbf_place,
	.block			= sbf_block,
	.tick			= sbf_tick,
	.wakeup_preempt		= sbf_wakeup_preempt,
	.schedule		= sbf_schedule,
};

static struct saakm_policy sbf = {
	.name		= "sbf",
	.routines	= &sbf_routines,
	.owner		= THIS_MODULE,
	.task_size	= sizeof(struct sbf_task),
};
module_saakm_policy(sbf);
MODULE_INFO(saakm_promises, "no-starvation");
MODULE_DESCRIPTION("SaaKM test: shortest burst first");
MODULE_LICENSE("GPL");
