// SPDX-License-Identifier: GPL-2.0
/*
 * Ready-made handlers: those that a policy may name, and those that it gets where
 * its queue is an ordered one. What a FIFO does by itself is in class.c.
 */

int saakm_prev_cpu(struct process_event *event)
{
	return event->prev_cpu;
}
EXPORT_SYMBOL_NS_GPL(saakm_prev_cpu, SAAKM);

int saakm_idle_prepare(struct process_event *event)
{
	int cpu = saakm_idle_cpu_near(event->task, event->prev_cpu);

	return cpu >= 0 ? cpu : event->prev_cpu;
}
EXPORT_SYMBOL_NS_GPL(saakm_idle_prepare, SAAKM);

bool saakm_preempt_by_order(struct task_struct *running, struct task_struct *woken)
{
	return saakm_goes_before(woken, running);
}
EXPORT_SYMBOL_NS_GPL(saakm_preempt_by_order, SAAKM);

static void saakm_attr_by_order(struct process_event *event, struct core_event *core)
{
	struct task_struct *p = saakm_task_of(event), *curr = saakm_rq_curr(task_rq(p));

	if (task_on_saakm(curr) && curr->saakm.policy == p->saakm.policy &&
	    saakm_first_differs(container_of(core, struct saakm_core, event), curr) < 0)
		resched_curr(task_rq(p));
}

/* What the author has written, completed by what follows from it. */
static void saakm_fill_routines(struct saakm_module_routines *routines,
				const struct saakm_policy *policy)
{
	*routines = policy->routines;
	routines->new_prepare = routines->new_prepare ?: routines->prepare;
	routines->unblock_prepare = routines->unblock_prepare ?: routines->prepare;
	routines->new_place = routines->new_place ?: routines->place;
	routines->unblock_place = routines->unblock_place ?: routines->place;
	if (policy->queue == SAAKM_RQ_NONE)
		routines->requeue = routines->requeue ?: routines->unblock_place;
	if (policy->key)
		routines->attr_changed = routines->attr_changed ?: saakm_attr_by_order;
}
