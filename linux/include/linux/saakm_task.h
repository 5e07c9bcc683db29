/* SPDX-License-Identifier: GPL-2.0 */
/* Threads, and how a policy moves them from state to state: a part of <linux/saakm.h>. */
#ifndef _LINUX_SAAKM_TASK_H
#define _LINUX_SAAKM_TASK_H

#include <linux/saakm_types.h>
#include <linux/sched.h>

/**
 * saakm_change_state() - move a thread to another state
 * @task: a thread of the calling policy
 * @next_state: READY from place, requeue; READY_TICK from tick; BLOCKED from block
 *	and TERMINATED from terminate, where the class does it if the handler has
 *	not; all other transitions are the class's
 * @next_cpu: CPU of the event
 * @next_rq: for READY a queue of that CPU, otherwise NULL
 *
 * A wrong call leaves the thread where it is and is a fault
 * (SAAKM_EXIT_WRONG_TRANSITION).
 *
 * Context: [R], in a handler that is called about @task.
 * Return: 0, or -EINVAL for a wrong call.
 */
int saakm_change_state(struct task_struct *task, enum saakm_state next_state,
		       int next_cpu, struct saakm_rq *next_rq);

/**
 * change_state() - short for saakm_change_state()
 * @task: as there
 * @next_state: as there
 * @next_cpu: as there
 * @next_rq: as there
 *
 * Context: [R], in a handler that is called about @task.
 * Return: as there.
 */
static inline int change_state(struct task_struct *task, enum saakm_state next_state,
			       int next_cpu, struct saakm_rq *next_rq)
{
	return saakm_change_state(task, next_state, next_cpu, next_rq);
}

/**
 * saakm_task_state() - where the thread stands
 * @task: a thread of the policy
 *
 * Context: any.
 * Return: its state; exact with the lock of its runqueue, as in [R] events about
 * it; elsewhere it may change at any time.
 */
static inline enum saakm_state saakm_task_state(const struct task_struct *task)
{
	return task->saakm.state;
}

/**
 * saakm_task_param() - what the thread was given for its policy
 * @task: a thread of the policy
 *
 * What it means is for the policy to say: see @checkparam_attr of &struct
 * saakm_policy.
 *
 * Context: any; exact with the lock of its runqueue.
 * Return: sched_attr.sched_saakm_param, which children inherit. Default: 0.
 */
static inline u32 saakm_task_param(const struct task_struct *task)
{
	return task->saakm.param;
}

/**
 * saakm_task_flags() - the circumstances of an event
 * @task: a thread of the policy
 *
 * Context: [R] events about it, @wakeup_preempt among them.
 * Return: &enum saakm_event_flags of the event about the thread, or of how it
 * came here, and bits of the class's own: test for single flags. What is asked
 * in execve() has its flags in &process_event.flags only.
 */
static inline unsigned int saakm_task_flags(const struct task_struct *task)
{
	return task->saakm.event.flags;
}

/**
 * saakm_task_runtime_ns() - CPU time that the thread has used
 * @task: any thread
 *
 * Note it in @running: the difference is the length of the turn.
 *
 * Context: any.
 * Return: ns of CPU time, of all classes that the thread has been in; exact in
 * [R] events about it, but for getparam_attr: there as of the last tick.
 */
static inline u64 saakm_task_runtime_ns(const struct task_struct *task)
{
	return task->se.sum_exec_runtime;
}

/**
 * saakm_task_weight() - the thread's weight by its nice value alone
 * @task: any thread
 *
 * Context: any; exact with the lock of its runqueue. @attr_changed tells of a
 * change.
 * Return: as in the fair class: 1024 for nice 0, from 15 for nice 19 to 88761
 * for nice -20, 3 for SCHED_IDLE; never 0.
 */
unsigned int saakm_task_weight(const struct task_struct *task);

/**
 * saakm_curr() - the running thread, unless it shall make way
 * @core: argument of @schedule
 *
 * ``saakm_curr(core) ?: saakm_rq_first(queue)`` lets a thread run until it
 * blocks, yields, or @tick says enough.
 *
 * Context: @schedule only.
 * Return: core->curr, or NULL if it has yielded or is SAAKM_READY_TICK.
 */
static inline struct task_struct *saakm_curr(const struct core_event *core)
{
	struct task_struct *curr = core->curr;

	if (!curr || curr->saakm.state == SAAKM_READY_TICK ||
	    curr->saakm.event.flags & SAAKM_EV_YIELD)
		return NULL;
	return curr;
}

#endif /* _LINUX_SAAKM_TASK_H */
