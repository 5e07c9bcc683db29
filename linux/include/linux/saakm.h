/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SaaKM: Schedulers as Kernel Modules. The API of a policy author: together
 * with <linux/module.h> the only header that a policy includes.
 *
 * A policy answers events about threads and cores. It holds no locks, never
 * touches the runqueues of the kernel, and moves a thread only by
 * change_state(). Contexts, by the letter in each handler's description:
 *
 *   [P] p->pi_lock held, interrupts off. No side effects, may not sleep. The
 *       answer is a wish: the thread may have been bound elsewhere meanwhile.
 *   [R] lock of the runqueue of core->id held, interrupts off, may not sleep.
 *       May run on another CPU: use core->id, never smp_processor_id().
 *   [B] no runqueue lock, preemption off, may not sleep. The only place where
 *       saakm_move_task() and saakm_steal() may be called. Interrupts are off in
 *       newly_idle, and must stay so, and on in balancing_select.
 *   [S] process context, may sleep.
 *
 * What stands between "private:" and "public:", in a struct or in a header, is
 * the class's own: policies do not use it. Everything else is described in
 * kernel-doc.
 *
 * Overview and life of a thread: Documentation/scheduler/saakm.rst
 */
#ifndef _LINUX_SAAKM_H
#define _LINUX_SAAKM_H

#include <linux/cpumask.h>
#include <linux/llist.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/saakm_runqueue.h>
#include <linux/saakm_types.h>
#include <linux/sched.h>
#include <linux/seq_buf.h>
#include <linux/workqueue.h>
#include <uapi/linux/sched/types.h>

/* Whoever includes the API may use its symbols. */
#ifdef MODULE
MODULE_IMPORT_NS(SAAKM);
#endif

/**
 * struct core_event - one core, as one policy sees it
 * @id: number of the CPU
 * @curr: in &saakm_module_routines.schedule only: the thread of this policy
 *	that has the CPU and could go on, or NULL. It is in no runqueue.
 * @nr_runnable: threads of this policy that are READY or RUNNING here
 *
 * To read only. What the class relies on it keeps for itself.
 */
struct core_event {
	int			id;
	struct task_struct	*curr;
	unsigned int		nr_runnable;
};

/**
 * struct saakm_module_routines - the events that a policy answers
 *
 * @schedule, @new_place and @unblock_place are mandatory; a policy without them
 * is refused by saakm_add_policy(), which says in
 * /sys/kernel/saakm/last_error what is missing. A handler must return within
 * microseconds: it delays every thread of the core.
 */
struct saakm_module_routines {
	/**
	 * @new_prepare: Where shall a new thread run? [P]
	 *
	 * Called at fork and when a sleeping thread that has joined wakes for
	 * the first time. Skipped when the thread may use one CPU only.
	 * Returns a CPU that the thread may use and that is online, see
	 * saakm_usable_cpu(), or event->prev_cpu, whatever that is. Any other
	 * is a fault. Default: event->prev_cpu.
	 */
	int (*new_prepare)(struct saakm_policy *policy,
			   struct process_event *event);

	/**
	 * @new_place: Insert a new thread. [R]
	 *
	 * Must call change_state(task, SAAKM_READY, core->id, queue), with a
	 * queue of this core. Mandatory. To return without is a fault: by
	 * default the policy is ejected (see &enum saakm_reaction), and the
	 * class runs the thread from a FIFO of its own.
	 */
	void (*new_place)(struct saakm_policy *policy,
			  struct process_event *event, struct core_event *core);

	/** @new_end: The new thread is placed. [R] Default: nothing. */
	void (*new_end)(struct saakm_policy *policy,
			struct process_event *event, struct core_event *core);

	/**
	 * @unblock_prepare: Where shall a waking thread run? [P]
	 *
	 * Also called for a RUNNING thread in execve(), with SAAKM_EV_EXEC.
	 * Otherwise as @new_prepare.
	 */
	int (*unblock_prepare)(struct saakm_policy *policy,
			       struct process_event *event);

	/**
	 * @unblock_place: Insert a thread that woke. [R]
	 *
	 * Also called when a thread lands on another CPU (SAAKM_EV_OUSTED),
	 * when one comes back from a priority inheritance boost, and, unless
	 * @requeue is given, when one leaves the CPU but stays runnable.
	 * Obligations as in @new_place. Mandatory.
	 */
	void (*unblock_place)(struct saakm_policy *policy,
			      struct process_event *event,
			      struct core_event *core);

	/** @unblock_end: The woken thread is placed. [R] Default: nothing. */
	void (*unblock_end)(struct saakm_policy *policy,
			    struct process_event *event,
			    struct core_event *core);

	/**
	 * @requeue: A RUNNING thread leaves the CPU and stays runnable. [R]
	 *
	 * It was preempted, yielded (SAAKM_EV_YIELD), or its time was up
	 * (SAAKM_EV_TICK). Its run time is up to date. Obligations as in
	 * @new_place. Default: @unblock_place.
	 */
	void (*requeue)(struct saakm_policy *policy,
			struct process_event *event, struct core_event *core);

	/**
	 * @block: A thread stops being runnable. [R]
	 *
	 * It sleeps, is boosted into a real-time class, or is taken to another
	 * CPU (SAAKM_EV_OUSTED). May call change_state(task, SAAKM_BLOCKED,
	 * core->id, NULL); otherwise the class does so on return. Default:
	 * nothing more.
	 */
	void (*block)(struct saakm_policy *policy, struct process_event *event,
		      struct core_event *core);

	/**
	 * @yield: The running thread called sched_yield(). [R]
	 *
	 * The class has marked it: saakm_curr() no longer returns it, so other
	 * threads get their turn. Default: nothing more.
	 */
	void (*yield)(struct saakm_policy *policy, struct process_event *event,
		      struct core_event *core);

	/**
	 * @tick: Timer tick while a thread of this policy is RUNNING. [R]
	 *
	 * Its run time is up to date. To take the CPU from it call
	 * change_state(task, SAAKM_READY_TICK, core->id, NULL); @schedule
	 * follows. Possibly called on another CPU (nohz_full). Default: the
	 * thread runs until it blocks.
	 */
	void (*tick)(struct saakm_policy *policy, struct process_event *event,
		     struct core_event *core);

	/**
	 * @running: An elected thread gets the CPU. [R] Default: nothing.
	 *
	 * Also called for threads that core scheduling elected.
	 */
	void (*running)(struct saakm_policy *policy,
			struct process_event *event, struct core_event *core);

	/**
	 * @attr_changed: A thread's nice value, parameter, affinity or cgroup
	 * has changed, or merely might have. [R]
	 *
	 * Its place in an ordered runqueue has been renewed already. Not a
	 * block or unblock: it has not slept. Default: nothing.
	 */
	void (*attr_changed)(struct saakm_policy *policy,
			     struct process_event *event,
			     struct core_event *core);

	/**
	 * @terminate: A thread dies or leaves the policy. [R]
	 *
	 * The last event about it; exactly one for each thread that got a
	 * ``*_place``. The thread is in no runqueue any more. Default: nothing.
	 */
	void (*terminate)(struct saakm_policy *policy,
			  struct process_event *event, struct core_event *core);

	/**
	 * @moved: A READY thread is taken from core @from to core @core. [R] of both
	 *
	 * By saakm_move_task() or saakm_steal(). It is in no runqueue, and is
	 * inserted in the one of @core that they name as soon as this returns:
	 * the place to re-base a key that is relative to its core. Must not
	 * call change_state(). Default: nothing.
	 */
	void (*moved)(struct saakm_policy *policy, struct process_event *event,
		      struct core_event *from, struct core_event *core);

	/**
	 * @wakeup_preempt: Shall @woken take the CPU from @running? [R]
	 *
	 * Both belong to this policy and @woken is READY here. True asks for
	 * an election. Default: no. Between two policies the one that comes
	 * first in /proc/saakm/policies preempts. The flags of how @woken came
	 * are still there: saakm_task_flags() (SAAKM_EV_SYNC, FORK, CHOICE).
	 */
	bool (*wakeup_preempt)(struct saakm_policy *policy,
			       struct task_struct *running,
			       struct task_struct *woken);

	/**
	 * @schedule: Elect a thread for this core. [R]
	 *
	 * Return a thread of this policy that is READY on this core, or
	 * core->curr to let it go on, or NULL for none (the class then keeps
	 * core->curr before it asks the next policy). Must change nothing: the
	 * kernel's scheduler may call it several times, and may run something
	 * else. Mandatory. To return anything else is a fault, and the class
	 * elects in its place.
	 */
	struct task_struct *(*schedule)(struct saakm_policy *policy,
					struct core_event *core);

	/**
	 * @newly_idle: The core found nothing to run. [B], interrupts off
	 *
	 * The chance to pull threads: saakm_steal(). Called on the core itself,
	 * once the policy has had a thread. Default: nothing. Who enables
	 * interrupts is ejected: a wakeup of the thread that leaves would be lost.
	 */
	void (*newly_idle)(struct saakm_policy *policy,
			   struct core_event *core);

	/** @enter_idle: The core goes idle. [R] Default: nothing. */
	void (*enter_idle)(struct saakm_policy *policy,
			   struct core_event *core);

	/** @exit_idle: The core leaves idle. [R] Default: nothing. */
	void (*exit_idle)(struct saakm_policy *policy, struct core_event *core);

	/**
	 * @balancing_select: Time to balance @core. [B]
	 *
	 * Called every &saakm_policy.balance_interval_ms in softirq context,
	 * on the core itself while it has a tick. For cores that idle without
	 * one it is called on the CPU that the fair class chose for NOHZ idle
	 * balancing, and only when that class balances: while two threads
	 * compete for a CPU, or two CPUs are busy. The interval of that
	 * balancing doubles, up to a second, while only pinned threads are
	 * found. Not before the policy has had a thread. Default: nothing.
	 */
	void (*balancing_select)(struct saakm_policy *policy,
				 struct core_event *core);

	/** @core_entry: The core has come online, and is active. [R] Default: nothing. */
	void (*core_entry)(struct saakm_policy *policy,
			   struct core_event *core);

	/**
	 * @core_exit: The core is about to go offline. [R]
	 *
	 * Its threads are ousted one by one afterwards, whether the policy
	 * elects them or not. If that fails, core_entry follows. Default:
	 * nothing.
	 */
	void (*core_exit)(struct saakm_policy *policy, struct core_event *core);

	/**
	 * @init: Set up the policy. [S]
	 *
	 * Called by saakm_add_policy() before any other handler, with the
	 * cores numbered. Initialise the runqueues here: they belong to the
	 * policy whose init it is. An error (-errno) is passed on to the loader;
	 * a policy that ejects itself here is refused, too. Other policies
	 * cannot be loaded meanwhile. Must not add or remove policies.
	 * Default: nothing.
	 */
	int (*init)(struct saakm_policy *policy);

	/**
	 * @free_metadata: Undo @init. [S]
	 *
	 * Called by saakm_remove_policy() when no thread and no handler is
	 * left. Default: nothing.
	 */
	void (*free_metadata)(struct saakm_policy *policy);

	/**
	 * @checkparam_attr: May a thread join with, or change to, @attr? [S]
	 *
	 * Return 0 or a negative errno, which sched_setattr(2) returns.
	 * Default: any sched_saakm_param is accepted.
	 */
	int (*checkparam_attr)(struct saakm_policy *policy,
			       const struct sched_attr *attr);

	/**
	 * @setparam_attr: Use @attr. [R]
	 *
	 * After a successful @checkparam_attr; when a thread joins, before its
	 * first @new_place. A forked thread has its parent's
	 * saakm_task_param() and no call. Default: nothing.
	 */
	void (*setparam_attr)(struct saakm_policy *policy,
			      struct process_event *event,
			      const struct sched_attr *attr);

	/**
	 * @getparam_attr: Fill in @attr for sched_getattr(2). [R]
	 *
	 * Nice value, id and parameter are there already. Default: nothing.
	 */
	void (*getparam_attr)(struct saakm_policy *policy,
			      struct process_event *event,
			      struct sched_attr *attr);

	/**
	 * @migrate_from: Shall this policy replace @old? [S]
	 *
	 * Called after @init when it is loaded with ``replaces=``. Nothing has
	 * changed yet: an error (-errno) is passed on to the loader, and @old
	 * goes on. Default: yes.
	 */
	int (*migrate_from)(struct saakm_policy *policy, struct saakm_policy *old);

	/**
	 * @take_over: A thread comes from the replaced policy. [R]
	 *
	 * @old_data is what that policy knew about the thread, its
	 * &process_event.data, or NULL. It has had its terminate; @new_place
	 * follows when, or as soon as, the thread is runnable. Default:
	 * nothing.
	 */
	void (*take_over)(struct saakm_policy *policy, struct process_event *event,
			  const void *old_data);

	/**
	 * @cgroup_weight: The cpu.weight of a cgroup, and whenever it changes. [S]
	 *
	 * @cgroup is its id (that of task_dfl_cgroup() of its threads), @weight
	 * from 1 to 10000. Called for cgroups whose cpu.saakm.policy, own or
	 * inherited, is this policy, before their threads come. One that is
	 * made later has 100 until this says otherwise. A policy that replaces
	 * another is not told again: it takes the weights over in migrate_from.
	 * Default: nothing.
	 */
	void (*cgroup_weight)(struct saakm_policy *policy, u64 cgroup, unsigned int weight);

	/**
	 * @dump: Say how things stand, for a human. [S]
	 *
	 * For ``saakmctl dump``, beside other handlers; and once after the
	 * policy has been ejected and its threads have gone to fair: their
	 * data (&process_event.data) are still there, struct task_struct may
	 * not be. 16 KiB are kept. As long as it does not return the module
	 * cannot be unloaded. Default: nothing.
	 */
	void (*dump)(struct saakm_policy *policy, struct seq_buf *text);
};

/**
 * enum saakm_reaction - what happens to a policy that is at fault
 * @SAAKM_REACT_DEFAULT: as /sys/kernel/saakm/on_violation says
 * @SAAKM_REACT_WARN: it is reported, once for each kind and thread state
 * @SAAKM_REACT_EJECT: it is reported, and loses its threads to the fair class
 * @SAAKM_REACT_PANIC: the kernel panics
 */
enum saakm_reaction {
	SAAKM_REACT_DEFAULT,
	SAAKM_REACT_WARN,
	SAAKM_REACT_EJECT,
	SAAKM_REACT_PANIC,
};

/* private: of struct saakm_policy: the end of a policy, see eject.c */
struct saakm_exit {
	atomic_t		claimed;
	enum saakm_exit_kind	kind;
	bool			queued;		/* work; under saakm_mutex */
	bool			done;		/* its threads have left */
	u8			handler;
	int			cpu;
	pid_t			pid;
	char			comm[TASK_COMM_LEN];
	u64			time_ns;	/* of the kernel log */
	char			reason[256];
	char			*dump;		/* JSON */
	struct llist_head	data;		/* of its threads, until it is dumped */
	struct work_struct	work;		/* the rest, in process context */
};

/* public: */

/**
 * enum saakm_policy_flags - properties of a policy
 * @SAAKM_POLICY_PRIVILEGED: joining it takes CAP_SYS_NICE
 */
enum saakm_policy_flags {
	SAAKM_POLICY_PRIVILEGED = 1 << 0,
};

/**
 * struct saakm_policy - one loaded scheduler
 * @name: what users select it by; unique
 * @routines: its handlers
 * @owner: THIS_MODULE
 * @data: for the policy's own use
 * @task_size: bytes of data per thread, allocated and freed by the class; two
 *	pages at the most; 0: none
 * @balance_interval_ms: between two @balancing_select of a core; 0: never
 * @priority: policies are asked in falling priority, then in order of loading
 * @flags: enum saakm_policy_flags
 * @timeout_ms: a thread that is READY for longer without running is a stall,
 *	time apart in which others held every CPU that it may use; 0: 30 s;
 *	%SAAKM_NO_TIMEOUT: the watchdog leaves the policy alone
 * @reaction: what happens when it is at fault
 * @replaces: name of the policy whose threads it takes when it is loaded, or NULL
 * @id: what sched_attr.sched_saakm_policy selects; set by saakm_add_policy()
 *
 * All but @data is read when the policy is loaded; changes afterwards change
 * nothing. The struct must outlive the policy: static, or from kmalloc().
 */
struct saakm_policy {
	char					name[SAAKM_NAME_LEN];
	const struct saakm_module_routines	*routines;
	struct module				*owner;
	void					*data;
	unsigned int				task_size;
	unsigned int				balance_interval_ms;
	int					priority;
	unsigned int				flags;
	unsigned int				timeout_ms;
	enum saakm_reaction			reaction;
	const char				*replaces;
	u32					id;
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
	bool			used;		/* has had a thread: class.c */
	struct saakm_policy	*successor;	/* has replaced it */
	unsigned int		nr_threads;	/* by threads_lock */
	unsigned long		nr_new;		/* by threads_lock */
	unsigned long		nr_terminated;	/* by threads_lock */
	DECLARE_BITMAP(reported, SAAKM_NR_EXITS * SAAKM_NR_STATES);
	struct saakm_exit	exit;
};

/**
 * SAAKM_NO_TIMEOUT - the watchdog leaves the policy alone
 *
 * Value of &saakm_policy.timeout_ms, for policies in which a thread may wait for
 * ever without being forgotten. Nobody notices then if one is.
 */
#define SAAKM_NO_TIMEOUT	UINT_MAX

/**
 * saakm_add_policy() - register a policy
 * @policy: filled in by the caller, zero elsewhere; lives until removed
 *
 * Context: may sleep. Threads may join before it returns.
 * Not from a handler.
 * Return: 0; -EINVAL for missing routines, a name that will not do, or memory
 * that will not last (stack, __init), -EEXIST for a name in use or a policy that
 * is loaded already, -ENOSPC with 64 policies loaded, -EBUSY when the deadline
 * server finds no bandwidth, -E2BIG for more data per thread than two pages,
 * -ESRCH if there is no policy to replace, -ECANCELED if it ejected itself,
 * -EDEADLK from a handler, -ENOMEM, or what @init or @migrate_from returned (for
 * a positive number -EINVAL). The sentence is in
 * /sys/kernel/saakm/last_error.
 */
int saakm_add_policy(struct saakm_policy *policy);

/**
 * saakm_remove_policy() - move the policy's threads to fair and forget it
 * @policy: a registered policy; otherwise nothing happens
 *
 * Works under any load: a FIFO of the class elects the threads from then on, of
 * the handlers only terminate is called for each, and none of a policy that was
 * ejected. Afterwards no handler is
 * running or will be called. A policy of another module is left alone, and that
 * is reported.
 *
 * Context: may sleep; not from a handler.
 */
void saakm_remove_policy(struct saakm_policy *policy);

/**
 * saakm_eject() - give up, with a reason
 * @policy: the calling policy; another one is left alone, and that is reported
 * @kind: SAAKM_EXIT_POLICY_ERROR, or what else describes it
 * @p: the thread that it is about, or NULL
 * @fmt: what happened, as for printk, without a newline
 *
 * The class takes over at once: no handler is called any more but @dump and
 * @free_metadata, the threads run on and are moved to the fair class. For states
 * from which the policy knows no way back. Of several calls the first counts.
 *
 * Context: any but NMI.
 */
__printf(4, 5)
void saakm_eject(struct saakm_policy *policy, enum saakm_exit_kind kind,
		 const struct task_struct *p, const char *fmt, ...);

/**
 * saakm_set_options() - let whoever loads a policy overrule its author
 * @policy: not added yet
 * @replaces: name of the policy whose threads it takes; NULL: as it is
 * @timeout_ms: the watchdog's limit in ms; 0: no watchdog; negative: as it is
 * @on_violation: "default", "warn", "eject" or "panic"; NULL: as it is
 *
 * For modules with a module_init() of their own, before saakm_add_policy();
 * module_saakm_policy() calls it. Sets @replaces, @timeout_ms and @reaction of
 * the policy. Called later, it changes nothing.
 *
 * Context: [S].
 * Return: 0, or -EINVAL for another @on_violation; the sentence is in
 * /sys/kernel/saakm/last_error.
 */
int saakm_set_options(struct saakm_policy *policy, const char *replaces, int timeout_ms,
		      const char *on_violation);

/**
 * module_saakm_policy() - a module that does nothing but hold one policy
 * @__policy: a struct saakm_policy
 *
 * Defines module_init() and module_exit(), which add and remove the policy.
 * Whoever loads it may overrule the author by the module's parameters:
 * timeout_ms, with 0 for no watchdog, and on_violation. With replaces=NAME the
 * policy takes over all threads of NAME. At file scope, once in a module. A
 * module that has more to set up calls saakm_add_policy() itself.
 */
#define module_saakm_policy(__policy)					\
	static char *__policy##_replaces;				\
	module_param_named(replaces, __policy##_replaces, charp, 0444);	\
	static int __policy##_timeout_ms = -1;				\
	module_param_named(timeout_ms, __policy##_timeout_ms, int, 0444); \
	static char *__policy##_on_violation;				\
	module_param_named(on_violation, __policy##_on_violation, charp, 0444); \
	static int __init __policy##_module_init(void)			\
	{								\
		int ret = saakm_set_options(&(__policy), __policy##_replaces, \
					    __policy##_timeout_ms,	\
					    __policy##_on_violation);	\
									\
		return ret ?: saakm_add_policy(&(__policy));		\
	}								\
	static void __exit __policy##_module_exit(void)			\
	{								\
		saakm_remove_policy(&(__policy));			\
	}								\
	module_init(__policy##_module_init);				\
	module_exit(__policy##_module_exit)

/**
 * DOC: Promises
 *
 * A policy may say in its module what it promises to its threads::
 *
 *	MODULE_INFO(saakm_promises, "no-starvation, fairness");
 *
 * There are ``work-conservation``, ``no-starvation``, ``fairness`` and
 * ``weights``. ``saakm check`` holds the policy to those that it names, and
 * refuses other words; ``saakm check --list`` says what each means. The kernel
 * does not read them. Default: none.
 */

/**
 * saakm_change_state() - move a thread to another state
 * @task: a thread of the calling policy
 * @next_state: READY from ``*_place`` and requeue; READY_TICK from tick; BLOCKED
 *	from block and TERMINATED from terminate, where the class does it if the
 *	handler has not; all other transitions are the class's
 * @next_cpu: CPU of the event
 * @next_rq: for READY a runqueue of that CPU, otherwise NULL
 *
 * The only way. Links and unlinks the thread; checks transition, CPU, runqueue
 * and that the handler is about the thread. A wrong call leaves the thread where
 * it is and is a fault (SAAKM_EXIT_WRONG_TRANSITION).
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
static inline int change_state(struct task_struct *task,
			       enum saakm_state next_state, int next_cpu,
			       struct saakm_rq *next_rq)
{
	return saakm_change_state(task, next_state, next_cpu, next_rq);
}

/* Threads */

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
 * saakm_task_data() - the policy's own data of a thread
 * @task: a thread of the policy; of another it would be the other's data
 *
 * Context: events about the thread; elsewhere the lock of its runqueue, as for
 * threads in a queue of @core in any [R] handler. The data are freed when the
 * thread leaves the policy.
 * Return: what &process_event.data has in events about it: zeroed when the
 * thread joined; NULL if &saakm_policy.task_size is 0.
 */
static inline void *saakm_task_data(const struct task_struct *task)
{
	return task->saakm.event.data;
}

/**
 * saakm_task_param() - what the thread was given for its policy
 * @task: a thread of the policy
 *
 * What it means is for the policy to say: see @checkparam_attr of &struct
 * saakm_module_routines.
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
 * saakm_task_weight() - the thread's weight by its nice value
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

/* Cores */

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

#include <linux/saakm_topology.h>

#endif /* _LINUX_SAAKM_H */
