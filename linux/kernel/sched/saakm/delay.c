// SPDX-License-Identifier: GPL-2.0
/*
 * Delayed dequeue. A thread that goes to sleep stays in core->rq, DELAYED, if its policy's
 * block_delay says so: it competes on, so that a sleep does not cancel what it owes to others.
 * Elected, it leaves. Woken before that, it is READY where it is.
 *
 * The core knows such threads by sched_entity.sched_delayed, as those of the fair class: it
 * wakes them by ENQUEUE_DELAYED, and takes them out by DEQUEUE_DELAYED before they change
 * class. They count as runnable. A thread is in no other policy while it is delayed, and none
 * is moved by policies; affinity and hotplug may take it to another CPU.
 */

DEFINE_STATIC_KEY_FALSE(saakm_delaying);

/* @p, which has the CPU, goes to sleep: does it stay? Or its stay is over. */
static noinline bool saakm_delay(struct rq *rq, struct task_struct *p, int flags)
{
	const struct saakm_module_routines *ops = READ_ONCE(p->saakm.policy->ops);
	bool stays;

	if (flags & DEQUEUE_DELAYED)	/* it may have been ousted since it stays, and not run */
		p->saakm.event.flags &= ~SAAKM_EV_OUSTED;
	/* Spurious wakeups follow, which special states must not see. */
	if (!ops->block_delay || flags & (DEQUEUE_SPECIAL | DEQUEUE_DELAYED))
		return false;
	saakm_enter(p, SAAKM_H_block_delay);
	stays = ops->block_delay(&p->saakm.event,
				 &saakm_core(p->saakm.policy, cpu_of(rq))->event);
	saakm_leave();
	if (!stays)
		return false;
	p->se.sched_delayed = 1;
	rq->saakm.nr_delayed++;
	rq->saakm.special = true;
	return true;
}

/* Another thread gets the CPU that @p has left. Its queue may be lost, or its policy ejected. */
static noinline void saakm_put_delayed(struct rq *rq, struct task_struct *p)
{
	struct saakm_task *st = &p->saakm;
	struct saakm_rq *srq = &saakm_core(st->policy, cpu_of(rq))->event.rq;

	saakm_set_state(rq, p, SAAKM_DELAYED);
	if (likely(READ_ONCE(st->policy->ops) == &st->policy->own->routines &&
		   srq->owner == st->policy && saakm_rq_kind(srq) == st->policy->own->queue))
		saakm_rq_link(srq, p);
	else
		saakm_link_orphan(rq, p);
	st->event.flags = 0;
	st->in_kernel = SAAKM_NOT_PREEMPTED;
}

/* It may still have the CPU: the core was about to elect. */
static noinline void saakm_wake_delayed(struct rq *rq, struct task_struct *p)
{
	struct saakm_task *st = &p->saakm;

	st->event.flags = 0;
	st->event.prev_cpu = cpu_of(rq);
	st->event.waker_cpu = smp_processor_id();
	if (st->state == SAAKM_DELAYED)
		saakm_set_state(rq, p, SAAKM_READY);
	saakm_thread_event(rq, p, SAAKM_H_unblock_delayed,
			   READ_ONCE(st->policy->ops)->unblock_delayed);
	p->se.sched_delayed = 0;
	rq->saakm.nr_delayed--;
	if (st->rq && st->rq->key)
		saakm_rq_resort(p);
	/* As for one that is enqueued: see saakm_account_enqueue(). */
	saakm_server_start(rq);
	if (unlikely(rq->saakm.slice == SAAKM_SLICE_ALONE))
		saakm_slice_contend(rq);
}

/* It is on this runqueue again, on another CPU or after a change of parameters. */
static noinline void saakm_delayed_came(struct rq *rq, struct task_struct *p)
{
	rq->saakm.nr_delayed++;
	rq->saakm.special = true;
	if (p->saakm.state == SAAKM_READY)
		saakm_set_state(rq, p, SAAKM_DELAYED);
}

/* It is off the runqueue and BLOCKED: what block_task() has left to do. @p may be gone then. */
static noinline void saakm_delayed_left(struct rq *rq, struct task_struct *p)
{
	p->se.sched_delayed = 0;
	rq->saakm.nr_delayed--;
	__block_task(rq, p);
}

/* @p is about to leave its policy. */
static void saakm_cut_delay(struct rq *rq, struct task_struct *p)
{
	if (!p->se.sched_delayed)
		return;
	update_rq_clock(rq);
	dequeue_task(rq, p, DEQUEUE_SLEEP | DEQUEUE_DELAYED | DEQUEUE_NOCLOCK);
}

/* Those that no policy elects, since it passes over them or was ejected: nobody else waits. */
static struct task_struct *saakm_sleeper_alone(struct rq *rq)
{
	if (!rq->saakm.nr_delayed || rq->saakm.nr_delayed != rq->saakm.nr_running)
		return NULL;
	return list_first_entry(&rq->saakm.threads, struct task_struct, saakm.rq_node);
}

/*
 * @next is elected, or nobody: the next thread that does not sleep. As in the fair class,
 * elections end the stay of sleepers, core scheduling's for another CPU among them; and no CPU
 * idles with none but sleepers queued.
 */
struct task_struct *saakm_awake(struct rq *rq, struct task_struct *next)
{
	struct task_struct *curr = saakm_rq_curr(rq);

	for (;;) {
		next = next ?: saakm_sleeper_alone(rq);
		if (!next || !next->se.sched_delayed)
			return next;
		saakm_sched_class.dequeue_task(rq, next, DEQUEUE_SLEEP | DEQUEUE_DELAYED);
		next = rq->saakm.first ? saakm_elect(rq, curr->saakm.on_rq ? curr : NULL) : NULL;
	}
}
