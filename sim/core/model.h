/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The internal interface of sim/core/: what its files call of each other beside the functions
 * that are the kernel's own and declared where the kernel declares them.
 *
 * How a CPU runs. Between events each CPU has a current thread, rq->curr, which computes, or
 * idles. All that happens is an event (host.h), and each runs on one CPU, at one instant:
 *
 *  - an interrupt (tick, reschedule IPI, irq_work, hrtimer) does its work between
 *    model_irq_enter() and model_irq_exit(). The latter runs softirqs and, if the current
 *    thread shall make way, elects: __schedule(SM_PREEMPT), as preempt_schedule_irq().
 *  - the end of a burst: the current thread has computed for task_struct.burst_ns. It is in the
 *    kernel then (a system call): model_load_next() says what it does. Returning from there is
 *    returning to user mode, with an election if it shall make way.
 *
 * A thread has a stack only while it needs one. A thread of a workload blocks by model_block()
 * as the last thing that model_load_next() does: nothing of it is left on the stack, and when it
 * runs again, model_load_next() is called again (or its next burst begins, if model_compute()
 * was called before it blocked). Kernel threads, and system calls that sleep in the middle (mutex,
 * workqueue, RCU), call schedule(): that puts the strand aside (sim_park()), until the
 * thread is elected.
 */
#ifndef _SIM_CORE_MODEL_H
#define _SIM_CORE_MODEL_H

#include <linux/hardirq.h>
#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/sched.h>
#include <linux/tick.h>
#include "../include/kernel/sched/sched.h"
#include "../include/kernel/time/tick-sched.h"

/* As kernel/sched/core.c */
#define SM_IDLE			(-1)
#define SM_NONE			0
#define SM_PREEMPT		1

/* ---- for load*.c: threads ---- */

/**
 * model_fork() - a new thread, a child of current; clone(2) without its start
 * @comm:	its name; NULL: the parent's
 * @process:	it is a process of its own, not another thread of the parent's
 * @model:	what task_struct.model shall be
 *
 * sched_fork(), sched_cgroup_fork(), sched_post_fork() as copy_process() calls them. May
 * sleep. After that the caller may call model_compute(), and calls wake_up_new_task().
 * Return: the thread, with a reference for the caller; or ERR_PTR().
 */
struct task_struct *model_fork(const char *comm, bool process, struct model_thread *model);

/* kernel/sched/core.c, wake_up_new_task() */
void wake_up_new_task(struct task_struct *p);

/* @p, which does not run now or is current, will compute for so long before its next step. */
static inline void model_compute(struct task_struct *p, u64 ns)
{
	p->burst_ns = ns;
}

/*
 * The current thread sleeps in @state until try_to_wake_up(); the last thing that
 * model_load_next() does. Who lets others know first whom to wake says set_current_state() before
 * that, and 0 here: a wakeup that comes in between is not lost.
 */
void model_block(unsigned int state);

/* sched_yield(2) of the current thread; the last thing that model_load_next() does. */
void model_yield(void);

/*
 * do_exit() of the current thread, up to where it may be preempted once more. model_exit() begins
 * with it, if that was not called.
 */
void model_exit_begin(void);

/* It ends; the last thing that model_load_next() does. model_load_dead() follows. */
void model_exit(void);

/* execve(2): sched_exec(), then saakm_execve(). May sleep (it waits for a stopper). */
void model_exec(const char *comm);

/* What flags the wakeup has: 0 or WF_SYNC. Returns 0 if @p does not sleep in such a state. */
int try_to_wake_up(struct task_struct *p, unsigned int state, int wake_flags);

/* sched_setattr(2), nice(2), sched_setaffinity(2) by current on @p: 0 or -errno. May sleep. */
int model_setattr(struct task_struct *p, struct sched_attr *attr);
int model_setnice(struct task_struct *p, int nice);
int model_setaffinity(struct task_struct *p, const struct cpumask *mask);

/* @owner runs with the priority of @waiter, the most urgent one that waits for what it holds. */
void model_boost(struct task_struct *owner, struct task_struct *waiter);

/* From load_pi.c: @p has another priority, and may wait for somebody who shall know of that. */
void rt_mutex_adjust_pi(struct task_struct *p);

/* /sys/devices/system/cpu/cpuN/online: 0 or -errno. Process context, sleep. */
int model_cpu_down(unsigned int cpu);
int model_cpu_up(unsigned int cpu);

/* Groups: mkdir, cgroup.procs, cpu.weight, cpu.saakm.policy below the root group. May sleep. */
struct task_group *model_group_new(const char *name, struct task_group *parent);
int model_group_attach(struct task_group *group, struct task_struct *p);
int model_group_weight(struct task_group *group, unsigned int weight);
void model_group_exit(struct task_struct *p);
int model_group_policy(struct task_group *group, const char *policy);
int model_group_show(struct task_group *group, struct seq_file *m);

/* ---- from load*.c: what the core calls ---- */

/*
 * The current thread has computed what it had to, and is in the kernel, on its CPU, in process
 * context with preemption and interrupts on. It may wake others, and change parameters; then it
 * says model_compute() and returns, or blocks, yields or exits. With neither it is asked again
 * at once (the limit on events at one instant applies).
 *
 * After a wakeup, fork or change it shall return if need_resched(): the kernel preempts it there
 * (task_struct.burst_ns == 0 says that it is not on its way to user mode), and it is asked for the
 * rest when it has the CPU again.
 */
void model_load_next(struct task_struct *p);

/* @p gets the CPU; for threads with task_struct.model only. */
void model_load_on(struct rq *rq, struct task_struct *p);
/* @p has left the CPU: @runnable: it was preempted, or has yielded. */
void model_load_off(struct rq *rq, struct task_struct *p, bool runnable);
/* @p has been woken, or is new: it is runnable now. */
void model_load_woken(struct rq *rq, struct task_struct *p);
/* @p has exited and made its last switch; the core drops its reference after that. */
void model_load_dead(struct task_struct *p);

/* ---- costs: the table is load's, the charging here ---- */

enum model_cost {
	MODEL_COST_WAKEUP,
	MODEL_COST_SWITCH,
	MODEL_COST_TICK,
	MODEL_COST_YIELD,
	MODEL_COST_FORK,
	MODEL_COST_EXIT,
	MODEL_COST_SETATTR,
	MODEL_COST_MIGRATION_SMT,
	MODEL_COST_MIGRATION_LLC,
	MODEL_COST_MIGRATION_NODE,
	MODEL_COST_MIGRATION_FAR,
	MODEL_COST_AGENT_ROUND,		/* what an agent computes: it is not charged as others */
	MODEL_COST_AGENT_EVENT,
	MODEL_COST_AGENT_DECISION,
	MODEL_NR_COSTS
};

extern u64 model_cost_ns[MODEL_NR_COSTS];	/* account.c, by load */

/* ---- counts ---- */

struct model_stats {
	u64	switches, wakeups, ticks, forks;
	u64	migrations[4];		/* to a CPU of the same core, cache, node, elsewhere */
	u64	cost_ns;
	u64	hash;			/* of all switches and transitions */
};

extern struct model_stats model_stats;		/* switch.c */

static inline void model_hash(u64 what)
{
	model_stats.hash = (model_stats.hash ^ what) * 0x9e3779b97f4a7c15ULL;
	model_stats.hash ^= model_stats.hash >> 29;
}

/* The CPU is busy for so long before what it computes next. */
static inline void model_charge_on(struct rq *rq, enum model_cost kind)
{
	rq->charged_ns += model_cost_ns[kind];
	model_stats.cost_ns += model_cost_ns[kind];
}

/* The runqueue of this CPU. Nobody is moved in the middle of what is no sleep. */
static __always_inline struct rq *model_rq(void)
{
	return raw_cpu_ptr(&runqueues);
}

static inline void model_charge(enum model_cost kind)
{
	model_charge_on(model_rq(), kind);
}

/* One round of a loop that waits for another CPU. */
static inline void model_relax(void)
{
	sim_pause(50);
}

/* ---- trace: load's trace.c. Called only while model_tracing. ---- */

extern bool model_tracing;
void model_trace_switch(struct task_struct *prev, struct task_struct *next, bool preempt,
			unsigned int prev_state);
void model_trace_waking(struct task_struct *p);
void model_trace_wakeup(struct task_struct *p);
void model_trace_wakeup_new(struct task_struct *p);
void model_trace_migrate(struct task_struct *p, int dest_cpu);
void model_trace_fork(struct task_struct *parent, struct task_struct *child);
void model_trace_exec(struct task_struct *p, const char *old_comm);
void model_trace_exit(struct task_struct *p);
void model_trace_pi_setprio(struct task_struct *p, struct task_struct *pi_task);

/* ---- for machinery: interrupts, threads that have a stack ---- */

/* What get_irq_regs() points to in an interrupt: did it come in user mode? switch.c */
extern struct pt_regs model_user_regs, model_kernel_regs;

extern u64 model_next_jiffy_ns;			/* tick.c: when jiffies will be one more */

/* Has @p the CPU in user mode, if it has it? */
static inline bool model_in_user(const struct task_struct *p)
{
	return p->in_user || !(p->in_kernel || p->strand);
}

/* An interrupt of this CPU begins; the event loop has set sim_context.cpu. */
static inline void model_irq_enter(void)
{
	struct task_struct *p = raw_cpu_read(current_task);

	WARN_ONCE(!cpu_online(sim_context.cpu), "an interrupt on CPU %d, which is offline",
		  sim_context.cpu);
	sim_context.irqs_off++;
	sim_context.preempt += SIM_HARDIRQ_OFFSET;
	if (unlikely(sim_now >= model_next_jiffy_ns))
		tick_do_update_jiffies64(sim_now);	/* tick_irq_enter() */
	raw_cpu_write(__irq_regs, is_idle_task(p) || !model_in_user(p) ||
		      sim_cpu_interrupted(sim_context.cpu) ?
		      &model_kernel_regs : &model_user_regs);
}

/* It ends, in the middle of something that goes on: softirqs, but no election. */
void model_irq_leave(void);

/* It ends: softirqs, an election if there shall be one, and the current thread computes on. */
void model_irq_exit(void);

/* Process context of this CPU ends: an election, and the current thread computes on. */
void model_task_exit(void);

/*
 * A kernel thread: of the fair class, asleep until wake_up_process(). @fn runs on a stack of
 * its own when the thread is elected; when it returns the thread exits. schedule(),
 * wake_up_process(), set_cpus_allowed_ptr() do what they say.
 */
struct task_struct *model_kthread_new(int (*fn)(void *arg), void *arg, const char *comm);

/*
 * The same, but a thread of a program that is linked in. @leader: of its process; NULL: it is that
 * itself. @fn runs in the kernel, and between system calls calls model_run_user().
 */
struct task_struct *model_user_thread_new(int (*fn)(void *arg), void *arg, const char *comm,
					  struct task_struct *leader);

/* The current thread, which has a stack, computes in user mode for so long, and goes on then. */
void model_run_user(u64 ns);

/* The current kernel thread ends here. */
void __noreturn model_kthread_exit(int code);

/* softirq.c, by machinery: run those that are pending on this CPU. Interrupts are off. */
DECLARE_PER_CPU(unsigned int, model_softirqs);	/* a bit for each that is pending */
void model_do_softirqs(void);

/* ---- boot: boot.c ---- */

/*
 * Makes CPUs, runqueues, idle threads, domains; no initcalls, which modules.c runs. The caller
 * is sim_core_boot() of run.c, on a strand that is no thread: model_boot() turns it into pid 1,
 * "init", a fair thread on CPU 0 which may sleep and fork.
 */
void model_boot(void);

/* The last thing that sim_core_boot() does: pid 1 sleeps for ever, and the CPUs go to work. */
void model_boot_done(void);

/* The classes' and the core's invariants, after each event with check=1. */
void model_check(void);

/* ---- within the scheduler core ---- */

/* clock.c */
void model_steal(struct rq *rq, u64 ns);

/* queue.c */
void __set_task_cpu(struct task_struct *p, unsigned int cpu);
void block_task(struct rq *rq, struct task_struct *p, int flags);
void model_wait_off_cpu(struct task_struct *p);

/*
 * Where task_struct.cpus_ptr points unless migration is disabled; in the kernel always to cpus_mask.
 * Most threads may use all CPUs: so each wakeup need not fetch a mask of its own from memory.
 */
static inline const struct cpumask *model_cpus(const struct task_struct *p)
{
	return cpumask_equal(&p->cpus_mask, cpu_possible_mask) ? cpu_possible_mask : &p->cpus_mask;
}

/* wakeup.c */
int select_task_rq(struct task_struct *p, int cpu, int *wake_flags);
int select_fallback_rq(int cpu, struct task_struct *p);
bool is_cpu_allowed(struct task_struct *p, int cpu);

/* switch.c */
void __schedule(int sched_mode);
void balance_callbacks(struct rq *rq, struct balance_callback *head);
struct balance_callback *splice_balance_callbacks(struct rq *rq);
void queue_balance_callback(struct rq *rq, struct balance_callback *head,
			    void (*func)(struct rq *rq));

/* tick.c */
void model_init_tick(struct rq *rq);
void tick_nohz_idle_enter_cpu(struct rq *rq);
void tick_nohz_idle_exit_cpu(struct rq *rq);
void nohz_csd_func(struct rq *rq);
void nohz_balance_exit_idle(struct rq *rq);

/* ipi.c */
void model_init_ipi(struct rq *rq);
void model_flush_calls(struct rq *rq);
void smp_send_reschedule(int cpu);

/* move.c */
struct cpu_stop_work {
	struct list_head	list;
	int			(*fn)(void *arg);
	void			*arg;
	struct completion	*done;
	int			ret;
};

void stop_one_cpu_nowait(unsigned int cpu, int (*fn)(void *arg), void *arg,
			 struct cpu_stop_work *work);
int stop_one_cpu(unsigned int cpu, int (*fn)(void *arg), void *arg);
void model_make_stopper(int cpu);
void sched_exec(void);
void migrate_disable_switch(struct rq *rq, struct task_struct *p);
/* With pi_lock, and if it is queued the runqueue's. */
void __do_set_cpus_allowed(struct task_struct *p, struct affinity_context *ctx);
struct rq *__migrate_task(struct rq *rq, struct rq_flags *rf, struct task_struct *p, int dest_cpu);

/* setattr.c */
void model_getattr(struct task_struct *p, struct sched_attr *attr);

/* fork.c */
struct task_struct *model_new_idle(int cpu);
struct task_struct *model_new_task(const char *comm);

/* group.c */
void model_group_join(struct task_struct *p);
void model_group_leave(struct task_struct *p);
void model_group_fork_begin(void);
void model_group_fork_end(void);

/* pi.c */
void rt_mutex_setprio(struct task_struct *p, struct task_struct *pi_task);

/* hotplug.c */
void balance_push(struct rq *rq);
extern struct balance_callback balance_push_callback;
extern struct cpumask model_dying_mask;

/* rt.c, fair.c, idle.c, stop.c, server.c */
void init_rt_rq(struct rt_rq *rt);
void init_cfs_rq(struct cfs_rq *cfs);
void init_dl_rq(struct dl_rq *dl);
struct task_struct *pick_task_fair(struct rq *rq);
void model_init_burst(struct rq *rq);
bool fair_newly_idle(struct rq *rq, struct rq_flags *rf);

/* domains.c */
void model_init_domains(void);
void model_build_domains(void);
void model_siblings_online(int cpu, bool online);
const struct cpumask *model_llc_mask(int cpu);
enum model_distance { MODEL_SMT, MODEL_LLC, MODEL_NODE, MODEL_FAR };
enum model_distance model_distance(int a, int b);

#endif /* _SIM_CORE_MODEL_H */
