// SPDX-License-Identifier: GPL-2.0
/*
 * Time slices. A slice begins when a thread gets the CPU, and counts its CPU time.
 * When it ends while others of its policy wait here, the thread is READY_TICK, as
 * if its tick had said so. Slices of a tick or more end at a tick. Shorter ones end
 * by a timer of this CPU, which is armed only while somebody waits.
 */

#define SAAKM_SLICE_MIN_NS	(5 * NSEC_PER_USEC)
#define SAAKM_SLICE_REST_NS	(1 * NSEC_PER_USEC)
#define SAAKM_SLICE_MAX_NS	BIT_ULL(62)		/* added to a time it is no past one */

/* Somebody waits, or may without a sign to this CPU. */
static bool saakm_to_be_timed(struct rq *rq, const struct task_struct *p)
{
	const struct saakm_core *core = saakm_core(p->saakm.policy, cpu_of(rq));

	return core->nr_runnable > 1 || core->shared;
}

/*
 * On the CPU itself: timers are armed where they fire. The time is counted from the
 * runqueue's clock, as the thread's CPU time is, which has been read a while ago.
 */
static void saakm_slice_arm(struct rq *rq, u64 left_ns)
{
	s64 passed_ns = sched_clock_cpu(cpu_of(rq)) - rq->clock;

	rq->saakm.slice = SAAKM_SLICE_ARMED;
	/* What is left may not shrink while interrupts run: not again and again for nothing. */
	left_ns = max_t(s64, left_ns - max_t(s64, passed_ns, 0), SAAKM_SLICE_REST_NS);
	hrtimer_start(&rq->saakm.slice_timer, ns_to_ktime(left_ns), HRTIMER_MODE_REL_PINNED_HARD);
}

void saakm_slice_cancel(struct rq *rq)
{
	rq->saakm.slice = SAAKM_SLICE_UNTIMED;
	hrtimer_try_to_cancel(&rq->saakm.slice_timer);
}

/* The running thread @p has a slice, or had one. */
void saakm_slice_begin(struct rq *rq, struct task_struct *p)
{
	u64 slice_ns = saakm_slice_ns(p);

	if (!slice_ns) {
		p->saakm.slice_end_ns = 0;
	} else {
		slice_ns = max_t(u64, slice_ns, SAAKM_SLICE_MIN_NS);
		p->saakm.slice_end_ns = p->se.sum_exec_runtime + slice_ns;
	}
	if (!slice_ns || slice_ns >= TICK_NSEC) {
		if (rq->saakm.slice)
			saakm_slice_cancel(rq);
	} else if (cpu_of(rq) != smp_processor_id()) {
		rq->saakm.slice = SAAKM_SLICE_ALONE;
		irq_work_queue_on(&rq->saakm.slice_kick, cpu_of(rq));
	} else if (saakm_to_be_timed(rq, p)) {
		saakm_slice_arm(rq, slice_ns);
	} else {
		rq->saakm.slice = SAAKM_SLICE_ALONE;
	}
}

/* Whose slice counts here, or NULL. */
static struct task_struct *saakm_slice_owner(struct rq *rq)
{
	struct task_struct *curr = saakm_rq_curr(rq);

	return task_on_saakm(curr) && curr->saakm.on_rq && curr->saakm.slice_end_ns &&
	       curr->saakm.state == SAAKM_RUNNING ? curr : NULL;
}

/* @p was taken out while it ran, which has cancelled its timer. */
void saakm_slice_resume(struct rq *rq, struct task_struct *p)
{
	if (p->saakm.state != SAAKM_RUNNING || saakm_slice_ns(p) >= TICK_NSEC)
		return;
	rq->saakm.slice = SAAKM_SLICE_ALONE;
	saakm_slice_contend(rq);
}

/* At a tick with others: is the slice over? It may be new, or shorter than it was. */
bool saakm_slice_tick(struct rq *rq, struct task_struct *p)
{
	u64 slice_ns = saakm_slice_ns(p);

	if (!slice_ns != !p->saakm.slice_end_ns ||
	    (slice_ns && saakm_slice_left(p) > max_t(u64, slice_ns, SAAKM_SLICE_MIN_NS)))
		saakm_slice_begin(rq, p);
	return slice_ns && !saakm_slice_left(p);
}

/* A thread has come to wait, and the one that runs has not been timed. */
void saakm_slice_contend(struct rq *rq)
{
	struct task_struct *curr = saakm_slice_owner(rq);

	if (!curr)
		rq->saakm.slice = SAAKM_SLICE_UNTIMED;
	if (!curr || !saakm_to_be_timed(rq, curr))
		return;
	if (cpu_of(rq) != smp_processor_id()) {
		irq_work_queue_on(&rq->saakm.slice_kick, cpu_of(rq));
		return;
	}
	saakm_charge(rq, curr);
	if (saakm_slice_left(curr))
		saakm_slice_arm(rq, saakm_slice_left(curr));
	else
		saakm_slice_end(rq, curr);
}

static void saakm_slice_kick(struct irq_work *work)
{
	struct rq *rq = container_of(work, struct rq, saakm.slice_kick);

	if (saakm_ticks_in_handler())
		return;
	guard(rq_lock_irqsave)(rq);
	update_rq_clock(rq);
	if (rq->saakm.slice == SAAKM_SLICE_ALONE)
		saakm_slice_contend(rq);
}

/* The timer counts what interrupts take, too: the rest of the slice is timed anew. */
static enum hrtimer_restart saakm_slice_timer(struct hrtimer *timer)
{
	struct rq *rq = container_of(timer, struct rq, saakm.slice_timer);
	struct task_struct *curr;

	/* A handler has enabled interrupts, with the lock held: as the tick. */
	if (saakm_ticks_in_handler())
		return HRTIMER_NORESTART;
	guard(rq_lock)(rq);
	rq->saakm.slice = SAAKM_SLICE_UNTIMED;
	curr = saakm_slice_owner(rq);
	if (!curr)
		return HRTIMER_NORESTART;
	update_rq_clock(rq);
	saakm_charge(rq, curr);
	if (saakm_slice_left(curr))
		saakm_slice_arm(rq, saakm_slice_left(curr));
	else
		saakm_slice_end(rq, curr);
	return HRTIMER_NORESTART;
}

int saakm_set_slice(struct task_struct *p, u64 ns)
{
	enum saakm_handler handler = raw_cpu_read(saakm_context.handler);
	struct saakm_policy *policy = saakm_calling();
	struct rq *rq;

	if (!p) {
		saakm_violation(SAAKM_EXIT_POLICY_ERROR, NULL, NULL,
				"%s(NULL): was the queue empty?", __func__);
		return -EINVAL;
	}
	rq = task_rq(p);
	if (!policy || policy != p->saakm.policy || !saakm_has_lock(handler) ||
	    __this_cpu_read(saakm_context.cpu) != task_cpu(p)) {
		saakm_violation(SAAKM_EXIT_POLICY_ERROR, NULL, p, "%s(%s/%d): %s", __func__,
				p->comm, p->pid, policy && policy == p->saakm.policy ?
				"the runqueue lock is not held" :
				"the thread is of another policy");
		return -EINVAL;
	}
	lockdep_assert_rq_held(rq);
	p->saakm.slice_ns = min_t(u64, ns, SAAKM_SLICE_MAX_NS);
	if (p == saakm_rq_curr(rq) && p->saakm.state == SAAKM_RUNNING) {
		/* Not on_rq: its parameters are being changed, and it goes on afterwards. */
		if (p->saakm.on_rq)
			update_curr_saakm(rq);
		saakm_slice_begin(rq, p);
	} else {
		/* Not 0, so that it is looked at when its turn comes: saakm_sliced(). */
		p->saakm.slice_end_ns = p->saakm.slice_end_ns ?: 1;
	}
	return 0;
}
EXPORT_SYMBOL_NS_GPL(saakm_set_slice, SAAKM);

void saakm_slice_init_rq(struct rq *rq)
{
	hrtimer_init(&rq->saakm.slice_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	rq->saakm.slice_timer.function = saakm_slice_timer;
	rq->saakm.slice_kick = IRQ_WORK_INIT_HARD(saakm_slice_kick);
}
