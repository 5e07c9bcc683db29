/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SaaKM: Schedulers as Kernel Modules. The API of a policy author, second
 * edition, and the only header that a policy includes.
 *
 * A policy is one SAAKM_POLICY(): attributes and handlers. Without any it is a
 * FIFO: the class keeps a queue for each core, core->rq, starts and wakes threads
 * on idle cores, and elects whoever waits longest. An attribute changes what the
 * class does; a handler that is given decides alone.
 *
 * Handlers answer events about threads and cores. They hold no locks, never touch
 * the runqueues of the kernel, and move a thread only by change_state(). The letter
 * in a handler's or function's description is its context:
 *
 *   [P] p->pi_lock held, interrupts off. No side effects, may not sleep. The
 *       answer is a wish: the thread may have been bound elsewhere meanwhile.
 *   [R] lock of the runqueue of core->id held, interrupts off, may not sleep.
 *       May run on another CPU: use core->id, never smp_processor_id().
 *   [B] no runqueue lock, preemption off, may not sleep: here threads may be moved
 *       between cores. Interrupts are off in newly_idle, and must stay so.
 *   [S] process context, may sleep.
 *
 * What stands between "private:" and "public:" is the class's own. Overview:
 * Documentation/scheduler/saakm.rst. Every event in one policy: docs/examples/events.
 */
#ifndef _LINUX_SAAKM_H
#define _LINUX_SAAKM_H

#include <linux/module.h>
#include <linux/saakm_private.h>
#include <linux/saakm_types.h>
#include <linux/seq_buf.h>
#include <uapi/linux/sched/types.h>

/* Whoever includes the API may use its symbols. */
#ifdef MODULE
MODULE_IMPORT_NS(SAAKM);
#endif

/**
 * enum saakm_rq_type - how a queue keeps its threads
 * @SAAKM_RQ_FIFO: in order of arrival; O(1), by saakm_to_head() at the head as well
 * @SAAKM_RQ_LIST: by key, insertion O(n) from the tail, at the head O(1)
 * @SAAKM_RQ_RBTREE: by key, insertion O(log n), at the head O(1)
 * @SAAKM_RQ_NONE: for &saakm_policy.queue only: the policy has queues of its own
 */
enum saakm_rq_type {
	SAAKM_RQ_FIFO,
	SAAKM_RQ_LIST,
	SAAKM_RQ_RBTREE,
	SAAKM_RQ_NONE,
};

/**
 * typedef saakm_key_fn - what a queue is sorted by
 * @task: a thread of the policy
 *
 * The least goes first, equals in order of arrival. Keys may wrap around: of two the
 * lesser is the one that the other is ahead of by less than 2^63. It is read when
 * @task is queued, when its nice value or parameter changes, and while @task runs.
 *
 * Context: [R] of the queue's CPU; calls nothing of the class.
 */
typedef u64 (*saakm_key_fn)(const struct task_struct *task);

#include <linux/saakm_runqueue.h>

/**
 * struct saakm_policy - a scheduler: what SAAKM_POLICY() is given
 * @name: what users select it by; unique
 * @owner: THIS_MODULE
 * @queue: type of core->rq, the class's queue for each core; default: FIFO. Who
 *	has queues of its own says %SAAKM_RQ_NONE, and gives place and schedule
 * @key: what that queue is sorted by; needed for LIST and RBTREE, not for FIFO
 * @bound: for RBTREE: a second key, for saakm_rq_first_within()
 * @yield_to_any: who yields makes way for the first of an ordered queue in any case
 * @charge_late: time is charged when the fair class does: @wakeup_preempt is called before @used,
 *	and calls saakm_charge_now(); @yield is not called for a thread alone on its CPU
 * @refill_always: @refill is asked even if threads wait in core->rq
 * @slice_us: time slice; 0: none. A thread that has had the CPU for so long makes way
 *	to others of the policy here, unless the order puts them after it. It ends by a
 *	timer if it is shorter than a tick (5 us at the least), else at the tick that
 *	follows. Users change it by the module's parameter
 * @task_size: bytes of data per thread, event->data, from the class; two pages at most
 * @core_size: bytes of data per core, core->data; 32 KiB at most
 * @process_size: bytes of data per process, saakm_process_data(); two pages at most
 * @balance_interval_ms: between two @balancing_select of a core; 0: never
 * @priority: policies are asked in falling priority, then in order of loading
 * @flags: enum saakm_policy_flags
 * @timeout_ms: a thread that is READY for longer without running is a stall,
 *	time apart in which others held every CPU that it may use; 0: 30 s
 * @reaction: what happens when it is at fault
 * @replaces: name of the policy whose threads it takes when it is loaded, or NULL
 * @data: for the policy's own use
 * @id: what sched_attr.sched_saakm_policy selects; set by saakm_add_policy()
 * @routines: the handlers that follow, by one name
 *
 * All but @data and @slice_us is read at load. A handler must return within
 * microseconds: it delays every thread of the core. Unless they are named otherwise,
 * event is about the thread, and core is the core that it is on.
 */
struct saakm_policy {
	char			name[SAAKM_NAME_LEN];
	struct module		*owner;
	enum saakm_rq_type	queue;
	saakm_key_fn		key;
	saakm_key_fn		bound;
	bool			yield_to_any;
	bool			charge_late, refill_always;
	unsigned int		slice_us;
	unsigned int		task_size;
	unsigned int		core_size;
	unsigned int		process_size;
	unsigned int		balance_interval_ms;
	int			priority;
	unsigned int		flags;
	unsigned int		timeout_ms;
	enum saakm_reaction	reaction;
	const char		*replaces;
	void			*data;
	u32			id;

	struct_group_tagged(saakm_module_routines, routines, /* events: */
	/**
	 * @prepare: Where shall a thread run that is new, or wakes? [P]
	 *
	 * For the two events of which it is the end of the name, where they have no
	 * handler of their own. Default: saakm_idle_prepare().
	 */
	int (*prepare)(struct process_event *event);
	/**
	 * @new_prepare: Where shall a new thread run? [P]
	 *
	 * Called at fork and when a sleeping thread that has joined wakes for
	 * the first time; not for threads that may use one CPU only. Returns a
	 * CPU that is online and that the thread may use, see saakm_usable_cpu(),
	 * or event->prev_cpu, whatever that is. Any other is a fault. Default: @prepare.
	 */
	int (*new_prepare)(struct process_event *event);
	/**
	 * @unblock_prepare: Where shall a waking thread run? [P]
	 *
	 * Also called for a RUNNING thread in execve(), with SAAKM_EV_EXEC.
	 * Otherwise as @new_prepare. Default: @prepare.
	 */
	int (*unblock_prepare)(struct process_event *event);
	/**
	 * @place: A thread is new here, or woke: set its key, queue it. [R]
	 *
	 * For @new_place and @unblock_place, where they are not given. It may call
	 * change_state(task, SAAKM_READY, core->id, queue), with a queue of this
	 * core. Otherwise the class inserts the thread in core->rq on return; with
	 * %SAAKM_RQ_NONE to return without it is a fault. Default: core->rq.
	 */
	void (*place)(struct process_event *event, struct core_event *core);
	/** @new_place: The same for a new thread alone. [R] Default: @place. */
	void (*new_place)(struct process_event *event, struct core_event *core);
	/**
	 * @unblock_place: The same for a thread that woke. [R]
	 *
	 * Called as well for one that lands on another CPU (SAAKM_EV_OUSTED), or comes back from a
	 * priority inheritance boost. Default: @place.
	 */
	void (*unblock_place)(struct process_event *event, struct core_event *core);
	/** @new_end: The new thread is placed. [R] Default: nothing. */
	void (*new_end)(struct process_event *event, struct core_event *core);
	/** @unblock_end: The woken thread is placed. [R] Default: nothing. */
	void (*unblock_end)(struct process_event *event, struct core_event *core);
	/**
	 * @requeue: A RUNNING thread leaves the CPU and stays runnable. [R]
	 *
	 * It was preempted, yielded (SAAKM_EV_YIELD), or its time was up
	 * (SAAKM_EV_TICK). Obligations as in @place. Default: it goes to core->rq;
	 * with %SAAKM_RQ_NONE @unblock_place is called.
	 */
	void (*requeue)(struct process_event *event, struct core_event *core);
	/**
	 * @block: A thread stops being runnable. [R]
	 *
	 * It sleeps, is boosted into a real-time class, or is taken to another
	 * CPU (SAAKM_EV_OUSTED). May call change_state(task, SAAKM_BLOCKED,
	 * core->id, NULL); otherwise the class does so on return. Default: nothing.
	 */
	void (*block)(struct process_event *event, struct core_event *core);
	/**
	 * @block_delay: A thread goes to sleep: shall it stay in core->rq? [R]
	 *
	 * If so it competes on, as SAAKM_DELAYED, after a @schedule that may return it still as
	 * core->curr. @block follows when it is elected, or nobody else is left here, unless it
	 * wakes before. No place or requeue is called, unless it is ousted. Not asked for special
	 * states, such as death. Not with %SAAKM_RQ_NONE or shared queues. Default: it leaves.
	 */
	bool (*block_delay)(struct process_event *event, struct core_event *core);
	/**
	 * @unblock_delayed: A thread woke that is still in core->rq. [R]
	 *
	 * Instead of a prepare and place. Its place there is renewed on return. It may have the
	 * CPU still, in no queue. The running thread has not been charged. Default: nothing.
	 */
	void (*unblock_delayed)(struct process_event *event, struct core_event *core);
	/**
	 * @yield: The running thread called sched_yield(). [R]
	 *
	 * saakm_curr() no longer returns it, so that others get their turn.
	 * Default: nothing more.
	 */
	void (*yield)(struct process_event *event, struct core_event *core);
	/**
	 * @tick: Timer tick while a thread of this policy is RUNNING. [R]
	 *
	 * To take the CPU from it: change_state(task, SAAKM_READY_TICK, core->id,
	 * NULL). Possibly called on another CPU (nohz_full). Slices end without it,
	 * too. Default: in an ordered queue the first takes the CPU if it goes before.
	 */
	void (*tick)(struct process_event *event, struct core_event *core);
	/**
	 * @used: @used_ns of CPU time have been charged to the RUNNING thread. [R]
	 *
	 * Before every event that could depend on it: place, requeue, block, yield, tick,
	 * wakeup_preempt, schedule. So a policy keeps no accounts. Default: nothing.
	 */
	void (*used)(struct process_event *event, struct core_event *core, u64 used_ns);
	/**
	 * @running: An elected thread gets the CPU. [R] Default: nothing.
	 *
	 * Also called for threads that core scheduling elected.
	 */
	void (*running)(struct process_event *event, struct core_event *core);
	/**
	 * @attr_changed: A thread's nice value, parameter, affinity or cgroup
	 * has changed, or merely might have. [R]
	 *
	 * Its place in an ordered queue has been renewed already, and is again on return. It has
	 * not slept.
	 * Default: in an ordered queue, an election if another goes first now.
	 */
	void (*attr_changed)(struct process_event *event, struct core_event *core);
	/**
	 * @moved: A READY thread is taken from core @from to core @core. [R] of both
	 *
	 * It is in no queue, and is inserted in the one where it is wanted on return, maybe
	 * another one of the same core: the place to re-base a key that is relative to its
	 * core. Must not call change_state(). Default: nothing.
	 */
	void (*moved)(struct process_event *event, struct core_event *from,
		      struct core_event *core);
	/** @exec: The thread's process has begun another program. [R] Default: nothing. */
	void (*exec)(struct process_event *event, struct core_event *core);
	/**
	 * @terminate: A thread dies or leaves the policy. [R]
	 *
	 * The last event about it; exactly one for each thread that was placed. It
	 * is in no queue any more. Default: nothing.
	 */
	void (*terminate)(struct process_event *event, struct core_event *core);
	/**
	 * @wakeup_preempt: Shall @woken take the CPU from @running? [R]
	 *
	 * Both belong to this policy and @woken is READY here; of two policies the
	 * first in /proc/saakm/policies preempts. saakm_task_flags() says how @woken
	 * came. Ready-made: saakm_preempt_by_order(). Default: no.
	 */
	bool (*wakeup_preempt)(struct task_struct *running, struct task_struct *woken);
	/**
	 * @schedule: Elect a thread for this core. [R]
	 *
	 * Returns a thread of this policy that is READY or DELAYED here, or core->curr to
	 * let it go on, or NULL for none (the class then keeps core->curr before it
	 * asks the next policy); anything else is a fault. Must change nothing: the
	 * kernel may call it several times, and may run something else. Default: the
	 * first of core->rq, unless the running thread goes on. That one does while
	 * it neither yielded nor used up its slice; in an ordered queue, while none
	 * goes before it or, if it has yielded or used up its slice, beside it.
	 */
	struct task_struct *(*schedule)(struct core_event *core);
	/**
	 * @refill: The core is about to elect; nobody waits in core->rq, or @refill_always. [R]
	 *
	 * The place for saakm_take(). Not called where a policy that goes first has
	 * threads. Default: the first of core->shared, where @schedule's default
	 * would have elected it.
	 */
	void (*refill)(struct core_event *core);
	/**
	 * @newly_idle: The core found nothing to run. [B], interrupts off
	 *
	 * The chance to pull threads, on the core itself. Who enables interrupts is
	 * ejected: the leaving thread's wakeup would be lost. Ready-made:
	 * saakm_pull_idle(). Default: nothing.
	 */
	void (*newly_idle)(struct core_event *core);
	/** @enter_idle: The core goes idle, unless it goes offline. [R] Default: nothing. */
	void (*enter_idle)(struct core_event *core);
	/** @exit_idle: The core leaves idle, or is back online. [R] Default: nothing. */
	void (*exit_idle)(struct core_event *core);
	/**
	 * @balancing_select: Time to balance @core. [B]
	 *
	 * Every @balance_interval_ms in softirq context, on the core itself while it
	 * has a tick. For cores that idle without one, on a CPU of the fair class's
	 * choice when that class balances: while two threads compete for a CPU, and ever
	 * later if only pinned ones do. Ready-made: saakm_pull_busier(). Default: nothing.
	 */
	void (*balancing_select)(struct core_event *core);
	/** @core_entry: The core has come online, and is active. [R] Default: nothing. */
	void (*core_entry)(struct core_event *core);
	/**
	 * @core_exit: The core is about to go offline. [R]
	 *
	 * Its threads are ousted one by one afterwards, whether the policy elects
	 * them or not. If that fails, core_entry follows. Default: nothing.
	 */
	void (*core_exit)(struct core_event *core);
	/** @topology_changed: for_each_topology_level() is new. [S] Default: nothing. */
	void (*topology_changed)(struct saakm_policy *policy);
	/**
	 * @init: Set up the policy. [S]
	 *
	 * Before any other handler; core->rq and core->data are there. An error (-errno)
	 * is passed on to the loader. Must not add or remove policies. Default: nothing.
	 */
	int (*init)(struct saakm_policy *policy);
	/** @free_metadata: Undo @init: no thread or handler is left. [S] Default: nothing. */
	void (*free_metadata)(struct saakm_policy *policy);
	/**
	 * @checkparam_attr: May a thread join with, or change to, @attr? [S]
	 *
	 * Returns 0 or what sched_setattr(2) shall return, -errno. Default: yes.
	 */
	int (*checkparam_attr)(struct saakm_policy *policy, const struct sched_attr *attr);
	/**
	 * @setparam_attr: Use @attr. [R]
	 *
	 * After @checkparam_attr; when a thread joins, before its first placement. A forked
	 * thread has its parent's saakm_task_param() and no call. Default: nothing.
	 */
	void (*setparam_attr)(struct process_event *event, const struct sched_attr *attr);
	/** @getparam_attr: Add to @attr for sched_getattr(2). [R] Default: nothing. */
	void (*getparam_attr)(struct process_event *event, struct sched_attr *attr);
	/**
	 * @migrate_from: Shall this policy replace @old? [S]
	 *
	 * After @init when it is loaded with ``replaces=``. An error (-errno) is
	 * passed on to the loader, and nothing has changed. Default: yes.
	 */
	int (*migrate_from)(struct saakm_policy *policy, struct saakm_policy *old);
	/**
	 * @take_over: A thread comes from the replaced policy. [R]
	 *
	 * @old_data is what that policy knew about the thread, or NULL. A placement
	 * follows when, or as soon as, it is runnable. Default: nothing.
	 */
	void (*take_over)(struct process_event *event, const void *old_data);
	/**
	 * @cgroup_weight: The cpu.weight of a cgroup, and whenever it changes. [S]
	 *
	 * @cgroup is its id, @weight from 1 to 10000. For cgroups whose
	 * cpu.saakm.policy is this policy, before their threads come; one that is
	 * made later has 100 until this says otherwise. A policy that replaces
	 * another is not told again. Default: nothing.
	 */
	void (*cgroup_weight)(struct saakm_policy *policy, u64 cgroup, unsigned int weight);
	/**
	 * @dump: Say how things stand, for a human. [S]
	 *
	 * For ``saakmctl dump``, and once after an ejection: the threads' data are
	 * still there then, struct task_struct may not be. 16 KiB are kept. Default: nothing.
	 */
	void (*dump)(struct saakm_policy *policy, struct seq_buf *text);

	);
	/* private: */
	const struct saakm_module_routines *ops; /* own->routines, or the class's */
	struct saakm_own	*own;		/* what the class relies on */
	struct core_event __percpu *cores;	/* see struct saakm_core */
	struct list_head	node;		/* saakm_policies */
	struct list_head	threads;	/* by threads_lock */
	raw_spinlock_t		threads_lock;
	atomic_t		users;		/* who may not be left without it */
	bool			dying;		/* nobody joins any more */
	struct task_struct	*remover;	/* who takes it down */
	bool			used_once;	/* has had a thread: policy.c */
	struct saakm_policy	*successor;	/* has replaced it */
	unsigned int		nr_threads;	/* by threads_lock */
	unsigned long		nr_new;		/* by threads_lock */
	unsigned long		nr_terminated;	/* by threads_lock */
	DECLARE_BITMAP(reported, SAAKM_NR_EXITS * SAAKM_NR_STATES);
	struct saakm_exit	exit;
};

/**
 * SAAKM_POLICY() - a module that holds one policy
 * @_name: of the policy, and of the variable, a struct saakm_policy
 *
 * Attributes and handlers of &struct saakm_policy follow, as in an initialiser. At
 * file scope, once in a module: defines its init and exit, its licence, and the
 * parameters of module_saakm_policy().
 */
#define SAAKM_POLICY(_name, ...)					\
	static_assert(sizeof(#_name) <= SAAKM_NAME_LEN, "a name has 31 characters at most"); \
	__diag_push();							\
	__diag_error(GCC, 8, "-Woverride-init", "what is given twice");	\
	static struct saakm_policy _name = {				\
		.name = #_name, .owner = THIS_MODULE, ##__VA_ARGS__	\
	};								\
	__diag_pop();							\
	module_saakm_policy(_name);					\
	MODULE_DESCRIPTION("SaaKM policy " #_name);			\
	MODULE_LICENSE("GPL")

/**
 * saakm_task_data() - the policy's own data of a thread
 * @task: a thread of the policy; of another it would be the other's data
 *
 * Context: events about the thread; elsewhere the lock of its runqueue, as for
 * threads in a queue of @core in any [R] handler.
 * Return: what &process_event.data has in events about it: zeroed when the
 * thread joined; NULL if &saakm_policy.task_size is 0.
 */
static inline void *saakm_task_data(const struct task_struct *task)
{
	return task->saakm.event.data;
}

/**
 * saakm_before() - is one time before another?
 * @a: ns, or virtual time; may have wrapped around
 * @b: likewise
 * Context: any.
 * Return: true if @a is before @b.
 */
static inline bool saakm_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/**
 * saakm_weighted_ns() - CPU time as virtual time
 * @task: a thread
 * @ns: CPU time, as @used of &struct saakm_policy says it
 *
 * Context: [R].
 * Return: @ns at nice 0, less for heavier threads: divided by what the nice value
 * weighs in the fair class, and by cpu.weight / 100 of each cgroup that @task is in.
 */
u64 saakm_weighted_ns(const struct task_struct *task, u64 ns);

/**
 * saakm_preempt_by_order() - a @wakeup_preempt: by the order of the queue of @woken
 * @running: as there
 * @woken: as there
 * Context: [R].
 * Return: true if @woken goes first.
 */
bool saakm_preempt_by_order(struct task_struct *running, struct task_struct *woken);
/**
 * saakm_pull_idle() - a @newly_idle: one thread of the nearest core->rq that has one
 * @core: as there
 * Context: [B]. Looks at up to 64 cores, free locks first; useless where cores share a queue.
 */
void saakm_pull_idle(struct core_event *core);
/**
 * saakm_pull_busier() - a @balancing_select: one, of the nearest core->rq where
 * more wait than are runnable here
 * @core: as there
 * Context: [B]. As for saakm_pull_idle().
 */
void saakm_pull_busier(struct core_event *core);

/**
 * saakm_usable_cpu() - for @prepare: a CPU for a thread that is wanted on @cpu
 * @task: the thread
 * @cpu: the CPU that it shall have, if possible
 *
 * Context: any with preemption off.
 * Return: @cpu, or the next that the thread may use and that is active; else @cpu.
 */
int saakm_usable_cpu(const struct task_struct *task, int cpu);

/**
 * saakm_share_queue() - one queue for several cores
 * @policy: the policy that is being loaded
 * @cores: which of them, copied; each shares two queues at the most
 *
 * Of the type and key of &saakm_policy.queue, with a lock of its own. Threads that would go to
 * core->rq go there, core->shared, and an idle core is called. A core that elects while nobody
 * waits in core->rq moves the first there, see @refill; or elects it in place, if it is here.
 * core->second, the second queue, has those whom the policy puts there; @refill takes them.
 *
 * Context: @init or @migrate_from of &struct saakm_policy.
 * Return: 0; -ENOMEM; -EINVAL elsewhere, with NONE, @block_delay, or too many, two without @refill.
 */
int saakm_share_queue(struct saakm_policy *policy, const struct cpumask *cores);

#include <linux/saakm_task.h>
#include <linux/saakm_core.h>
#include <linux/saakm_topology.h>
#include <linux/saakm_load.h>

#endif /* _LINUX_SAAKM_H */
