/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads: what the scheduler, the class and the policies know of them. The order of the
 * fields is by use: those that each wakeup and switch reads share cache lines, the masks,
 * which are as long as NR_CPUS makes them, are at the end.
 */
#ifndef _LINUX_SCHED_H
#define _LINUX_SCHED_H

#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/rbtree_types.h>
#include <linux/rcupdate.h>
#include <linux/saakm_types.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <uapi/linux/sched.h>
#include <uapi/linux/sched/types.h>
#include <sim/host.h>

struct cgroup_subsys_state;
struct css_set;
struct load_group;
struct model_thread;
struct rq;
struct sched_attr;
struct sched_class;
struct sched_dl_entity;
struct task_group;

#define TASK_COMM_LEN		16

/* task_struct.__state */
#define TASK_RUNNING		0x0000
#define TASK_INTERRUPTIBLE	0x0001
#define TASK_UNINTERRUPTIBLE	0x0002
#define TASK_PARKED		0x0040
#define TASK_DEAD		0x0080
#define TASK_WAKEKILL		0x0100
#define TASK_WAKING		0x0200
#define TASK_NOLOAD		0x0400
#define TASK_NEW		0x0800
#define TASK_FREEZABLE		0x2000
#define TASK_KILLABLE		(TASK_WAKEKILL | TASK_UNINTERRUPTIBLE)
#define TASK_IDLE		(TASK_UNINTERRUPTIBLE | TASK_NOLOAD)
#define TASK_NORMAL		(TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE)

/* task_struct.flags */
#define PF_IDLE			0x00000002
#define PF_EXITING		0x00000004
#define PF_IO_WORKER		0x00000010
#define PF_WQ_WORKER		0x00000020
#define PF_KTHREAD		0x00200000
#define PF_NO_SETAFFINITY	0x04000000

#define MAX_NICE		19
#define MIN_NICE		-20
#define NICE_WIDTH		(MAX_NICE - MIN_NICE + 1)
#define MAX_RT_PRIO		100
#define MAX_DL_PRIO		0
#define MAX_PRIO		(MAX_RT_PRIO + NICE_WIDTH)
#define DEFAULT_PRIO		(MAX_RT_PRIO + NICE_WIDTH / 2)
#define NICE_TO_PRIO(nice)	((nice) + DEFAULT_PRIO)
#define PRIO_TO_NICE(prio)	((prio) - DEFAULT_PRIO)

#define MAX_SCHEDULE_TIMEOUT	LONG_MAX

struct load_weight {
	unsigned long		weight;
	u32			inv_weight;
};

/* Time of all classes; what fair orders by. */
struct sched_entity {
	u64			exec_start;
	u64			sum_exec_runtime;
	u64			prev_sum_exec_runtime;	/* at the beginning of the turn */
	u64			vruntime;
	u64			slice;
	struct load_weight	load;
	struct rb_node		run_node;
	u64			nr_migrations;
	u8			on_rq;
	u8			custom_slice;
	u8			sched_delayed;		/* of SaaKM's alone: fair delays none here */
};

struct sched_rt_entity {
	struct list_head	run_list;
	struct list_head	*queue;			/* that it is in */
	unsigned int		time_slice;		/* ticks, of SCHED_RR */
	u8			on_rq;
};

typedef bool (*dl_server_has_tasks_f)(struct sched_dl_entity *);
typedef struct task_struct *(*dl_server_pick_f)(struct sched_dl_entity *);

/* task_struct.exit_state */
#define EXIT_DEAD		0x0010

/**
 * struct task_struct - a thread
 *
 * What stands below "model:" is the simulator's, and nobody's in the kernel.
 */
struct task_struct {
	/*
	 * Wakeup, switch: what each of them touches comes first, in as few lines of a cache as can
	 * be. Among it is the model's: what the thread computes, see sim/core/model.h.
	 */
	unsigned int		__state;
	unsigned int		flags;
	int			cpu;
	int			wake_cpu;
	u8			on_rq;
	u8			on_cpu;
	u8			need_resched;		/* TIF_NEED_RESCHED */
	u8			spins;			/* model: account.c, likewise */
	int			nr_cpus_allowed;
	const struct sched_class *sched_class;
	const struct cpumask	*cpus_ptr;		/* see model_cpus() */
	raw_spinlock_t		pi_lock;
	u64			since_ns;		/* model: it has the CPU, or is runnable */

	pid_t			pid;
	int			prio;
	int			ran_on;			/* model: the CPU where it ran last */
	unsigned short		migration_disabled;
	unsigned short		migration_flags;
	u8			in_kernel;		/* model: what it computes is not user mode */
	u8			going_on;		/* model: its strand is about to run */
	u8			parked;			/* model: its strand sleeps */
	u8			yields;			/* model: account.c */
	u64			burst_ns;		/* model: what is left to compute */
	struct sim_strand	*strand;		/* model: sleeps, or will, in the kernel */
	void			(*step)(struct task_struct *p);	/* model: NULL: a strand */
	struct model_thread	*model;			/* of sim/core/load*.c, or NULL */
	struct load_group	*load_group;		/* likewise */
	unsigned int		nvcsw, nivcsw;

	int			static_prio;
	unsigned int		policy;
	struct sched_entity	se;
	struct saakm_task	saakm;
	struct sched_rt_entity	rt;

	u8			sched_reset_on_fork;
	u8			per_cpu;		/* model: kthread_is_per_cpu() */
	u8			signalled;		/* model: signal_pending() */
	u8			in_user;		/* model: although it has a stack */

	/* names and relations */
	pid_t			tgid;
	char			comm[TASK_COMM_LEN];
	refcount_t		usage;
	unsigned int		exit_state;
	struct task_struct	*group_leader;		/* held as long as this one */
	struct task_struct __rcu *real_parent;		/* to compare: it may have ended. NULL: init */
	struct signal_struct	*signal;		/* the process */
	struct list_head	thread_node;		/* of its threads */
	struct pid		*thread_pid;
	struct list_head	tasks;			/* all threads */
	int			normal_prio;
	unsigned int		rt_priority;
	int			recent_used_cpu;
	void			*worker_private;	/* kthread.c, workqueue.c */
	int			(*entry)(void *arg);	/* of a kernel thread */
	void			*entry_arg;
	int			exit_code;

	/* priority inheritance: pi.c */
	struct task_struct	*pi_top_task;

	/* groups */
	struct task_group	*sched_task_group;
	struct list_head	cg_list;

	/* a change of affinity that waits: move.c */
	struct set_affinity_pending *migration_pending;
	struct rcu_head		rcu;

	/* NR_CPUS bits */
	struct cpumask		cpus_mask;
};

/*
 * Whoever runs on this CPU: per-CPU, as pcpu_hot.current_task, defined in sim/core/switch.c;
 * or a worker that is no thread of a runqueue.
 */
DECLARE_PER_CPU(struct task_struct *, current_task);

static __always_inline struct task_struct *get_current(void)
{
	return sim_context.task ? sim_context.task : raw_cpu_read(current_task);
}

#define current			get_current()

/* States */

#define task_is_running(p)	(READ_ONCE((p)->__state) == TASK_RUNNING)
#define __set_current_state(s)	WRITE_ONCE(current->__state, (s))
#define set_current_state(s)	smp_store_mb(current->__state, (s))
/* A wakeup that is under way must not undo it. */
#define set_special_state(s) do {						\
	unsigned long __flags;							\
										\
	raw_spin_lock_irqsave(&current->pi_lock, __flags);			\
	WRITE_ONCE(current->__state, (s));					\
	raw_spin_unlock_irqrestore(&current->pi_lock, __flags);			\
} while (0)
#define get_current_state()	READ_ONCE(current->__state)

static inline unsigned int task_cpu(const struct task_struct *p)
{
	return READ_ONCE(p->cpu);
}

static inline bool is_idle_task(const struct task_struct *p)
{
	return p->flags & PF_IDLE;
}

static inline bool is_percpu_thread(void)
{
	return current->flags & PF_NO_SETAFFINITY && current->nr_cpus_allowed == 1;
}

static inline pid_t task_pid_nr(const struct task_struct *p)
{
	return p->pid;
}

#define task_pid_vnr(p)		task_pid_nr(p)

static inline pid_t task_tgid_nr(const struct task_struct *p)
{
	return p->tgid;
}

static inline int task_nice(const struct task_struct *p)
{
	return PRIO_TO_NICE(p->static_prio);
}

static inline bool rt_prio(int prio)
{
	return prio < MAX_RT_PRIO && prio >= MAX_DL_PRIO;
}

static inline bool dl_prio(int prio)
{
	return prio < MAX_DL_PRIO;
}

static inline bool rt_or_dl_prio(int prio)
{
	return prio < MAX_RT_PRIO;
}

static inline bool rt_task(const struct task_struct *p)
{
	return rt_prio(p->prio);
}

static inline bool rt_or_dl_task(const struct task_struct *p)
{
	return rt_or_dl_prio(p->prio);
}

/* Reschedule marks. There is no separate bit in the preemption count. */

static inline bool test_tsk_need_resched(const struct task_struct *p)
{
	return READ_ONCE(p->need_resched);
}

static inline void set_tsk_need_resched(struct task_struct *p)
{
	WRITE_ONCE(p->need_resched, 1);
}

static inline void clear_tsk_need_resched(struct task_struct *p)
{
	WRITE_ONCE(p->need_resched, 0);
}

#define need_resched()		test_tsk_need_resched(current)
#define set_preempt_need_resched()	do { } while (0)
#define clear_preempt_need_resched()	do { } while (0)

/* References: sim/core/fork.c. linux/sched/task.h has nothing to add. */

static inline struct task_struct *get_task_struct(struct task_struct *p)
{
	refcount_inc(&p->usage);
	return p;
}

void __put_task_struct(struct task_struct *p);

static inline void put_task_struct(struct task_struct *p)
{
	if (refcount_dec_and_test(&p->usage))
		__put_task_struct(p);
}

/* After a grace period. */
void put_task_struct_rcu_user(struct task_struct *p);

/* A process: what its threads share. */
struct signal_struct {
	refcount_t		sigcnt;
	struct list_head	thread_head;
};

/* All threads of the process of @p, under RCU. */
#define for_each_thread(p, t)						\
	list_for_each_entry_rcu(t, &(p)->signal->thread_head, thread_node)

extern struct list_head model_tasks;		/* all threads, in order of creation */
#define for_each_process_thread(p, t)					\
	list_for_each_entry_rcu(t, &model_tasks, tasks) if (((p) = (t)->group_leader))

struct task_struct *find_task_by_vpid(pid_t pid);

static inline int signal_pending(const struct task_struct *p)
{
	return p->signalled;
}

/* Sleeping and waking: sim/core/switch.c, wakeup.c; schedule_timeout*(): timers.c */

void schedule(void);
void schedule_preempt_disabled(void);
void io_schedule(void);
long schedule_timeout(long timeout);
long schedule_timeout_interruptible(long timeout);
long schedule_timeout_uninterruptible(long timeout);
long schedule_timeout_idle(long timeout);
int __cond_resched(void);
#define cond_resched()		({ might_resched(); __cond_resched(); })
#define cond_resched_tasks_rcu_qs()	cond_resched()
void yield(void);

int wake_up_process(struct task_struct *p);
int wake_up_state(struct task_struct *p, unsigned int state);
int default_wake_function(struct wait_queue_entry *wait, unsigned int mode, int flags, void *key);
unsigned long wait_task_inactive(struct task_struct *p, unsigned int match_state);
void kick_process(struct task_struct *p);

#ifndef might_resched
#define might_resched()		might_sleep()
#endif

/* Parameters and affinity: sim/core/setattr.c, move.c */

int sched_setattr(struct task_struct *p, const struct sched_attr *attr);
int sched_setattr_nocheck(struct task_struct *p, const struct sched_attr *attr);
int sched_setscheduler(struct task_struct *p, int policy, const struct sched_param *param);
int sched_setscheduler_nocheck(struct task_struct *p, int policy, const struct sched_param *param);
void sched_set_fifo(struct task_struct *p);
void sched_set_fifo_low(struct task_struct *p);
void sched_set_normal(struct task_struct *p, int nice);
void set_user_nice(struct task_struct *p, long nice);
int set_cpus_allowed_ptr(struct task_struct *p, const struct cpumask *new_mask);
void kthread_bind_mask_now(struct task_struct *p, const struct cpumask *mask);
void migrate_disable(void);
void migrate_enable(void);

/* CPUs whose idle thread runs, with nobody waiting: kept up to date under the runqueue locks. */
extern struct cpumask model_idle_mask;

static inline int idle_cpu(int cpu)
{
	return cpumask_test_cpu(cpu, &model_idle_mask);
}

#define available_idle_cpu(cpu)	idle_cpu(cpu)	/* no hypervisor takes CPUs away */
bool cpus_share_cache(int this_cpu, int that_cpu);

static inline void set_task_comm(struct task_struct *p, const char *comm)
{
	int i;

	for (i = 0; i < TASK_COMM_LEN - 1 && comm[i]; i++)
		p->comm[i] = comm[i];
	p->comm[i] = 0;
}

#define get_task_comm(buf, p)	({ memcpy(buf, (p)->comm, TASK_COMM_LEN); (buf); })

#endif /* _LINUX_SCHED_H */
