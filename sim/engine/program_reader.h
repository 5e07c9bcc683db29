/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the reader of workloads have in common: program*.c. Host side. */
#ifndef _SIM_PROGRAM_READER_H
#define _SIM_PROGRAM_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "program.h"

#define READER_LINE		1023
#define READER_WORDS		16	/* more than any line may have */

#define READER_MAX_GROUPS	4096
#define READER_MAX_MARKS	256
#define READER_MAX_OPS		1000000
#define READER_MAX_INSTANCES	1000000
#define READER_MAX_OBJECTS	4000000
#define READER_MAX_MESSAGES	16000000
#define READER_MAX_TIME		1000000000000000ULL
#define READER_MAX_CPU		4096
#define READER_MILLION		1000000
#define READER_ROOT		"root"

/* What names name. Objects share a namespace, the others have one each. */
enum reader_space {
	SPACE_OBJECT,
	SPACE_GROUP,
	SPACE_MARK,
	SPACE_POLICY,
};

struct reader_name {
	unsigned int	used;		/* 0: an empty place of the table */
	unsigned int	space;		/* enum reader_space */
	unsigned int	number;		/* in program.arrays, groups, ... */
};

/* A growing array: how many there is room for. */
struct reader_room {
	unsigned int arrays, groups, ops, indexes, ranges, group_marks, marks, policies;
};

/**
 * struct reader - a file that is being read
 * @program:	what has been read
 * @line:	number of the line
 * @words:	of it, each with a NUL
 * @nr_words:	READER_WORDS: so many or more
 * @text:	of the line, where the words are
 * @group:	whose program it is, or NULL
 * @loops:	that are open: the place of each OP_LOOP
 * @nr_loops:	how many
 * @slots:	of each mark, its place among the group's marks + 1; 0: none yet
 * @programs:	some `program` has been read
 * @room:	of the program's arrays
 * @names:	table of all names, by hash; a power of two
 * @nr_names:	in it
 * @names_size:	places
 * @objects:	declared, of all kinds
 * @messages:	capacity of all pipes
 */
struct reader {
	struct program		*program;
	unsigned int		line;
	char			*words[READER_WORDS];
	unsigned int		nr_words;
	char			text[READER_LINE + 1];
	struct program_group	*group;
	unsigned int		loops[PROGRAM_LOOPS];
	unsigned int		nr_loops;
	unsigned int		slots[READER_MAX_MARKS];
	bool			programs;
	struct reader_room	room;
	struct reader_name	*names;
	unsigned int		nr_names;
	unsigned int		names_size;
	sim_u64			objects;
	sim_u64			messages;
};

/* "FILE:LINE: message", exit status 2. */
__attribute__((noreturn, format(printf, 2, 3)))
void reader_refuse(const struct reader *r, const char *fmt, ...);

/* @word as it may stand in a message: printable, short, quoted. The fourth call overwrites it. */
const char *reader_quoted(const char *word);

/* Room for one more behind @count elements of @size bytes. */
void *reader_grow(void *array, unsigned int count, unsigned int *room, size_t size);

#define READER_ADD(r, array)						\
({									\
	struct program *__p = (r)->program;				\
									\
	__p->array = reader_grow(__p->array, __p->nr_##array, &(r)->room.array,	\
				 sizeof(*__p->array));			\
	&__p->array[__p->nr_##array++];					\
})

/* program_names.c */
/* What has just been added to the program as @number, which knows its name: refused if twice. */
void reader_declare(struct reader *r, enum reader_space space, unsigned int number);
/* Number of what is called @name, or -1. */
int reader_find(struct reader *r, enum reader_space space, const char *name);
/* @word as a name, copied to @to. */
void reader_name(const struct reader *r, const char *word, char *to);

/* Which policies a word may name. */
enum reader_policies {
	POLICIES_OF_THREADS,	/* main, saakm:NAME, fair, batch, idle, rt:N, rr:N */
	POLICIES_TO_SET,	/* these, or any */
	POLICIES_LOADED,	/* main, saakm:NAME, any */
	POLICIES_OF_CGROUPS,	/* these, or none */
};

/* program_words.c: what a word says, or a refusal that calls it @what */
sim_u64 reader_number(const struct reader *r, const char *what, const char *word,
		      sim_u64 low, sim_u64 high);
int reader_nice(const struct reader *r, const char *word);
void reader_time(const struct reader *r, const char *word, struct program_op *op);
struct program_policy reader_policy(struct reader *r, char *word, enum reader_policies which);
struct program_cpus reader_cpus(struct reader *r, char *word);
/* Cuts the index off @word: what stands between [ and ], or NULL. */
char *reader_cut_index(const struct reader *r, char *word);
/* The number of an index of program.indexes, or of the object itself if it is always the same. */
unsigned int reader_index(struct reader *r, char *terms, unsigned int first, unsigned int count,
			  bool *indexed);

/* program_ops.c: a line within `program` and its `end` */
void reader_op(struct reader *r);

#endif /* _SIM_PROGRAM_READER_H */
