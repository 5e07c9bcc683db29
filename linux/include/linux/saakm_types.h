/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of SaaKM that is embedded in struct task_struct. It stands apart
 * from saakm.h because linux/sched.h includes it.
 */
#ifndef _LINUX_SAAKM_TYPES_H
#define _LINUX_SAAKM_TYPES_H

#include <linux/list.h>
#include <linux/rbtree_types.h>
#include <linux/types.h>
#include <uapi/linux/saakm.h>

struct saakm_data;
struct saakm_policy;
struct saakm_process;
struct saakm_rq;
struct pid;
struct pid_namespace;
struct seq_file;
struct task_struct;

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

/**
 * enum saakm_policy_flags - properties of a policy
 * @SAAKM_POLICY_PRIVILEGED: joining it takes CAP_SYS_NICE
 * @SAAKM_POLICY_IDLE_MASKS: the class keeps masks of idle cores for saakm_idle_cpu_in(),
 *	at some cost whenever a CPU begins or ends to idle
 * @SAAKM_POLICY_LOCKS: the class notes who gets locks, for saakm_holds_lock(), at some cost of
 *	each futex(2), of other classes' threads, too
 */
enum saakm_policy_flags {
	SAAKM_POLICY_PRIVILEGED	= 1 << 0,
	SAAKM_POLICY_IDLE_MASKS	= 1 << 1,
	SAAKM_POLICY_LOCKS	= 1 << 2,
};

/**
 * SAAKM_NO_TIMEOUT - &saakm_policy.timeout_ms: the watchdog leaves the policy alone
 *
 * For policies in which a thread may wait for ever without being forgotten.
 * Nobody notices then if one is.
 */
#define SAAKM_NO_TIMEOUT	UINT_MAX

/**
 * enum saakm_event_flags - how a thread event came about
 * @SAAKM_EV_CHOICE: the policy's ``*_prepare`` was asked for the CPU; without it,
 *	the thread is bound to where it is
 * @SAAKM_EV_SYNC: the waker is about to sleep
 * @SAAKM_EV_EXEC: the thread is in execve(), it may be moved cheaply
 * @SAAKM_EV_OUSTED: the thread is taken to another CPU without having slept
 *	(affinity change, exec, hotplug, core scheduling)
 * @SAAKM_EV_YIELD: it called sched_yield()
 * @SAAKM_EV_TICK: it was marked SAAKM_READY_TICK
 * @SAAKM_EV_FORK: it was forked, or cloned, just now
 * @SAAKM_EV_FORCED: the class gave it the turn that ends here, because it had
 *	been preempted in the kernel and waited for too long (see floor.c)
 *
 * Those of a placement stay until the thread gets the CPU, so that
 * wakeup_preempt sees them.
 */
enum saakm_event_flags {
	SAAKM_EV_CHOICE	= 1 << 0,
	SAAKM_EV_SYNC	= 1 << 1,
	SAAKM_EV_EXEC	= 1 << 2,
	SAAKM_EV_OUSTED	= 1 << 3,
	SAAKM_EV_YIELD	= 1 << 4,
	SAAKM_EV_TICK	= 1 << 5,
	SAAKM_EV_FORK	= 1 << 6,
	SAAKM_EV_FORCED	= 1 << 7,
};

/**
 * struct process_event - what a thread event is about
 * @task: the thread
 * @flags: enum saakm_event_flags
 * @prev_cpu: CPU that it last ran on (of its parent for a new thread)
 * @waker_cpu: CPU that the last wakeup or fork came from
 * @data: the policy's own data of the thread: &saakm_policy.task_size bytes,
 *	zeroed when the thread joins, freed when it leaves; NULL if the size is 0
 */
struct process_event {
	struct task_struct	*task;
	void			*data;
	unsigned int		flags;
	int			prev_cpu;
	int			waker_cpu;
};

/*
 * private: owned by kernel/sched/saakm/. Policies use the accessors of linux/saakm.h.
 * Fields of the wakeup and switch path come first: they share cache lines.
 */
struct saakm_task {
	struct saakm_policy	*policy;	/* NULL: not a SaaKM thread */
	struct saakm_rq		*rq;		/* queue that holds the thread */
	u8			state;		/* enum saakm_state */
	u8			on_rq;		/* enqueued in our class */
	u8			in_kernel;	/* enum saakm_preempted, see floor.c */
	u8			forking;	/* holds saakm_fork_rwsem */
	u32			param;		/* sched_attr::sched_saakm_param */
	u64			since_ns;	/* rq_clock when its state, or its wait, began */
	union {
		struct list_head	list;	/* SAAKM_RQ_FIFO, SAAKM_RQ_LIST */
		struct rb_node		rb;	/* SAAKM_RQ_RBTREE */
	} node;
	u64			key;		/* by which its queue is sorted */
	struct list_head	rq_node;	/* rq->saakm.threads */
	u64			slice_end_ns;	/* of CPU time; 0: no end */
	u64			slice_ns;	/* its own; 0: its policy's */
	u64			told_ns;	/* CPU time that `used` has been told */
	u64			bound;		/* in a tree with bounds, and the least one of */
	u64			least_bound;	/* those below */
	struct process_event	event;

	struct saakm_rq		*move_to;	/* saakm_move_task() at work */
	struct saakm_data	*data;		/* what event.data pointed to at first */
	struct saakm_process	*process;	/* that it shares; by policy->threads_lock */
	void			*process_data;	/* in there, for the policy */
	u64			wait_ns;	/* start of a wait that goes on, or 0 */
	u64			watched_ns;	/* since_ns that excused_ms is about */
	u32			excused_ms;	/* watchdog: wait that is no fault */
	u32			watched_sample;	/* the last that excused_ms counts */
	u32			id;		/* of policy, or of the last */
	u8			by_cgroup;	/* not chosen, see cgroup.c */
	u8			home;		/* by_cgroup: the SCHED_* it came with */
	u8			holds_lock;	/* futex.c; written by its policy, too */
	struct list_head	kernel_node;	/* rq->saakm.preempted */
	struct list_head	policy_node;	/* policy->threads */
};

/* /proc/<pid>/saakm */
int proc_pid_saakm(struct seq_file *m, struct pid_namespace *ns,
		   struct pid *pid, struct task_struct *task);

/* Below the other things that dump_stack() and oopses begin with. */
#ifdef CONFIG_SCHED_CLASS_SAAKM
void print_saakm_info(const char *log_lvl);
void saakm_execve(void);
bool saakm_in_use(void);
#else
static inline void print_saakm_info(const char *log_lvl) { }
static inline void saakm_execve(void) { }
static inline bool saakm_in_use(void) { return false; }
#endif

/* public: */

#endif /* _LINUX_SAAKM_TYPES_H */
