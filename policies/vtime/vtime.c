// SPDX-License-Identifier: GPL-2.0
/*
 * vtime: weighted fair sharing of each CPU. A thread's virtual time advances by
 * the CPU time that it uses, slower for heavier nice values; the thread with
 * the least virtual time runs. A sleeper comes back with at most one slice of
 * credit. No balancing beyond the choice of an idle CPU at fork and wakeup.
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/saakm.h>

static unsigned int slice_us = 4000;
module_param(slice_us, uint, 0644);
MODULE_PARM_DESC(slice_us, "credit of a sleeper; half of it is the lead that preempts");

struct vtime_task {
	u64 runtime_vt;		/* virtual run time, ns at nice 0 */
	u64 charged_ns;		/* CPU time that runtime_vt accounts for */
	int cpu;		/* whose clock runtime_vt is relative to */
};

struct vtime_cpu {
	struct saakm_rq rq;
	u64 clock_vt;		/* greatest virtual time that began to run */
};

static DEFINE_PER_CPU(struct vtime_cpu, vtime_cpus);

static bool vtime_before(u64 a_vt, u64 b_vt)
{
	return (s64)(a_vt - b_vt) < 0;
}

static int vtime_order(const struct task_struct *a, const struct task_struct *b)
{
	struct vtime_task *ta = saakm_task_data(a), *tb = saakm_task_data(b);

	return vtime_before(ta->runtime_vt, tb->runtime_vt) ? -1 :
	       ta->runtime_vt != tb->runtime_vt;
}

static void vtime_charge(struct task_struct *task)
{
	struct vtime_task *t = saakm_task_data(task);
	u64 now_ns = saakm_task_runtime_ns(task);

	t->runtime_vt += div_u64((now_ns - t->charged_ns) * 1024, saakm_task_weight(task));
	t->charged_ns = now_ns;
}

static u64 vtime_slice_ns(void)
{
	return (u64)slice_us * NSEC_PER_USEC;
}

static int vtime_prepare(struct saakm_policy *policy, struct process_event *event)
{
	int cpu = saakm_idle_cpu_near(event->task, event->prev_cpu);

	return cpu >= 0 ? cpu : event->prev_cpu;
}

static void vtime_insert(struct task_struct *task, struct core_event *core)
{
	change_state(task, SAAKM_READY, core->id, &per_cpu(vtime_cpus, core->id).rq);
}

static void vtime_new_place(struct saakm_policy *policy,
			    struct process_event *event, struct core_event *core)
{
	struct vtime_task *t = event->data;

	t->runtime_vt = per_cpu(vtime_cpus, core->id).clock_vt;
	t->charged_ns = saakm_task_runtime_ns(event->task);
	t->cpu = core->id;
	vtime_insert(event->task, core);
}

static void vtime_unblock_place(struct saakm_policy *policy,
				struct process_event *event,
				struct core_event *core)
{
	u64 clock_vt = per_cpu(vtime_cpus, core->id).clock_vt;
	struct vtime_task *t = event->data;

	if (t->cpu != core->id) {
		t->runtime_vt += clock_vt - READ_ONCE(per_cpu(vtime_cpus, t->cpu).clock_vt);
		t->cpu = core->id;
	}
	if (vtime_before(t->runtime_vt, clock_vt - vtime_slice_ns()))
		t->runtime_vt = clock_vt - vtime_slice_ns();
	vtime_insert(event->task, core);
}

static void vtime_requeue(struct saakm_policy *policy,
			  struct process_event *event, struct core_event *core)
{
	vtime_charge(event->task);
	vtime_insert(event->task, core);
}

static void vtime_block(struct saakm_policy *policy, struct process_event *event,
			struct core_event *core)
{
	vtime_charge(event->task);
}

static void vtime_running(struct saakm_policy *policy,
			  struct process_event *event, struct core_event *core)
{
	struct vtime_cpu *vcpu = &per_cpu(vtime_cpus, core->id);
	struct vtime_task *t = event->data;

	if (vtime_before(vcpu->clock_vt, t->runtime_vt))
		WRITE_ONCE(vcpu->clock_vt, t->runtime_vt);
}

static void vtime_tick(struct saakm_policy *policy, struct process_event *event,
		       struct core_event *core)
{
	struct task_struct *first = saakm_rq_first(&per_cpu(vtime_cpus, core->id).rq);

	vtime_charge(event->task);
	if (first && vtime_order(first, event->task) < 0)
		change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
}

static bool vtime_wakeup_preempt(struct saakm_policy *policy,
				 struct task_struct *running,
				 struct task_struct *woken)
{
	struct vtime_task *r = saakm_task_data(running), *w = saakm_task_data(woken);

	vtime_charge(running);
	return vtime_before(w->runtime_vt + vtime_slice_ns() / 2, r->runtime_vt);
}

static struct task_struct *vtime_schedule(struct saakm_policy *policy,
					  struct core_event *core)
{
	struct task_struct *first = saakm_rq_first(&per_cpu(vtime_cpus, core->id).rq);
	struct task_struct *curr = saakm_curr(core);

	return curr && first && vtime_order(curr, first) <= 0 ? curr : first;
}

static int vtime_init(struct saakm_policy *policy)
{
	return saakm_runqueues_init(&vtime_cpus.rq, SAAKM_RQ_RBTREE, vtime_order);
}

static const struct saakm_module_routines vtime_routines = {
	.init			= vtime_init,
	.new_prepare		= vtime_prepare,
	.new_place		= vtime_new_place,
	.unblock_prepare	= vtime_prepare,
	.unblock_place		= vtime_unblock_place,
	.requeue		= vtime_requeue,
	.block			= vtime_block,
	.running		= vtime_running,
	.tick			= vtime_tick,
	.wakeup_preempt		= vtime_wakeup_preempt,
	.schedule		= vtime_schedule,
};

static struct saakm_policy vtime = {
	.name		= "vtime",
	.routines	= &vtime_routines,
	.owner		= THIS_MODULE,
	.task_size	= sizeof(struct vtime_task),
};
module_saakm_policy(vtime);
MODULE_INFO(saakm_promises, "no-starvation, fairness, weights");
MODULE_DESCRIPTION("SaaKM: weighted virtual time");
MODULE_LICENSE("GPL");
