// SPDX-License-Identifier: GPL-2.0
/*
 * Clocks of the runqueues: rq->clock follows the CPU's clock when somebody asks for it,
 * rq->clock_task without the time that interrupts took (and, with irq_ns, a hypervisor).
 */
#include "model.h"

/*
 * kernel/sched/clock.c, sched_clock_cpu(): each CPU's clock may go before or behind. What has been
 * charged since the event began has passed there, though the event takes no time: whoever gets
 * the CPU in a tick gets it some us after that, and at a later tick has not had it for whole ticks.
 */
u64 sched_clock_cpu(int cpu)
{
	const struct rq *rq = cpu_rq(cpu);

	return sim_now + rq->charged_ns + rq->skew_ns;
}

/* kernel/sched/core.c, update_rq_clock_task(): never more than has passed. */
static void update_rq_clock_task(struct rq *rq, s64 delta)
{
	s64 stolen = rq->irq_ns - rq->prev_irq_ns;

	if (unlikely(stolen)) {
		stolen = min(stolen, delta);
		rq->prev_irq_ns += stolen;
		delta -= stolen;
	}
	rq->clock_task += delta;
}

/* kernel/sched/core.c, update_rq_clock() */
void update_rq_clock(struct rq *rq)
{
	s64 delta;

	lockdep_assert_rq_held(rq);
	if (rq->clock_update_flags & RQCF_ACT_SKIP)
		return;
	rq->clock_update_flags |= RQCF_UPDATED;
	delta = sched_clock_cpu(rq->cpu) - rq->clock;
	if (delta <= 0)
		return;
	rq->clock += delta;
	update_rq_clock_task(rq, delta);
}

/* Time of @rq that no thread gets, and none is charged for; it has passed, or is about to. */
void model_steal(struct rq *rq, u64 ns)
{
	rq->irq_ns += ns;
}

/* kernel/sched/fair.c, update_curr_common(), update_curr_se(): by classes other than fair. */
s64 update_curr_common(struct rq *rq)
{
	struct task_struct *curr = rq->donor;
	u64 now = rq_clock_task(rq);
	s64 delta = now - curr->se.exec_start;

	if (unlikely(delta <= 0))
		return delta;
	curr->se.exec_start = now;
	curr->se.sum_exec_runtime += delta;
	return delta;
}
