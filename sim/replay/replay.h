/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The replayer: what the core of a kernel asked of the class, recorded in a guest, is asked of the
 * same class and policies here, and the answers are compared. The recording is what
 * src/saakm/guest/replay/recorder.c writes.
 *
 * Nothing is simulated: time, clocks, threads and runqueues are set before each call as they were
 * in the kernel (fields.h says which fields are given), and what the class makes the core do is
 * compared, not done, but for moving threads (effects.c).
 */
#ifndef _SIM_REPLAY_H
#define _SIM_REPLAY_H

#include <linux/saakm.h>
#include "saakm/internal.h"
#include "../core/machine.h"
#include "../core/model.h"

#define REPLAY_ARGUMENTS	5
#define REPLAY_ATTRIBUTES	8
#define REPLAY_MOST_FIELDS	64
#define REPLAY_NAME		64

enum replay_kind { REPLAY_RQ, REPLAY_TASK, REPLAY_CORE, REPLAY_POLICY, REPLAY_HOT, REPLAY_GLOBAL,
		   REPLAY_KINDS };

struct replay_function {
	char	name[REPLAY_NAME];
	char	arguments[REPLAY_ARGUMENTS + 1];
	char	returns;
	const struct replay_call *call;		/* NULL: it cannot be called here */
	u64	calls, equal, overlapping;
};

/* A line "field" of the plan, and what it is here. */
struct replay_field {
	char	name[REPLAY_NAME];
	u64	there;				/* offset in the kernel */
	const struct replay_member *member;	/* NULL: not known here */
};

/* As the plan says. */
extern struct replay_function *replay_calls, *replay_effects;
extern unsigned int replay_nr_calls, replay_nr_effects;
extern struct replay_field replay_fields[REPLAY_KINDS][REPLAY_MOST_FIELDS];
extern unsigned int replay_nr_fields[REPLAY_KINDS];
int replay_find_field(enum replay_kind kind, const char *name);
const struct sched_class *replay_class(u64 address);

/* ---- replay.c ---- */

/*
 * On to where call @call begins, or a later one if there is none of that number; or to the first
 * difference or warning, or the end of the recording.
 */
void replay_until(u64 call);
/* A line of JSON on standard output: how far it has come, and what has been compared. */
void replay_tell(void);

/* ---- conduct.c ---- */

/* Does what standard input says, up to its end. */
__noreturn void replay_conduct(void);

/* ---- recording.c ---- */

struct replay_begin {
	u64	frame, call, cpu, preempt, jiffies, current_task;
	u64	user;			/* it is in an interrupt of user mode */
	u64	arguments[REPLAY_ARGUMENTS], attributes[REPLAY_ATTRIBUTES];
};

/* What @rq and its current thread were afterwards. */
enum { AFTER_CLOCK, AFTER_CLOCK_TASK, AFTER_CLOCK_FLAGS, AFTER_NR_RUNNING, AFTER_SERVER_BITS,
       AFTER_SERVER_RUNTIME, AFTER_SERVER_QUEUED, AFTER_THREAD_FLAGS, NR_AFTER };

struct replay_effect {
	unsigned long position;		/* in the recording */
	u64	frame, effect, arguments[REPLAY_ARGUMENTS], returned, jiffies;
	u64	has_rq, after[NR_AFTER];
	bool	after_others;		/* their calls came since the one before */
};

struct replay_end {
	u64	frame, cpu, returned, jiffies;
};

struct replay_object_line {
	u64	number, kind, address, policy, cpu;
};

struct replay_field_line {
	u64	number, field, value;
};

/* One record, as it stands in the recording. */
struct replay_record {
	char	type;			/* 0: the recording is cut off here */
	union {
		struct replay_object_line	object;
		struct replay_field_line	field;
		struct replay_begin		begin;
		struct replay_effect		effect;
		struct replay_end		end;
	};
};

void replay_open(const char *path);
/* To a result, 511 characters at most. */
__printf(2, 3) void replay_print(struct sim_output *out, const char *fmt, ...);
/* The record at @position, which is moved on. */
void replay_read(unsigned long *position, struct replay_record *record);
extern unsigned long replay_start;		/* position of the first one */

/* ---- objects.c ---- */

/* A runqueue, a thread or a policy's core, there and here. */
struct replay_object {
	struct replay_object *next;
	enum replay_kind kind;
	u64	address;
	void	*here;			/* NULL: not known yet */
	bool	adopted;		/* what the class has of it was taken over once */
	bool	dirty;
	u64	policy, cpu;		/* of cores */
	u64	changed;		/* mask of fields, since they were set here */
	u64	changes;		/* how often the class has changed it */
	u64	patched;		/* mask of keys: the code there goes by them already */
	u64	values[REPLAY_MOST_FIELDS];
};

void replay_new_object(const struct replay_object_line *line);
void replay_set_field(const struct replay_field_line *line);
/* A thread is born; it may have the memory of one that has ended. */
void replay_new_thread(u64 address);
/* All that others have changed since, but for objects that a call that has not ended is about. */
void replay_apply(bool (*busy)(const struct replay_object *object));
struct replay_object *replay_object_at(enum replay_kind kind, u64 address);
struct rq *replay_rq(u64 address);
struct replay_object *replay_rq_object(int cpu);
struct replay_object *replay_globals(void);
/* Is there a key whose code is being patched? */
bool replay_patching(void);
/* Code that is being patched is, from now on. */
void replay_patch(void);
/* How often the class has changed this CPU's runqueue and cores in the kernel. */
u64 replay_changes(int cpu);
struct task_struct *replay_task(u64 address);
struct replay_object *replay_core_object(u64 policy, int cpu);
u64 replay_there(const struct replay_object *object, const char *name);
/*
 * True: all of @object that the class writes is equal, or with @own_only what nobody else writes.
 * Otherwise @text says what is not.
 */
bool replay_compare(struct replay_object *object, bool own_only, char *text, size_t size);
/* Both states of @object, on standard error. */
void replay_show(struct replay_object *object);
const char *replay_object_name(const struct replay_object *object, char *text, size_t size);

/* ---- frames.c ---- */

#define REPLAY_MOST_OBJECTS	16

/*
 * Where a call is made that races with others: each part between two of its turns at once, or when
 * the next turn comes, or it ends; or one part up to a read at once, and its rest at the next turn.
 * Or it is made where it begins, and is the first in code that is being patched. races.c
 */
enum replay_moved { NOT_MOVED, TO_BEGIN, TO_END, CUT, PATCHED };

/* A call that has begun. It runs on a stack of its own, and waits there for its turns. */
struct replay_frame {
	struct replay_begin begin;
	struct replay_function *function;
	struct replay_object *objects[REPLAY_MOST_OBJECTS];	/* that it is about */
	unsigned int nr_objects;
	u64	locked;			/* mask of CPUs: it holds the locks of their runqueues */
	bool	overlaps, done;
	bool	interrupted;		/* others' calls come in between */
	bool	deferred;		/* it is yet to be made */
	enum replay_moved moved;
	unsigned int cut_at, reads;	/* CUT: the read, and how many it has come to */
	bool	is_cut;			/* until its next turn */
	u64	changes_before;		/* to what it has the lock of */
	void	*stack;
	struct sim_context context;	/* while it waits */
	u64	returned, jiffies_at_end;
	unsigned long ends_at;		/* position in the recording */
	bool	ends_after_others;	/* their calls came since its last effect */
	struct replay_effect *effects;	/* that the kernel's class had */
	unsigned int nr_effects, next_effect, room;
	bool	differs;
	char	difference[512];
	struct replay_frame *next;	/* unused ones */
};

extern struct replay_frame *replay_making;	/* the one that runs now, or NULL */
extern unsigned long replay_reached;		/* position in the recording */
struct replay_frame *replay_frame_new(void);
void replay_frame_free(struct replay_frame *f);
/* It runs until it has returned, or waits for its turn. */
void replay_resume(struct replay_frame *f);
/* Leave the stack of the call that runs now. */
void replay_stop(struct replay_frame *f);
/* Until the recording has come to @position. */
void replay_wait(unsigned long position);
/* What follows has been reached, and waits if this call is moved to its end. */
void replay_turn_over(void);

/* ---- races.c ---- */

/* "raced FRAME begin|end|patched|READ": a line of standard input. */
void replay_add_race(const char *text);
/* There are so many; those added later are forgotten. */
extern unsigned int replay_nr_races;
extern u64 replay_asked;	/* conduct.c */
/* Says where @f is made, in @f. */
void replay_move(struct replay_frame *f);
/* Calls that were cut. */
extern unsigned int replay_nr_cut;
/* For what it does until its next effect: other CPUs' ticks come meanwhile. */
u64 replay_jiffies(const struct replay_frame *f);

/* ---- effects.c ---- */

/* Nothing is called here that would take this effect. */
bool replay_is_unseen(const struct replay_effect *e);
/* The next one of the call that runs now that is taken, or NULL. */
struct replay_effect *replay_next_effect(void);

/* The call has returned: is there anything that it should have done, and has not? */
void replay_none_left(struct replay_frame *f);
/* What the class does in its softirq. */
void replay_softirq(void);

/* ---- calls.c ---- */

struct replay_call {
	const char *name;
	enum { UNLOCKED, IRQS_OFF, RQ_LOCKED, PI_LOCKED } context;
	u64 (*call)(const struct replay_begin *begin);
};

const struct replay_call *replay_find_call(const char *name);
u64 replay_run(const struct replay_function *function, const struct replay_begin *begin);

#endif /* _SIM_REPLAY_H */
