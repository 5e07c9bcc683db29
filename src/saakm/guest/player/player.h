/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Plays a workload with real threads: the program text that the simulator runs. Its reader is the
 * simulator's own: sim/engine/program.h is what that makes of the text. main.c says how the
 * program is called.
 */
#ifndef PLAYER_H
#define PLAYER_H

#define _GNU_SOURCE
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "program.h"

typedef uint64_t u64;
typedef uint32_t u32;

#define NEVER		(~0ULL)
#define MAX_THREADS	1024
#define MAX_ACTIONS	32

/**
 * struct thread - one of the workload's
 * @op:		the operation that it is at
 * @group:	where it belongs
 * @number:	in its group
 * @tid:	0: it has not begun
 * @launched:	it is one of the INSTANCES
 * @word:	futex: 1 when it has been woken
 * @next:	in the queue that it waits in
 * @suspended:	it waits for `resume`
 * @parent:	who forked it, or NULL
 * @alive:	children that have not ended
 * @ended:	children that have, and that it did not wait for
 * @wanted:	of these, to wait for; 0: it does not wait
 * @forks:	children so far
 * @random:	state of its stream
 * @origin:	what that was at first
 * @began_ns:	its START, or when it was forked; this and other times count from the beginning
 * @due_ns:	when its last timer was due; NEVER: none yet
 * @sent_ns:	what its last message said
 * @pick:	what its last `pick` yielded
 * @rounds:	of each loop that it is in
 * @depth:	how many these are
 * @refused:	first error of a system call that changes it; @refused_line: of which operation
 */
struct thread {
	const struct program_op		*op;
	const struct program_group	*group;
	u32				number;
	volatile pid_t			tid;
	bool				launched;
	volatile u32			word;
	struct thread			*next;
	bool				suspended;
	struct thread			*parent;
	u32				alive, ended, wanted, forks;
	u64				random, origin;
	u64				began_ns, due_ns, sent_ns;
	u32				pick;
	u64				rounds[PROGRAM_LOOPS];
	u32				depth;
	int				refused;
	unsigned int			refused_line;
};

struct queue {
	struct thread *first, *last;
};

struct group {
	u32		next_number;
	struct queue	suspended;
};

extern const struct program *program;
extern struct group *groups;
extern struct thread threads[MAX_THREADS];	/* in order of birth */
extern u32 nr_threads;
extern u64 seed, begin_ns;
extern const char *main_policy;

/* main.c */
__attribute__((noreturn, format(printf, 2, 3)))
void fault(const struct thread *t, const char *fmt, ...);
u32 policy_of(struct program_policy policy);
void has_been_forked(void);
void has_ended(void);

/* time.c: of CLOCK_MONOTONIC, from begin_ns on */
u64 now_ns(void);
void sleep_until(u64 at_ns);
void sleep_for(u64 ns);
void burn(u64 ns);
void spin_until(u64 at_ns);
u64 counter(void);
void check_clocks(void);

/* random.c */
u64 random_child(u64 origin, u64 a, u64 b);
u64 random_below(u64 *state, u64 n);
u64 random_time(u64 *state, const struct program_op *op);

/* objects.c */
void objects_init(void);
void lock_objects(void);
void unlock_objects(void);
void enqueue(struct queue *queue, struct thread *t);
void wait_to_be_woken(struct thread *t);
void wake(struct thread *t);
u32 resolve(const struct thread *t, u32 ref, bool indexed);
void mutex_lock(struct thread *t);
void mutex_unlock(struct thread *t);
void pi_lock(struct thread *t);
void pi_unlock(struct thread *t);
void cond_wait(struct thread *t);
void cond_signal(struct thread *t, bool all);
void barrier(struct thread *t);
void up(struct thread *t);
void down(struct thread *t);
void write_pipe(struct thread *t);
void read_pipe(struct thread *t);
void suspend(struct thread *t);
void resume(struct thread *t);
void timer(struct thread *t);

/* cgroups.c */
void cgroups_init(void);
void set_cgroup(struct thread *t);
void cgroup_weight(struct thread *t);
void cgroup_policy(struct thread *t);

/* threads.c */
void threads_init(void);
struct thread *begin_thread(u32 group, struct thread *parent, u64 origin, u64 began_ns);
void set_first(struct thread *t);
/* A system call of @t's has returned @result: errno is kept if it was refused. */
void note(struct thread *t, int result);
void set_nice(struct thread *t, int nice);
void set_cpus(struct thread *t, struct program_cpus cpus);
void set_policy(struct thread *t, struct program_policy policy);
void fork_children(struct thread *t);
void join_children(struct thread *t);
void tell_parent(struct thread *t);

/* play.c */
void *play(void *thread);

#endif /* PLAYER_H */
