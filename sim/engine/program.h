/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A workload as the simulator holds it: what program.c makes of the text form, and
 * sim/core/load*.c runs. src/saakm/workload/program_text.py defines form and meaning. Both sides
 * include this: plain C types only.
 *
 * Nothing in here changes during a run, and no thread has a copy of any of it.
 */
#ifndef _SIM_PROGRAM_H
#define _SIM_PROGRAM_H

#include "host.h"

#define PROGRAM_NAME_SIZE	32
#define PROGRAM_LOOPS		16
#define PROGRAM_FOREVER		(~0ULL)
#define PROGRAM_ALL		(~0U)

enum program_kind {
	PROGRAM_MUTEX,
	PROGRAM_COND,
	PROGRAM_BARRIER,
	PROGRAM_SEMAPHORE,
	PROGRAM_PIPE,
	PROGRAM_TIMER,
	PROGRAM_PIMUTEX,
	PROGRAM_CGROUP,		/* number 0 is the root */
	PROGRAM_NR_KINDS
};

/**
 * struct program_array - declared objects of one kind
 * @name:	as declared
 * @kind:	enum program_kind
 * @line:	of the declaration
 * @first:	number of its first object among all of that kind
 * @count:	how many
 * @size:	parties, initial value, capacity or weight
 * @parent:	of cgroups: number of the first one above, of which there are @parents
 * @parents:	its children take turns
 */
struct program_array {
	char		name[PROGRAM_NAME_SIZE];
	unsigned int	kind;
	unsigned int	line;
	unsigned int	first;
	unsigned int	count;
	unsigned int	size;
	unsigned int	parent, parents;
};

enum program_base {
	PROGRAM_SELF,
	PROGRAM_LOOP,
	PROGRAM_PICK,
	PROGRAM_NR_BASES
};

/**
 * struct program_index - which object of an array, or thread of a group
 * @first:	number of the array's first object
 * @count:	the sum of the terms is taken modulo this; 0: it is not
 * @number:	sum of the terms that are numbers
 * @divide:	of each base
 * @times:	of each base; 0: there is no such term
 */
struct program_index {
	unsigned int	first;
	unsigned int	count;
	sim_u64		number;
	unsigned int	divide[PROGRAM_NR_BASES];
	unsigned int	times[PROGRAM_NR_BASES];
};

enum program_drawn {
	PROGRAM_FIXED,		/* a */
	PROGRAM_UNIFORM,	/* a to b */
	PROGRAM_EXPONENTIAL,	/* mean a */
	PROGRAM_BIMODAL,	/* b in `ppm` of a million cases, else a */
};

enum program_policy_kind {
	PROGRAM_MAIN,
	PROGRAM_SAAKM,
	PROGRAM_FAIR,
	PROGRAM_BATCH,
	PROGRAM_IDLE,
	PROGRAM_FIFO,
	PROGRAM_RR,
	/* Of operations alone: one of SaaKM's that is drawn; and that a cgroup has none. */
	PROGRAM_ANY,
	PROGRAM_NONE,
};

/* A policy, as the words say it; @name: number of a policy's name in program.policies. */
struct program_policy {
	unsigned char	kind;
	unsigned char	priority;
	unsigned int	name;
};

struct program_range {
	unsigned short	first, last;
};

/* CPUs: @count ranges from program.ranges[@first] on; none: all CPUs. */
struct program_cpus {
	unsigned int	first;
	unsigned int	count;
};

enum program_op_code {
	OP_RUN, OP_SPIN, OP_SLEEP, OP_TIMER,
	OP_LOCK, OP_UNLOCK, OP_WAIT, OP_MEET, OP_SIGNAL, OP_BROADCAST, OP_BARRIER,
	OP_UP, OP_DOWN,				/* send, receive: a semaphore */
	OP_WRITE, OP_READ,			/* send, receive: a pipe */
	OP_SUSPEND, OP_RESUME, OP_YIELD,
	OP_FORK, OP_JOIN, OP_EXIT, OP_EXEC,
	OP_SET_NICE, OP_SET_CPUS, OP_SET_POLICY,
	OP_MARK_BEGIN, OP_MARK_END, OP_ITERATION,
	OP_PICK, OP_LOOP, OP_AGAIN, OP_END,	/* OP_AGAIN: the `end` of a loop */
	OP_CHANCE, OP_JOINS,			/* OP_JOINS: the `end` of a chance */
	OP_PI_LOCK, OP_PI_UNLOCK,		/* lock, unlock: a pimutex */
	OP_OTHERS,				/* in front of what is about other threads */
	OP_KILL, OP_GETATTR, OP_SET_CGROUP, OP_CGROUP_WEIGHT, OP_CGROUP_POLICY,
	OP_CPU_OFFLINE, OP_CPU_ONLINE, OP_STEAL, OP_EJECT, OP_RELOAD,
	OP_MIGRATE_DISABLE, OP_MIGRATE_ENABLE,
	PROGRAM_NR_OPS
};

enum program_how {
	PROGRAM_NOW,		/* of marks and messages */
	PROGRAM_DUE,
	PROGRAM_SENT,
	PROGRAM_RELATIVE = 0,	/* of timers */
	PROGRAM_ABSOLUTE,
	PROGRAM_PLAIN = 0,	/* of the mutex of a wait or meet */
	PROGRAM_PI,
	PROGRAM_ITSELF = 0,	/* of what changes threads */
	PROGRAM_OTHERS,
};

/* program_op.indexed: `ref`, or `other`, is the number of a struct program_index. */
#define PROGRAM_REF_INDEXED	1
#define PROGRAM_OTHER_INDEXED	2

/**
 * struct program_op - one operation
 * @code:	enum program_op_code
 * @drawn:	enum program_drawn: how @a, @b and @other (PPM) make a time
 * @how:	enum program_how
 * @indexed:	PROGRAM_*_INDEXED
 * @line:	where it stands
 * @ref:	number of an object, a group, the group's mark, a policy's name, or
 *		the first of CPUs; OP_LOOP, OP_AGAIN, ...: the other one's place in program.ops
 * @other:	the second object; PPM; count of CPUs; OP_RESUME: unused without an index
 * @a:		the number, nice value (as an int), or priority; OP_CGROUP_POLICY: a policy's name
 * @b:		of times; enum program_policy_kind
 */
struct program_op {
	unsigned char	code;
	unsigned char	drawn;
	unsigned char	how;
	unsigned char	indexed;
	unsigned int	line;
	unsigned int	ref;
	unsigned int	other;
	sim_u64		a;
	sim_u64		b;
};

/* A latency that a group's threads measure; @ends: some operation of the group ends it. */
struct program_mark {
	unsigned int	name;		/* in program.marks */
	_Bool		ends;
};

/**
 * struct program_group - threads that run one program
 * @name:	as declared
 * @line:	of the declaration
 * @instances:	threads that begin by themselves
 * @start:	when they do
 * @policy:	of these, and of children if they do not inherit
 * @nice:	likewise
 * @cpus:	likewise
 * @inherit:	children keep what their parent has
 * @reset:	SCHED_RESET_ON_FORK
 * @indexed:	somebody looks for single threads of it
 * @ops:	place of its first operation in program.ops; OP_END is the last
 * @nr_ops:	with OP_END; 0: none read yet
 * @depth:	how deep its loops are nested at most
 * @first_mark:	of its marks in program.group_marks
 * @nr_marks:	how many it has
 */
struct program_group {
	char			name[PROGRAM_NAME_SIZE];
	unsigned int		line;
	unsigned int		instances;
	sim_u64			start;
	struct program_policy	policy;
	int			nice;
	struct program_cpus	cpus;
	_Bool			inherit, reset, indexed;
	unsigned int		ops;
	unsigned int		nr_ops;
	unsigned int		depth;
	unsigned int		first_mark;
	unsigned int		nr_marks;
};

struct program {
	const char		*file;		/* for messages */
	struct program_group	*groups;
	struct program_array	*arrays;
	struct program_op	*ops;
	struct program_index	*indexes;
	struct program_range	*ranges;
	struct program_mark	*group_marks;
	char			(*marks)[PROGRAM_NAME_SIZE];
	char			(*policies)[PROGRAM_NAME_SIZE];
	unsigned int		nr_groups, nr_arrays, nr_ops, nr_indexes, nr_ranges;
	unsigned int		nr_group_marks, nr_marks, nr_policies;
	unsigned int		nr_objects[PROGRAM_NR_KINDS];
	unsigned int		nr_instances;
};

/* It unlocks a mutex, its second operand, and sleeps. */
static inline _Bool program_waits(const struct program_op *op)
{
	return op->code == OP_WAIT || op->code == OP_MEET;
}

/*
 * Read @size bytes of @text. What is wrong in there is sim_bad_input() with @file and the line:
 * the call does not return then.
 */
const struct program *program_read(const char *file, const char *text, unsigned long size);
void program_free(const struct program *program);

#endif /* _SIM_PROGRAM_H */
