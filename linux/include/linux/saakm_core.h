/* SPDX-License-Identifier: GPL-2.0 */
/* Cores, elections and slices: a part of <linux/saakm.h>. */
#ifndef _LINUX_SAAKM_CORE_H
#define _LINUX_SAAKM_CORE_H

#include <linux/irq_work.h>
#include <linux/wait.h>

/**
 * saakm_preempt() - ask for an election on the core of the current event
 * @core: argument of the handler; nothing happens if a higher class has it
 *
 * For another core, or without its lock: saakm_kick().
 *
 * Context: [R] of that core.
 */
void saakm_preempt(struct core_event *core);

/**
 * saakm_charge_now() - bring the CPU time of the running thread up to date
 * @running: argument of @wakeup_preempt
 *
 * It calls @used, as the class does before @wakeup_preempt if the policy has no @charge_late.
 *
 * Context: @wakeup_preempt.
 */
void saakm_charge_now(struct task_struct *running);

/**
 * saakm_kick() - ask for an election on any core
 * @cpu: the core
 *
 * An idle core that has no thread to elect asks newly_idle. Nothing happens
 * where a higher class runs, or on a CPU that is offline. Of several calls one
 * may serve all.
 *
 * Context: any but NMI.
 */
void saakm_kick(int cpu);

/**
 * saakm_cpu_idle() - does the core have nothing to do?
 * @cpu: the core, one that is possible
 *
 * Context: any. A hint: it may change at any time.
 * Return: true if its idle thread runs, nothing waits, and no hypervisor has
 * taken the CPU away.
 */
bool saakm_cpu_idle(int cpu);

/**
 * saakm_running_prio() - the priority of whoever runs on a core, of any class
 * @cpu: the core, one that is possible
 *
 * Context: any with preemption off. A hint: it may change at any time.
 * Return: as task->prio: less is more urgent; less than %MAX_RT_PRIO: a deadline or
 * real-time thread; %MAX_PRIO: its idle thread, whether or not somebody waits there.
 */
int saakm_running_prio(int cpu);

/**
 * saakm_core_of() - another core, as the policy sees it
 * @policy: a loaded policy
 * @cpu: a possible CPU
 *
 * Context: any while the policy is loaded. Without the core's lock what it says is a
 * hint: READ_ONCE(). Its queue is only for saakm_steal() and saakm_move_task().
 * Return: the core.
 */
static inline struct core_event *saakm_core_of(const struct saakm_policy *policy, int cpu)
{
	return per_cpu_ptr(policy->cores, cpu);
}

/**
 * saakm_running_on() - the policy's thread that runs on a core
 * @policy: a loaded policy
 * @cpu: a possible CPU
 *
 * Context: any with preemption off. A hint: it may change at any time; what it points to
 * lasts until preemption is enabled, but its data do not: it may leave the policy.
 * Return: the thread, or NULL if another policy's or class's runs there.
 */
struct task_struct *saakm_running_on(const struct saakm_policy *policy, int cpu);

/**
 * saakm_slice_left_ns() - what is left of a running thread's slice
 * @task: a thread of the policy, or NULL: as one without a slice
 *
 * Context: any with preemption off. Exact in [R] events of its core, but for time since
 * the runqueue's clock was read; elsewhere a hint.
 * Return: ns of CPU time, 0 if it is over; %U64_MAX if it has none.
 */
u64 saakm_slice_left_ns(const struct task_struct *task);

/**
 * saakm_clock_ns() - the core's clock
 * @core: argument of the handler
 *
 * Context: [R].
 * Return: ns; time of interrupts (CONFIG_IRQ_TIME_ACCOUNTING) and time that a
 * hypervisor took do not count. Clocks of two cores differ.
 */
u64 saakm_clock_ns(const struct core_event *core);

/**
 * saakm_now_ns() - when the event happens
 * @core: argument of the handler
 *
 * Without reading a clock. For intervals that begin and end on different cores; for CPU time
 * saakm_clock_ns(), for events without a core local_clock(), which counts the same.
 *
 * Context: [R].
 * Return: ns, the same on all cores where local_clock() is.
 */
u64 saakm_now_ns(const struct core_event *core);

/**
 * saakm_set_slice() - a time slice for one thread
 * @task: a thread of the calling policy
 * @ns: its slice; 0: that of the policy. As &saakm_policy.slice_us, from 5 us on
 *
 * Holds from the thread's next turn on, for a RUNNING one from now. Children begin
 * without.
 *
 * Context: [R], of the core that @task is on.
 * Return: 0, or -EINVAL for a thread of another policy or core, which is a fault.
 */
int saakm_set_slice(struct task_struct *task, u64 ns);

/**
 * struct saakm_notifier - wakes a thread of the policy's own from its handlers
 * @wait: what that thread waits on
 *
 * Handlers must not wake anybody: they hold the lock of a runqueue. A kthread waits, and
 * saakm_notify() says that there is work::
 *
 *	wait_event_idle(notifier.wait, READ_ONCE(work) || kthread_should_stop());
 *
 * saakm_notifier_stop() in @free_metadata, after the kthread has been stopped.
 */
struct saakm_notifier {
	struct wait_queue_head	wait;
	/* private: */
	struct irq_work		work;
};

/* private: */
void saakm_notifier_work(struct irq_work *work);

/* public: */

/**
 * saakm_notifier_init() - before it is used
 * @notifier: the notifier; lives until saakm_notifier_stop()
 *
 * Context: [S].
 */
static inline void saakm_notifier_init(struct saakm_notifier *notifier)
{
	init_waitqueue_head(&notifier->wait);
	init_irq_work(&notifier->work, saakm_notifier_work);
}

/**
 * saakm_notify() - whoever waits looks again
 * @notifier: an initialised notifier
 *
 * What it shall see has been written before. Of several calls one may serve all. It
 * comes as soon as interrupts are enabled, on this CPU, or on another one while this one
 * goes offline; without saakm_notifier_init() it does not, and that is reported. If a
 * handler enables interrupts that were off, which is a misuse, the call may be lost: to
 * wake somebody could deadlock on the lock that is held.
 *
 * Context: any; an NMI only while this CPU is online.
 */
void saakm_notify(struct saakm_notifier *notifier);

/**
 * saakm_notifier_stop() - wait until no call is under way
 * @notifier: the notifier, which nobody notifies any more
 *
 * Context: [S].
 */
static inline void saakm_notifier_stop(struct saakm_notifier *notifier)
{
	irq_work_sync(&notifier->work);
}

#endif /* _LINUX_SAAKM_CORE_H */
