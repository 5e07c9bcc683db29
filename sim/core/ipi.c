// SPDX-License-Identifier: GPL-2.0
/* Interrupts from one CPU to another: to elect, and to call a function there. */
#include "model.h"

/* A function that another CPU shall call. */
struct model_call {
	struct model_call	*next;
	smp_call_func_t		fn;
	void			*info;
	bool			waits, done;
	struct sim_waiters	waiters;
};

/* Of several that are on their way one serves all. */
void smp_send_reschedule(int cpu)
{
	struct rq *rq = cpu_rq(cpu);

	/* arch/x86/kernel/smp.c, native_smp_send_reschedule() */
	if (unlikely(!cpu_online(cpu))) {
		WARN_ONCE(1, "sched: Unexpected reschedule of offline CPU#%d!\n", cpu);
		return;
	}
	if (!sim_event_is_set(&rq->ipi))
		sim_event_set(&rq->ipi, sim_now + sim_options.ipi_ns);
}

/* kernel/smp.c, __flush_smp_call_function_queue() */
static void run_calls(struct rq *rq)
{
	struct model_call *call = rq->calls, *next;

	rq->calls = NULL;
	for (; call; call = next) {
		next = call->next;
		call->fn(call->info);
		if (!call->waits) {
			sim_free(call);
			continue;
		}
		call->done = true;
		sim_wake_all(&call->waiters);
	}
}

/* Event. The election, if there shall be one, comes at the end of the interrupt. */
static void ipi(struct sim_event *event)
{
	struct rq *rq = container_of(event, struct rq, ipi);

	model_irq_enter();
	if (unlikely(rq->calls))
		run_calls(rq);
	if (unlikely(rq->nohz_kicked))
		nohz_csd_func(rq);
	model_irq_exit();
}

/* kernel/smp.c, smpcfd_dying_cpu(): what others have asked for is done, on this CPU. */
void model_flush_calls(struct rq *rq)
{
	sim_event_cancel(&rq->ipi);
	if (rq->calls)
		run_calls(rq);
	rq->nohz_kicked = false;
}

void model_init_ipi(struct rq *rq)
{
	sim_event_init(&rq->ipi, ipi, rq->cpu);
}

static void queue_call(struct rq *rq, struct model_call *call)
{
	struct model_call **link = (struct model_call **)&rq->calls;

	while (*link)
		link = &(*link)->next;
	*link = call;
	smp_send_reschedule(rq->cpu);
}

/* kernel/smp.c, smp_call_function_single() */
int smp_call_function_single(int cpu, smp_call_func_t fn, void *info, int wait)
{
	struct model_call call = { .fn = fn, .info = info, .waits = true };
	struct model_call *lasting;
	unsigned long flags;

	guard(preempt)();
	if (!cpu_online(cpu))
		return -ENXIO;
	if (cpu == smp_processor_id()) {
		local_irq_save(flags);
		fn(info);
		local_irq_restore(flags);
		return 0;
	}
	if (!wait) {
		lasting = sim_alloc(sizeof(*lasting));
		lasting->fn = fn;
		lasting->info = info;
		queue_call(cpu_rq(cpu), lasting);
		return 0;
	}
	WARN_ON_ONCE(irqs_disabled());
	queue_call(cpu_rq(cpu), &call);
	while (!call.done)
		sim_wait(&call.waiters, "a call on another CPU");
	return 0;
}

/* kernel/smp.c, on_each_cpu_cond_mask(): one after the other, if the caller waits. */
void on_each_cpu(smp_call_func_t fn, void *info, int wait)
{
	int cpu;

	for_each_online_cpu(cpu)
		smp_call_function_single(cpu, fn, info, wait);
}
