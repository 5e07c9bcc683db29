/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between the host's side of the simulator (sim/engine/, built with libc) and the
 * kernel's side (sim/core/, the class, the policies: built with -nostdinc). Plain C types only:
 * neither a type of the kernel nor a header of libc may come in here.
 *
 * How a run goes. The event loop takes the earliest event, by (time, sequence number), sets
 * sim_now to its time and calls its function. Nothing runs in parallel. Code that must wait in
 * the middle (a held lock, a mutex, mdelay(), a race that the seed wants) calls one of sim_pause(),
 * sim_wait() and sim_park(): the stack that it runs on, a *strand*, is put aside together with
 * sim_context, and the loop goes on upon another stack. Whoever never waits never pays for that:
 * an event is a call of a function.
 *
 * A strand that was put aside in the middle of an event *occupies* its CPU: see sim_pause().
 */
#ifndef _SIM_HOST_H
#define _SIM_HOST_H

typedef unsigned long long sim_u64;

/* ---- time and events: queue.c, loop.c ---- */

/* Simulated time in ns. Only the event loop changes it. */
extern sim_u64 sim_now;

#define SIM_NEVER	(~0ULL)

/**
 * struct sim_event - something that happens at a time; embedded in what it is about
 * @at:		when
 * @seq:	events of one time happen in this order; sim_event_set() draws it
 * @fn:		what happens: called with sim_now == @at
 * @position:	where in the queue; 0: in none
 * @cpu:	the CPU that it happens on, or -1. An event of a CPU which is occupied with its
 *		interrupts off waits until that is over.
 * @deferred:	instead of @seq, while it waits for its CPU: the next one that does
 *
 * An event is in the queue at most once. It has left the queue when @fn is called, which may set it
 * again, or free it.
 */
struct sim_event {
	sim_u64			at;
	union {
		sim_u64			seq;
		struct sim_event	*deferred;
	};
	void			(*fn)(struct sim_event *event);
	unsigned int		position;
	int			cpu;
};

void sim_event_init(struct sim_event *event, void (*fn)(struct sim_event *event), int cpu);

/* Let it happen at @at, whether it was set before (it is moved) or not. In the past: now. */
void sim_event_set(struct sim_event *event, sim_u64 at);

/* It shall not happen. False: it was not set. */
_Bool sim_event_cancel(struct sim_event *event);

static inline _Bool sim_event_is_set(const struct sim_event *event)
{
	return event->position != 0;
}

/* How many have happened. */
extern sim_u64 sim_events;

/* End the run after this event: all threads have exited, or somebody has interrupted us. */
void sim_stop(void);

/* ---- what runs: the context that is saved with a strand ---- */

/**
 * struct sim_context - the state of the CPU as the code that runs now sees it
 * @cpu:	which one; -1: none, between events
 * @offset:	of its copy of per-CPU variables: &variable + offset
 * @preempt:	preempt_count(), in the kernel's layout: SIM_PREEMPT_*
 * @irqs_off:	interrupts are off; a count, as for nested irqsave (enabling sets it to 0)
 * @rcu:	nesting of rcu_read_lock()
 * @locks:	raw spinlocks held
 * @task:	the thread that runs, if it is not the one of the CPU's runqueue: a worker
 * @delays:	how often this event has called sim_pause(), since it last waited or slept
 * @handler:	of a policy, that has begun last
 * @counts:	sim_counts() when it did
 * @began:	sim_now when it did
 *
 * An event begins with @preempt to @locks, @task and @delays 0, and has to end like that; otherwise it
 * is reported as having left a lock or the like.
 */
struct sim_context {
	int		cpu;
	unsigned int	preempt;
	unsigned int	irqs_off;
	unsigned int	rcu;
	unsigned int	locks;
	unsigned long	offset;
	void		*task;
	unsigned int	delays;
	unsigned int	handler;
	unsigned int	counts;
	sim_u64		began;
};

#define SIM_PREEMPT_MASK	0x000000ffU
#define SIM_SOFTIRQ_OFFSET	0x00000100U	/* serves one; twice of it: local_bh_disable() */
#define SIM_SOFTIRQ_MASK	0x0000ff00U
#define SIM_HARDIRQ_OFFSET	0x00010000U
#define SIM_HARDIRQ_MASK	0x000f0000U

extern struct sim_context sim_context;

/* Preemption, interrupts, RCU: what a handler must leave as it was. */
static inline unsigned int sim_counts(void)
{
	return sim_context.preempt ^ sim_context.irqs_off << 20 ^ sim_context.rcu << 24;
}

/* offset of each CPU's copy, as the kernel's __per_cpu_offset[] */
extern unsigned long *sim_percpu_offset;

/* Go on as @cpu. The event loop does so for events that have one. */
static inline void sim_enter_cpu(int cpu)
{
	sim_context.cpu = cpu;
	sim_context.offset = sim_percpu_offset[cpu];
}

/* The same in the middle of an event: what waits for the old CPU may happen there after it. */
void sim_move_to_cpu(int cpu);

/*
 * CPU @from dies: all that shall happen there happens on @to, and workers go on there; but who
 * occupies @from ends what it is in the middle of.
 */
void sim_move_events(int from, int to);

/* ---- strands: strand.c, loop.c ---- */

struct sim_strand;

/* The one that runs. */
extern struct sim_strand *sim_strand;

/*
 * Go on @ns later, on this CPU; others run meanwhile. While interrupts are off, or in a hardirq,
 * the CPU takes no event until then; otherwise its events come as interrupts of this code, and
 * must not schedule: see sim_cpu_interrupted(). A worker (sim_context.task) that may be preempted
 * leaves the CPU to others.
 */
void sim_pause(sim_u64 ns);

/* As a queue of those who wait in sim_wait(): zeroed memory is an empty one. */
struct sim_waiters {
	struct sim_strand	*last;		/* in a circle */
};

/*
 * Wait, occupying the CPU as in sim_pause(), until somebody calls sim_wake_*(). The condition is to
 * be tested again after that. @what: for the report if nobody ever does: "lock rq->__lock of ...".
 */
void sim_wait(struct sim_waiters *waiters, const char *what);

/* Let the first one, or all, go on: at this time, but after the event that runs. */
void sim_wake_one(struct sim_waiters *waiters);
void sim_wake_all(struct sim_waiters *waiters);

/*
 * Sleep without occupying a CPU: the kernel's side of a thread that has blocked, or a worker.
 * Context must be that of schedule(): no lock held.
 */
void sim_park(void);

/* Let @strand, which is parked, go on as @cpu, at this time, but after the event that runs. */
void sim_unpark(struct sim_strand *strand, int cpu);

/*
 * Call @fn(@arg) on a strand of its own, at this time, after the event that runs, as @cpu, with
 * sim_context.task == @task. For workers, kthreads, and calls of the system that may sleep.
 */
void sim_spawn(void (*fn)(void *arg), void *arg, int cpu, void *task);

/* Is the code that runs an interrupt of code that occupies @cpu? Then it must not schedule. */
_Bool sim_cpu_interrupted(int cpu);

/* Of that code, all of it: does it have some of the bits @mask in its preempt_count()? */
_Bool sim_cpu_interrupted_in(int cpu, unsigned int mask);

/* Is anybody but who runs in the middle of a section with preemption or interrupts off? */
_Bool sim_others_atomic(void);

/* Does code that was put aside occupy @cpu? */
_Bool sim_cpu_occupied(int cpu);

/*
 * Grace periods of RCU. sim_quiet_mark() gives a number; sim_quiet_since() of it is true once all
 * strands that were reading then (nested rcu_read_lock(), preemption or interrupts off) have
 * stopped.
 */
sim_u64 sim_quiet_mark(void);
_Bool sim_quiet_since(sim_u64 mark);

/* Interleaving: with the option interleave=N, 1 in N calls pauses for a time within the window. */
extern unsigned int sim_interleaving;
void __sim_interleave(void);

static inline void sim_interleave(void)
{
	if (__builtin_expect(sim_interleaving, 0))
		__sim_interleave();
}

/* ---- random numbers: random.c ---- */

/* A stream; each subject has one of its own, so that one more number here changes none there. */
struct sim_random {
	sim_u64 s[4];
};

/* The stream called @name, number @index of these, of this run's seed. */
void sim_random_init(struct sim_random *random, const char *name, sim_u64 index);
sim_u64 sim_random_next(struct sim_random *random);
/* 0 ... @n - 1, each as likely; @n > 0 */
sim_u64 sim_random_below(struct sim_random *random, sim_u64 n);

/* ---- memory: memory.c ---- */

/* Zeroed memory, an allocation of its own; never NULL, and never failed on purpose. */
void *sim_alloc(unsigned long size);
void sim_free(void *memory);

/* With the option fail=N: from now on 1 in N allocations fails, or none. On after the boot. */
void sim_failing(_Bool on);

/* As kmalloc(): NULL if it is to fail. Zeroed if @zero. */
void *sim_kmalloc(unsigned long size, _Bool zero);
/* The same with __GFP_NOFAIL. */
void *sim_kmalloc_surely(unsigned long size, _Bool zero);
unsigned long sim_ksize(const void *memory);

/*
 * Zeroed memory that an agent may map which is in another process: shared.c. sim_free() frees it.
 * sim_shared_fd(): the file of it, or -1; sim_shared_free(): false, it is other memory.
 */
extern _Bool sim_agents_elsewhere;
void *sim_shared_alloc(unsigned long size);
int sim_shared_fd(const void *memory);
_Bool sim_shared_free(void *memory);

/*
 * Per-CPU data. The static variables are those of section "sim_percpu" (alignment 64 at most), from
 * which sim_percpu_init() makes a copy for each CPU and fills sim_percpu_offset[].
 * sim_percpu_alloc() returns an address that, plus the offset of a CPU, is that CPU's.
 */
void sim_percpu_init(unsigned int cpus);
void *sim_percpu_alloc(unsigned long size, unsigned long align);
/* False: it was never allocated, or has been freed. */
_Bool sim_percpu_free(void *memory);

/* Of which static variable is @address a CPU's copy? Or NULL. For its name: sim_symbol(). */
const void *sim_percpu_template(const void *address, int *cpu);

/* ---- text: text.c, strings.c ---- */

/*
 * As the kernel's vsnprintf(), with %pV, %*pb, %*pbl, %ps, %pS, %pB, %pe. Plain %p, %pK and %px
 * print no address, by which runs would differ. Returns the length that it would have. The
 * kernel's side has it as vsnprintf(), by <linux/sprintf.h>.
 */
int sim_kernel_vsnprintf(char *buf, unsigned long size, const char *fmt, __builtin_va_list args);
int sim_kernel_snprintf(char *buf, unsigned long size, const char *fmt, ...);
int sim_kernel_vsscanf(const char *text, const char *fmt, __builtin_va_list args);

/* Name of the function or variable at @address, or NULL; *@offset: how far behind its beginning. */
const char *sim_symbol(const void *address, unsigned long *offset);

/* A number for the source file that what is at @address comes from; 0: not known. */
unsigned int sim_symbol_file(const void *address);

/*
 * The variables of that source file as they are now, and again: a module that is loaded anew begins
 * with what it was compiled with.
 */
struct sim_image;
struct sim_image *sim_image_save(unsigned int file);
void sim_image_restore(const struct sim_image *image);

/* Can @size bytes at @address be read? With a sanitizer: and are they somebody's? */
_Bool sim_readable(const void *address, unsigned long size);

/* Where a signal has come: in this instruction, whose function has this frame. NULL: it has not. */
struct sim_struck {
	const void	*at;
	const void	*frame;
};

extern struct sim_struck sim_struck;

/* Is @address on the stack of the strand that runs? */
_Bool sim_on_stack(const void *address);

/*
 * Names of who called whom, innermost first, by @print; nothing unless this is a sanitized build.
 */
void sim_print_stack(void (*print)(const char *name));

/* ---- files and output: files.c, output.c ---- */

/*
 * All of a file, with a NUL behind it; NULL: there is none, or it is not readable. sim_free() it.
 */
char *sim_read_file(const char *path, unsigned long *size);

/* Why the last one could not be read */
const char *sim_read_error(void);

/* Buffered output to a file; NULL: it cannot be opened. Path "-": standard output. */
struct sim_output;
struct sim_output *sim_output_open(const char *path);
void sim_output_write(struct sim_output *output, const char *text, unsigned long length);
void sim_output_close(struct sim_output *output);

/* Standard error, for printk(): without a line break of its own. */
void sim_error_write(const char *text, unsigned long length);

/* ---- ends ---- */

/*
 * Bad input: "FILE:LINE: message" on standard error, exit status 2. @line 0: no line; @file NULL:
 * neither.
 */
__attribute__((noreturn))
void sim_bad_input(const char *file, unsigned int line, const char *fmt, ...);

/* The class or a policy misbehaved: the exit status will be 1. */
void sim_misbehaved(void);

/* The same, and the run cannot go on: ends at once, with a report of what there is. */
__attribute__((noreturn))
void sim_die(void);

/* ---- options: main.c ---- */

struct sim_setting {
	const char	*name;		/* "rr.slice_us", or "timeout_ms" */
	const char	*value;
	_Bool		used;		/* nobody knows it: bad input */
};

struct sim_options {
	unsigned int	cpus, smt, llc, node;
	sim_u64		seed;
	sim_u64		end_ns;			/* for= */
	sim_u64		ipi_ns;
	unsigned int	interleave;
	sim_u64		window_ns;
	unsigned int	fail;			/* 1 in so many allocations; 0: none */
	_Bool		check;
	_Bool		transitions;
	int		progress_fd;		/* -1: none */
	const char	*costs;			/* path; NULL: free */
	const char	*trace;			/* path; NULL: none */
	const char	*program;		/* path; "-": standard input */
	const char	*program_name;		/* for messages */
	char		*program_text;
	unsigned long	program_size;
	struct sim_setting *params;		/* POLICY.NAME=V */
	unsigned int	nr_params;
	struct sim_setting *sets;		/* set=PATH:V, in order */
	unsigned int	nr_sets;
	struct sim_setting *ats;		/* at=NS:ACTION, in order */
	unsigned int	nr_ats;
	struct sim_setting *reads;		/* read=PATH: print that file at the end */
	unsigned int	nr_reads;
};

extern struct sim_options sim_options;
extern _Bool sim_interrupted;		/* by SIGINT */
extern _Bool sim_misbehaves;		/* sim_misbehaved() was called */

/* ---- agents: core/agents.c, start/agent.c, crates/saakm-user/src/simulated.rs ---- */

/**
 * struct sim_agents - a program that decides for threads, linked into the simulator
 * @domains: how many threads it has on this machine; called once, at the boot
 * @main: what each of them does, as such a thread, on a strand; returns when it has ended
 */
struct sim_agents {
	unsigned int	(*domains)(void);
	void		(*main)(unsigned int domain);
};

extern const struct sim_agents *sim_agents;	/* NULL: there are none */

/* Run the simulator with these agents, and the words of the command line that are its own. */
int sim_begin(const struct sim_agents *agents);

/* How many CPUs there are in all, and to a core, a last-level cache, a node. */
void sim_agent_machine(unsigned int sizes[4]);

/*
 * What the threads call, each of itself, as if by system calls: 0 or more, or -errno. They do so
 * with no lock held that others may want: each may let other strands run first.
 */

/* sched_setaffinity(2), sched_setattr(2) */
long sim_agent_settle(const unsigned long *cpus, unsigned long bytes);
long sim_agent_join(const char *policy);

/* The device: each has one file at a time. All of it is mapped; NULL: it is refused. */
long sim_agent_open(const char *device);
long sim_agent_ioctl(unsigned int command, void *argument);
void *sim_agent_map(void);
void sim_agent_close(void);

int sim_agent_tid(void);
_Bool sim_agent_exists(unsigned int pid);	/* is there such a thread? */

/*
 * A round is over in which it has taken events and made decisions, so many in all by now: it
 * computes for as long as that takes. True: the run is over, and it is to end.
 */
_Bool sim_agent_computes(sim_u64 events, sim_u64 decisions);

/* A signal for another one of them, which ends its sleep; sent when the caller has gone round. */
void sim_agent_nudge(int tid);

/* ---- what the kernel's side offers to the engine ---- */

/* NR_CPUS */
unsigned int sim_core_max_cpus(void);

/* Make the machine, load the policies, start the program. Called once, on a strand, may sleep. */
void sim_core_boot(void);

/* After the last event; prints the result. */
void sim_core_finish(void);

/* After each event, with the option check=1. */
void sim_core_check(void);

/*
 * @event will happen after some others: fetch into the cache what it will look at. That is asked
 * for in SIM_FETCHES steps, of which each may look at what the one before has fetched.
 */
#define SIM_FETCHES	4
void sim_core_fetch(const struct sim_event *event, unsigned int step);

/*
 * An event of @cpu (or -1), @fn, ended with something else than 0 in sim_context: report, mend it.
 */
void sim_core_left_context(int cpu, const void *fn);

/* @count events happened at one instant: who loops? Reports; the engine then ends the run. */
void sim_core_loops(const struct sim_event *event, unsigned int count);

/* At the end code on @cpu still waits, and has waited for @ns, by sim_wait(@what): report. */
void sim_core_deadlock(int cpu, void *task, const char *what, sim_u64 ns);

/* One event has computed for seconds of the host's time, and does so still. */
void sim_core_hangs(void);

/* One event waits, and has for many seconds, for what is outside of the simulation. */
void sim_core_waits(void);

/*
 * Code has been delaying itself, and nothing else, for @ns, @pauses times: sim_context is its own.
 * Reports; the engine then ends the run.
 */
void sim_core_stuck(sim_u64 ns, sim_u64 pauses);

/* What threads may need of memory, all of those that are alive. */
sim_u64 sim_core_thread_bytes(void);

/*
 * kmalloc() in the code that runs: @held bytes are in use, and there are no more, of the host's or
 * of what a run may have. Reports; the engine then ends the run.
 */
void sim_core_out_of_memory(sim_u64 held, _Bool by_host);

#endif /* _SIM_HOST_H */
