// SPDX-License-Identifier: GPL-2.0
/*
 * RCU: kernel/rcu/. A grace period ends when all code that was reading (rcu_read_lock(),
 * preemption or interrupts off) when it began has stopped. The host knows that of each strand; it
 * is looked at in the next jiffy, as the tick does, or as soon as the event is over where faults
 * are looked for (interleave=, check=1): the sooner it is freed, the more uses after it are found.
 * Callbacks run in RCU_SOFTIRQ on the CPU that has queued them.
 */
#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/srcu.h>

#include "machine.h"
#include "model.h"

/* sim_kfree_rcu() has as function how far the head is within its object. */
#define MAX_OFFSET	4096

struct callback {
	struct rcu_head		*head;
	u64			mark;		/* begin of its grace period */
};

/* A queue of pairs, since a head has no room for a mark. */
struct cpu_callbacks {
	struct callback		*queue;
	unsigned int		first, end, size;
	struct sim_event	event;
};

static DEFINE_PER_CPU(struct cpu_callbacks, callbacks);

static void invoke(struct rcu_head *head)
{
	unsigned long offset = (unsigned long)head->func;

	if (offset < MAX_OFFSET)
		kvfree((char *)head - offset);
	else
		head->func(head);
}

static void look_later(struct cpu_callbacks *mine, u64 soon_ns)
{
	if (sim_options.interleave || sim_options.check)
		sim_event_set(&mine->event, sim_now + soon_ns);
	else
		sim_event_set(&mine->event, (div_u64(sim_now, TICK_NSEC) + 1) * TICK_NSEC);
}

/* RCU_SOFTIRQ */
static void invoke_callbacks(void)
{
	struct cpu_callbacks *mine = raw_cpu_ptr(&callbacks);

	while (mine->first < mine->end) {
		struct callback callback = mine->queue[mine->first];

		if (!sim_quiet_since(callback.mark))
			break;
		invoke(callback.head);
		/* Not before: rcu_barrier() waits for the one that runs, too. */
		mine->first++;
	}
	if (mine->first < mine->end)
		look_later(mine, 10 * NSEC_PER_USEC);
	else
		mine->first = mine->end = 0;
}

/* This CPU's softirq reads by itself: what it looks at began before, with another number. */
static void interrupt(struct sim_event *event)
{
	model_irq_enter();
	__raise_softirq_irqoff(RCU_SOFTIRQ);
	model_irq_exit();
}

static void make_room(struct cpu_callbacks *mine)
{
	struct callback *larger;

	mine->size = mine->size ? 2 * mine->size : 16;
	larger = sim_alloc(mine->size * sizeof(*larger));
	if (mine->queue)
		memcpy(larger, mine->queue, mine->end * sizeof(*larger));
	sim_free(mine->queue);
	mine->queue = larger;
}

static void queue(struct rcu_head *head)
{
	struct cpu_callbacks *mine;
	unsigned long flags;

	local_irq_save(flags);
	mine = raw_cpu_ptr(&callbacks);
	if (!mine->event.fn) {
		sim_event_init(&mine->event, interrupt, sim_context.cpu);
		open_softirq(RCU_SOFTIRQ, invoke_callbacks);
	}
	if (mine->end == mine->size)
		make_room(mine);
	mine->queue[mine->end++] = (struct callback){ head, sim_quiet_mark() };
	if (!sim_event_is_set(&mine->event))
		look_later(mine, 0);
	local_irq_restore(flags);
}

/* kernel/rcu/tree.c, rcutree_migrate_callbacks(): behind those of this CPU, with new marks. */
void machine_callbacks_dead(int cpu)
{
	struct cpu_callbacks *its = per_cpu_ptr(&callbacks, cpu);

	if (!its->event.fn)
		return;
	sim_event_cancel(&its->event);
	/* It may have been moved with what else was to come on that CPU. */
	sim_event_init(&its->event, interrupt, cpu);
	while (its->first < its->end)
		queue(its->queue[its->first++].head);
	its->first = its->end = 0;
}

void call_rcu(struct rcu_head *head, rcu_callback_t function)
{
	head->func = function;
	queue(head);
}

void sim_kfree_rcu(struct rcu_head *head, void *object)
{
	unsigned long offset = (char *)head - (char *)object;

	BUG_ON(offset >= MAX_OFFSET);
	head->func = (rcu_callback_t)offset;
	queue(head);
}

struct waiter {
	struct rcu_head		head;
	struct completion	done;
};

static void period_over(struct rcu_head *head)
{
	complete(&container_of(head, struct waiter, head)->done);
}

void synchronize_rcu(void)
{
	struct waiter waiter;

	might_sleep();
	WARN(sim_context.rcu, "synchronize_rcu() in an RCU section waits for itself");
	init_completion(&waiter.done);
	call_rcu(&waiter.head, period_over);
	wait_for_completion(&waiter.done);
}

void kvfree_rcu_mightsleep(void *object)
{
	synchronize_rcu();
	kvfree(object);
}

/* Callbacks of other CPUs as well: each gets one more, behind those that it has. */
struct barrier {
	struct rcu_head		head;
	struct barrier		*next;
	struct completion	*done;
	unsigned int		*left;
};

static void barrier_reached(struct rcu_head *head)
{
	struct barrier *barrier = container_of(head, struct barrier, head);

	if (!--*barrier->left)
		complete(barrier->done);
}

void rcu_barrier(void)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct barrier *all = NULL, *one;
	unsigned int left = 0;
	int cpu;

	might_sleep();
	for_each_possible_cpu(cpu) {
		struct cpu_callbacks *its = per_cpu_ptr(&callbacks, cpu);

		if (its->first == its->end)
			continue;
		one = sim_alloc(sizeof(*one));
		*one = (struct barrier){ .next = all, .done = &done, .left = &left };
		one->head.func = barrier_reached;
		all = one;
		left++;
		if (its->end == its->size)
			make_room(its);
		its->queue[its->end++] = (struct callback){ &one->head, sim_quiet_mark() };
	}
	if (left)
		wait_for_completion(&done);
	while ((one = all)) {
		all = one->next;
		sim_free(one);
	}
}

/* ---- SRCU: kernel/rcu/srcutree.c ---- */

int init_srcu_struct(struct srcu_struct *srcu)
{
	*srcu = (struct srcu_struct){ };
	mutex_init(&srcu->grace);
	init_waitqueue_head(&srcu->wait);
	return 0;
}

void cleanup_srcu_struct(struct srcu_struct *srcu)
{
	WARN(srcu_read_lock_held(srcu), "cleanup_srcu_struct() while somebody reads");
}

void sim_srcu_quiet(struct srcu_struct *srcu)
{
	wake_up_all(&srcu->wait);
}

/* Readers take one of two counters, by turns: who comes later is not waited for. */
void synchronize_srcu(struct srcu_struct *srcu)
{
	unsigned int old;

	might_sleep();
	mutex_lock(&srcu->grace);
	old = srcu->index;
	wait_event(srcu->wait, !srcu->readers[!old]);
	srcu->index = !old;
	wait_event(srcu->wait, !srcu->readers[old]);
	mutex_unlock(&srcu->grace);
}
