// SPDX-License-Identifier: GPL-2.0
/*
 * vtime: weighted fair sharing of each CPU. A thread's virtual time advances by
 * the CPU time that it uses, slower for heavier nice values and cgroups; the
 * thread with the least virtual time runs. A sleeper comes back with at most 4 ms
 * of credit. No balancing beyond the choice of an idle CPU at fork and wakeup.
 */
#include <linux/saakm.h>

/* Credit: of a sleeper; half of it is the lead that preempts. Debt: see vtime_place(). */
#define CREDIT_VT	(4 * NSEC_PER_MSEC)
#define DEBT_VT		NSEC_PER_SEC

/* Virtual times are ns at nice 0. They wrap: only differences mean something. */
struct vtime_core {
	u64 clock_vt;			/* greatest virtual time at which one ran */
};

struct vtime_task {
	u64 runtime_vt;
	struct vtime_core *core;	/* whose clock it is relative to; NULL: it is new */
};

static u64 vtime_key(const struct task_struct *task)
{
	struct vtime_task *t = saakm_task_data(task);

	return t->runtime_vt;
}

/*
 * A new thread starts late, or forks would keep others out. Another one keeps its
 * distance to the clock of the core that it comes from, which went on while it slept:
 * so it gains credit there. A debt is some ticks' worth, unless a clock has wrapped
 * since: then it is nonsense.
 */
static void vtime_place(struct process_event *event, struct core_event *core)
{
	struct vtime_core *c = core->data;
	struct vtime_task *t = event->data;
	s64 lead_vt = t->core ? t->runtime_vt - READ_ONCE(t->core->clock_vt) : CREDIT_VT;

	t->runtime_vt = c->clock_vt + clamp(lead_vt, -CREDIT_VT, DEBT_VT);
	t->core = c;
}

/* A thread that is alone takes the clock along: who comes does not go before it for long. */
static void vtime_used(struct process_event *event, struct core_event *core, u64 used_ns)
{
	u64 used_vt = saakm_weighted_ns(event->task, used_ns);
	struct vtime_core *c = core->data;
	struct vtime_task *t = event->data;
	u64 began_vt = t->runtime_vt;

	t->runtime_vt += used_vt;
	if (core->nr_runnable == 1)
		began_vt = t->runtime_vt;
	if (saakm_before(c->clock_vt, began_vt))
		WRITE_ONCE(c->clock_vt, began_vt);
}

static bool vtime_wakeup_preempt(struct task_struct *running, struct task_struct *woken)
{
	struct vtime_task *r = saakm_task_data(running), *w = saakm_task_data(woken);

	return saakm_before(w->runtime_vt + CREDIT_VT / 2, r->runtime_vt);
}

SAAKM_POLICY(vtime,
	     .queue = SAAKM_RQ_RBTREE, .key = vtime_key, .yield_to_any = true,
	     .task_size = sizeof(struct vtime_task), .core_size = sizeof(struct vtime_core),
	     .place = vtime_place,
	     .used = vtime_used,
	     .wakeup_preempt = vtime_wakeup_preempt);
MODULE_INFO(saakm_promises, "no-starvation, fairness, weights");
