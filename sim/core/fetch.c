// SPDX-License-Identifier: GPL-2.0
/*
 * What events will look at is fetched from memory while others happen: with thousands of threads
 * none of it is in a cache, and a simulation would spend its time in waiting for that.
 *
 * All of it is a guess, which costs time if it is wrong, and nothing else. What is looked at here
 * is what is there whatever policies do.
 */
#include <linux/saakm.h>
#include "saakm/internal.h"
#include "load.h"
#include "model.h"

#define LINE		64
#define RQ_LINES	5		/* see struct rq, struct saakm_cpu, struct task_struct ... */
#define SAAKM_LINES	2
#define CORE_LINES	3
#define TASK_LINES	6
#define CHARGED_LINES	4		/* of these, up to the CPU time, and the policy */
#define THREAD_LINES	2

static __always_inline void fetch(const void *from, unsigned int lines)
{
	unsigned int i;

	/* Else gcc 12 takes who calls this, and nothing else, for a function without effect. */
	__asm__ __volatile__("");
	for (i = 0; i < lines; i++)
		__builtin_prefetch((const char *)from + i * LINE);
}

static __always_inline void fetch_thread(const struct model_thread *t)
{
	fetch(&t->group, THREAD_LINES);
}

/* Whose timer @event is, or NULL. */
static __always_inline struct model_thread *sleeper(const struct sim_event *event)
{
	return event->fn == load_sleep_is_over ?
		container_of(event, struct model_thread, timer) : NULL;
}

static void fetch_cpu(const struct rq *rq, int cpu)
{
	fetch(rq, RQ_LINES);
	fetch(&rq->saakm, SAAKM_LINES);
	fetch(per_cpu_ptr(&saakm_context, cpu), 1);
	fetch(per_cpu_ptr(&current_task, cpu), 1);
}

static struct saakm_core *core_of(const struct rq *rq)
{
	const struct saakm_policy *policy = rq->saakm.first;

	return policy ? saakm_core(policy, rq->cpu) : NULL;
}

/* The threads, and the policy's queue. */
static void fetch_tasks(const struct rq *rq, const struct model_thread *t)
{
	const struct saakm_core *core = core_of(rq);

	if (t) {
		fetch(t->task, TASK_LINES);
		fetch(rq->curr, CHARGED_LINES);
		fetch(rq->saakm.threads.prev, 1);
	} else {
		fetch(rq->curr, TASK_LINES);
	}
	if (core)
		fetch(core, CORE_LINES);
}

/* What the policy has for it. */
static void fetch_data(const struct task_struct *p)
{
	if (p->saakm.data)
		fetch(p->saakm.data, 1);
}

static const struct task_struct *first_queued(const struct saakm_core *core)
{
	const struct saakm_rq *queue = &core->event.rq;

	const void *first = core->queue == SAAKM_RQ_RBTREE ? (void *)queue->root.rb_leftmost :
			    queue->head.next != &queue->head ? queue->head.next : NULL;

	return first ? container_of(first, struct task_struct, saakm.node) : NULL;
}

/* Who comes next, and neighbours. */
static void fetch_next(const struct rq *rq, const struct sim_event *event)
{
	const struct task_struct *curr = rq->curr;
	const struct saakm_core *core = core_of(rq);
	const struct task_struct *next;

	if (curr->model)
		fetch_thread(curr->model);
	if (event != &rq->burst || !core)
		return;
	fetch_data(curr);
	fetch(curr->saakm.rq_node.next, 1);
	fetch(curr->saakm.rq_node.prev, 1);
	next = first_queued(core);
	if (next)
		fetch(next, TASK_LINES);
}

/* It leaves the queue. */
static void fetch_queued_next(const struct rq *rq)
{
	const struct saakm_core *core = core_of(rq);
	const struct task_struct *next = core ? first_queued(core) : NULL;

	if (!next)
		return;
	fetch_data(next);
	fetch(next->saakm.node.list.next, 1);
}

void sim_core_fetch(const struct sim_event *event, unsigned int step)
{
	const struct model_thread *t;
	const struct rq *rq;

	if (SIM_SANITIZED || event->cpu < 0)
		return;
	rq = cpu_rq(event->cpu);
	t = sleeper(event);
	switch (step) {
	case 0:
		fetch_cpu(rq, event->cpu);
		if (t)
			fetch_thread(t);
		break;
	case 1:
		fetch_tasks(rq, t);
		break;
	case 2:
		if (t)
			fetch_data(t->task);
		else
			fetch_next(rq, event);
		break;
	case 3:
		if (event == &rq->burst)
			fetch_queued_next(rq);
		break;
	}
}
