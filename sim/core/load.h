/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Workloads as they run: their threads, groups and objects. load.c is the interpreter,
 * load_objects.c has what threads wait for, load_pi.c mutexes with priority inheritance,
 * load_threads.c forks and parameters, load_others.c what is done to other threads, load_machine.c
 * what is done to the machine, account.c what is counted. engine/program.h is what they are made
 * from.
 */
#ifndef _SIM_CORE_LOAD_H
#define _SIM_CORE_LOAD_H

#include "model.h"
#include "../engine/histogram.h"
#include "../engine/program.h"

/* Operations of the launcher, beside those of programs. */
enum load_op_code {
	LOAD_OP_UNTIL = PROGRAM_NR_OPS,		/* sleep until a: a START */
	LOAD_OP_LAUNCH,				/* fork the INSTANCES of group ref */
};

/* As many operations of one thread at one instant mean that it will never stop. */
#define LOAD_MAX_AT_ONCE	100000
/* So do as many steps of all threads, for those that have done so many operations. */
#define LOAD_MAX_STEPS		300000
#define LOAD_MANY_AT_ONCE	100

/**
 * struct model_thread - a thread of a workload
 * @task:	its task_struct, which it lives as long as
 * @op:		the operation that it is at
 * @group:	where it belongs
 * @until_ns:	end of a spin
 * @node:	among those that wait for an object, or are suspended; or empty
 * @random:	state of its stream of random numbers
 * @origin:	what that was at first
 * @began_ns:	its START, or when it was forked
 * @due_ns:	the end of the period that its last `timer` was for; SIM_NEVER: none yet
 * @sent_ns:	what the last message said that it received; SIM_NEVER: none yet
 * @instant_ns:	what @at_once is about
 * @at_once:	operations at that instant
 * @left:	what is left of N
 * @pick:	what its last `pick` yielded
 * @number:	in its group
 * @whose:	of which group the others are that the next operation is about
 * @which:	their number; LOAD_ALL: all
 * @pi:		what it has of mutexes with priority inheritance; NULL: has never had any
 * @parent:	whom it tells that it has ended, or NULL
 * @alive:	children that have not ended
 * @ended:	children that have, and that it did not wait for
 * @wanted:	of these, to wait for
 * @forks:	children so far
 * @users:	itself, its children that have not ended, and mutexes that it holds
 * @phase:	how far it has come with @op: enum load_phase
 * @depth:	loops that it is in
 * @flags:	LOAD_*
 * @timer:	of its sleep
 * @words:	rounds of each loop that it is in, then when each latency began; 0: not begun
 */
struct model_thread {
	u64				until_ns;
	u64				origin;
	u64				began_ns;
	u64				due_ns;
	u64				sent_ns;
	u32				left;
	u32				pick;
	u32				number;
	u32				whose, which;
	struct load_pi			*pi;
	struct model_thread		*parent;
	u32				alive, ended, wanted;
	u32				forks;
	u32				users;

	/* What each step and each sleep touch: two lines of a cache. */
	struct load_group		*group ____cacheline_aligned;
	const struct program_op		*op;
	u64				random;
	u64				instant_ns;
	struct list_head		node;
	u32				at_once;
	u8				phase;
	u8				depth;
	u8				flags;

	struct sim_event		timer ____cacheline_aligned;
	struct task_struct		*task;
	u64				words[];
};

enum load_phase {
	LOAD_BEGINS,		/* with the operation */
	LOAD_GOES_ON,		/* it has begun it, see the operation */
	LOAD_LOCKS,		/* wait: it has been signalled, and wants the mutex */
};

#define LOAD_WAITS	BIT(0)	/* sleeps until load_wake() */
#define LOAD_SETS	BIT(1)	/* has yet to set what its group says */
#define LOAD_LAUNCHED	BIT(2)	/* is one of the INSTANCES */
#define LOAD_FORKS	BIT(3)	/* has paid for its next child */
#define LOAD_DIES	BIT(4)	/* has been killed */
#define LOAD_PINNED	BIT(5)	/* has migration disabled */

#define LOAD_ALL	(~0U)

/**
 * struct load_group - a group as it runs
 * @program:	what it is made from
 * @next_number: how many threads it has had
 * @run_ns:	CPU time of them all; switches, ...: likewise
 * @waits:	from runnable to running
 * @marks:	latencies, as program.group_marks
 * @suspended:	threads, the first one first
 * @by_number:	threads, if somebody looks for single ones
 * @room:	how many fit in there
 */
struct load_group {
	const struct program_group	*program;
	u32				next_number;
	u64				run_ns, switches, preemptions, migrations, iterations;
	struct sim_histogram		waits;
	struct sim_histogram		*marks;
	struct list_head		suspended;
	struct model_thread		**by_number;
	u32				room;
};

/* The workload, its groups, and the one behind them: that of the launcher. */
extern const struct program *load_program;
extern struct load_group *load_groups;

/* Simulated time when the run began: what START counts from. */
extern u64 load_begin_ns;

/* ---- load.c ---- */

/* Fork the launcher. Process context. */
void load_begin(void);
/* Bad input, found as late as now: with the line of the thread's operation. */
__printf(2, 3) void __noreturn load_fault(const struct model_thread *t, const char *fmt, ...);
/* All threads end, as if by SIGKILL. Process context; they are gone when load_alive is 0. */
void load_kill_all(void);
extern u32 load_alive;
extern bool load_killing;

/* signal_pending(): it ends as soon as it can. */
static inline bool load_dies(const struct model_thread *t)
{
	return load_killing || t->flags & LOAD_DIES;
}

/* What the interpreter is to do after an operation. */
enum load_next {
	LOAD_ON,		/* the thread goes on with t->op */
	LOAD_LEAVE,		/* it computes, has blocked, yielded or ended */
};

static inline enum load_next load_advance(struct model_thread *t)
{
	t->op++;
	t->phase = LOAD_BEGINS;
	return LOAD_ON;
}

/* Linux's pid_max is twice that. */
#define LOAD_MAX_THREADS	2000000

/* ---- load_objects.c ---- */

void load_objects_init(void);
enum load_next load_lock(struct model_thread *t);
enum load_next load_unlock(struct model_thread *t);
enum load_next load_wait(struct model_thread *t);
enum load_next load_meet(struct model_thread *t);
enum load_next load_signal(struct model_thread *t, bool all);
enum load_next load_barrier(struct model_thread *t);
enum load_next load_up(struct model_thread *t);
enum load_next load_down(struct model_thread *t);
enum load_next load_write(struct model_thread *t);
enum load_next load_read(struct model_thread *t);
enum load_next load_suspend(struct model_thread *t);
enum load_next load_resume(struct model_thread *t);
enum load_next load_timer(struct model_thread *t, u64 ns);
/* The number of the object that @ref names; the sum of an index's terms. */
u32 load_resolve(const struct model_thread *t, u32 ref, bool indexed);
u64 load_sum(const struct model_thread *t, u32 index);
/* @t has LOAD_WAITS, and no timer: an object's name, or who. */
const char *load_waits_for(const struct model_thread *t);

/* ---- load_pi.c: lock, unlock, wait ---- */

void load_pi_init(void);
enum load_next load_pi_lock(struct model_thread *t);
enum load_next load_pi_unlock(struct model_thread *t);
/* The two halves of wait; the first one wakes somebody. */
bool load_pi_holds(struct model_thread *t, u32 number);
void load_pi_let_go(struct model_thread *t, u32 number);
enum load_next load_pi_take(struct model_thread *t, u32 number);
/* It ends: waits no more, and what it holds goes to others. */
void load_pi_end(struct model_thread *t);

/* ---- load_others.c ---- */

enum load_next load_others(struct model_thread *t);
/* Of the others, or of itself: set_nice, set_cpus, set_policy, set_cgroup, getattr_of, kill */
enum load_next load_change(struct model_thread *t);
void load_kill(struct task_struct *p);

/* ---- load_machine.c ---- */

void load_machine_init(void);
void load_set_cgroup(struct model_thread *t, struct task_struct *p, u32 number);
enum load_next load_cgroup(struct model_thread *t);
enum load_next load_hotplug(struct model_thread *t);
enum load_next load_steal(struct model_thread *t);
enum load_next load_module(struct model_thread *t);
enum load_next load_migration(struct model_thread *t);

/* ---- load_sleep.c: sleeping ---- */

/* The thread will sleep, in the list unless that is NULL, when it says load_block(). */
void load_prepare(struct model_thread *t, struct list_head *waiters);
enum load_next load_block(struct model_thread *t);
/* Until @at, which is not past. */
enum load_next load_sleep_until(struct model_thread *t, u64 at);
/* @t, which waits, goes on. Flags of a wakeup. It may be gone when this returns. */
void load_wake(struct model_thread *t, int flags);
/* Event: struct model_thread.timer */
void load_sleep_is_over(struct sim_event *event);
/* Was the thread called although nobody has woken it? Then it sleeps on. */
bool load_sleeps_on(struct model_thread *t);

/* ---- load_threads.c ---- */

/* A thread of @group, not yet started. NULL: refused. May sleep. */
struct model_thread *load_fork(struct load_group *group, struct model_thread *parent, u64 origin);
/* It has ended, or has not even begun. */
void load_gone(struct model_thread *t);
/* One user less; the last one frees it. */
void load_put(struct model_thread *t);
enum load_next load_fork_op(struct model_thread *t);
enum load_next load_launch(struct model_thread *t);
enum load_next load_join(struct model_thread *t);
enum load_next load_end(struct model_thread *t);
/* The thread begins: it sets what its group says and it does not have. May sleep. */
void load_set_first(struct model_thread *t);
/* @t does it to @p, which may be itself. */
void load_set_nice(struct model_thread *t, struct task_struct *p, int nice);
void load_set_cpus(struct model_thread *t, struct task_struct *p, struct program_cpus cpus);
void load_set_policy(struct model_thread *t, struct task_struct *p, struct program_policy policy,
		     int nice, bool reset);

/* ---- load_random.c: program_text.py defines all of it ---- */

u64 load_random_child(u64 origin, u64 a, u64 b);
u64 load_random_below(u64 *state, u64 n);
u64 load_random_time(u64 *state, const struct program_op *op);

/* ---- account.c ---- */

extern bool account_closed;

static inline void account_iteration(struct model_thread *t)
{
	t->group->iterations += !account_closed;
}

static inline void account_mark(struct model_thread *t, u32 mark, u64 ns)
{
	if (likely(!account_closed))
		sim_histogram_add(&t->group->marks[mark], ns);
}

/* A thread of @group did not get what its program says: a warning of the run. */
void account_refused(const struct load_group *group, const char *what, long error);
/* It has ended: what its task_struct counts is the group's now. */
void account_dead(struct model_thread *t);
/* It begins. */
void account_begin(void);
/* The run ends here: what has been counted is kept for account_print(), and nothing more counts. */
void account_close(void);
void account_print(void);
void account_read_costs(void);

/* ---- load_policies.c ---- */

/* Once modules are loaded: bad input if the program names a policy that is not there. */
void load_policies_init(void);
/* Some have come or gone. */
void load_policies_changed(void);
/* 0: none of SaaKM's. `any` draws one. */
u32 load_policy_id(struct model_thread *t, struct program_policy policy);
/* As results call it; @buf has room for PROGRAM_NAME_SIZE. */
const char *load_policy_name(struct program_policy policy, char *buf);

/* ---- run.c ---- */

/* The last thread has ended. */
void run_threads_ended(void);

#endif /* _SIM_CORE_LOAD_H */
