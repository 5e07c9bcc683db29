/* SPDX-License-Identifier: GPL-2.0 */
/* Threads, and how a policy moves them from state to state: a part of <linux/saakm.h>. */
#ifndef _LINUX_SAAKM_TASK_H
#define _LINUX_SAAKM_TASK_H

#include <linux/preempt.h>
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
 * saakm_task_delayed() - does the thread sleep although it is queued?
 * @task: a thread of the policy
 *
 * In @block it tells that the thread has stayed, see @block_delay of &struct saakm_policy. In
 * place, @wakeup_preempt and @attr_changed that it stays, and was ousted or changed.
 *
 * Context: [R].
 * Return: true from @block_delay to the end of @unblock_delayed or of a @block that is not
 * flagged SAAKM_EV_OUSTED.
 */
static inline bool saakm_task_delayed(const struct task_struct *task)
{
	return task->se.sched_delayed;
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
 * saakm_task_inverse() - 2^32 / saakm_task_weight(), rounded as the fair class does
 * @task: any thread
 *
 * Context: as saakm_task_weight().
 * Return: ns * that >> 22 is CPU time as virtual time, as of nice 0.
 */
u32 saakm_task_inverse(const struct task_struct *task);

/**
 * saakm_task_slice_ns() - the slice that the thread was given by sched_setattr()
 * @task: any thread
 *
 * What it means is for the policy to say; saakm_set_slice() makes it a time slice of the class.
 *
 * Context: any; exact with the lock of its runqueue. @attr_changed tells of a change.
 * Return: sched_attr.sched_runtime, 0.1 to 100 ms as the fair class limits it, which children
 * inherit. Default: 0.
 */
u64 saakm_task_slice_ns(const struct task_struct *task);

/**
 * saakm_process_data() - the policy's own data of a process
 * @task: a thread of the policy
 *
 * All threads of a process that are in the policy share it. It is zeroed when the first
 * one joins and freed when the last one has left. A thread that was forked just now gets
 * it before its first placement. Another program is no other process: see @exec.
 *
 * Context: as saakm_task_data(). Threads of a process run at the same time, under the
 * locks of different CPUs: WRITE_ONCE(), atomics, or a raw spinlock of the policy.
 * Return: &saakm_policy.process_size bytes; NULL if that is 0.
 */
static inline void *saakm_process_data(const struct task_struct *task)
{
	return task->saakm.process_data;
}

/**
 * saakm_idle_prepare() - a @prepare: an idle CPU near the last one, else that
 * @event: as there
 * Context: [P].
 * Return: the CPU.
 */
int saakm_idle_prepare(struct process_event *event);

/**
 * saakm_prev_cpu() - a @prepare: the thread stays where it was
 * @event: as there
 * Context: [P].
 * Return: that CPU.
 */
int saakm_prev_cpu(struct process_event *event);

/**
 * enum saakm_waker_kind - where a wakeup, or a fork, comes from
 * @SAAKM_WAKER_TASK: from the running thread: current
 * @SAAKM_WAKER_SOFTIRQ: from a softirq
 * @SAAKM_WAKER_IRQ: from an interrupt
 */
enum saakm_waker_kind {
	SAAKM_WAKER_TASK,
	SAAKM_WAKER_SOFTIRQ,
	SAAKM_WAKER_IRQ,
};

/**
 * saakm_waker() - who wakes the thread that a ``*_prepare`` or ``*_place`` is about?
 *
 * If it is a thread, that is current. A thread with SAAKM_EV_OUSTED was not woken.
 *
 * Context: [P], and place events.
 * Return: where the wakeup comes from.
 */
static inline enum saakm_waker_kind saakm_waker(void)
{
	if (in_hardirq())
		return SAAKM_WAKER_IRQ;
	return in_serving_softirq() ? SAAKM_WAKER_SOFTIRQ : SAAKM_WAKER_TASK;
}

/**
 * saakm_holds_lock() - does the thread hold a lock that others want, as far as is known?
 * @task: a thread of a policy with SAAKM_POLICY_LOCKS
 *
 * Locks without waiters do not call the kernel: whoever gets or releases one is not seen, so a
 * policy forgets at the end of a turn. The lock itself is not known.
 *
 * Context: any. A hint: it may change at any time.
 * Return: true from when futex(2) has waited with success, or has got a lock with priority
 * inheritance, until it wakes others, if there are any, or unlocks. So condition variables and
 * semaphores count, too.
 */
static inline bool saakm_holds_lock(const struct task_struct *task)
{
	return READ_ONCE(task->saakm.holds_lock);
}

/**
 * saakm_forget_lock() - the thread is taken not to hold a lock
 * @task: a thread of the policy
 *
 * Context: [R].
 */
static inline void saakm_forget_lock(struct task_struct *task)
{
	WRITE_ONCE(task->saakm.holds_lock, false);
}

/**
 * saakm_curr() - the running thread, unless it shall make way
 * @core: argument of @schedule
 *
 * ``saakm_curr(core) ?: saakm_rq_first(queue)`` lets a thread run until it
 * blocks, yields, or @tick says enough.
 *
 * Context: @schedule and @refill only.
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
