// SPDX-License-Identifier: GPL-2.0
/*
 * Reads workloads: lines, and what is declared. program_ops.c reads the operations,
 * program_words.c their words. src/saakm/workload/program_text.py defines the form.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "program_reader.h"

void reader_refuse(const struct reader *r, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	sim_bad_input(r->program->file, r->line, "%s", text);
}

void *reader_grow(void *array, unsigned int count, unsigned int *room, size_t size)
{
	if (count < *room)
		return array;
	*room = *room ? 2 * *room : 16;
	array = realloc(array, *room * size);
	if (!array)
		sim_out_of_memory();
	return array;
}

/* ---- declarations ---- */

static const struct declaration {
	const char		*name;
	enum program_kind	kind;
	const char		*usage;
	unsigned int		words;
	/* of the last word, if there is a third one */
	const char		*size;
	sim_u64			least, most;
} declarations[] = {
	{ "mutex", PROGRAM_MUTEX, "NAME COUNT", 3 },
	{ "cond", PROGRAM_COND, "NAME COUNT", 3 },
	{ "barrier", PROGRAM_BARRIER, "NAME COUNT PARTIES", 4, "PARTIES", 1, READER_MILLION },
	{ "semaphore", PROGRAM_SEMAPHORE, "NAME COUNT INITIAL", 4, "INITIAL", 0, 1000000000 },
	{ "pipe", PROGRAM_PIPE, "NAME COUNT CAPACITY", 4, "CAPACITY", 1, READER_MILLION },
	{ "timer", PROGRAM_TIMER, "NAME COUNT", 3 },
	{ "pimutex", PROGRAM_PIMUTEX, "NAME COUNT", 3 },
	{ "cgroup", PROGRAM_CGROUP, "NAME COUNT WEIGHT PARENT", 5, "WEIGHT", 1, 10000 },
};

/* `root`, or what has been declared. */
static void parse_parent(struct reader *r, const char *word, struct program_array *array)
{
	const struct program_array *above;
	int number;

	if (!strcmp(array->name, READER_ROOT))
		reader_refuse(r, "'%s' is the cgroup that is there", READER_ROOT);
	array->parents = 1;
	if (!strcmp(word, READER_ROOT))
		return;
	number = reader_find(r, SPACE_OBJECT, word);
	above = number < 0 ? NULL : &r->program->arrays[number];
	if (!above || above->kind != PROGRAM_CGROUP)
		reader_refuse(r, "there is no cgroup %s above", reader_quoted(word));
	array->parent = above->first;
	array->parents = above->count;
}

static void declare_array(struct reader *r, const struct declaration *kind)
{
	struct program *program = r->program;
	struct program_array *array;

	if (r->nr_words != kind->words)
		reader_refuse(r, "'%s' takes %s", kind->name, kind->usage);
	array = READER_ADD(r, arrays);
	*array = (struct program_array){ .kind = kind->kind, .line = r->line };
	reader_name(r, r->words[1], array->name);
	array->first = program->nr_objects[kind->kind];
	array->count = (unsigned int)reader_number(r, "COUNT", r->words[2], 1, READER_MILLION);
	if (kind->size)
		array->size = (unsigned int)reader_number(r, kind->size, r->words[3], kind->least,
							  kind->most);
	r->objects += array->count;
	if (r->objects > READER_MAX_OBJECTS)
		reader_refuse(r, "more than %d objects in all", READER_MAX_OBJECTS);
	if (kind->kind == PROGRAM_PIPE)
		r->messages += (sim_u64)array->count * array->size;
	if (r->messages > READER_MAX_MESSAGES)
		reader_refuse(r, "all pipes together hold more than %d messages",
			      READER_MAX_MESSAGES);
	if (kind->kind == PROGRAM_CGROUP)
		parse_parent(r, r->words[4], array);
	program->nr_objects[kind->kind] += array->count;
	reader_declare(r, SPACE_OBJECT, program->nr_arrays - 1);
}

static void declare_mark(struct reader *r)
{
	if (r->nr_words != 2)
		reader_refuse(r, "'mark' takes NAME");
	if (r->program->nr_marks == READER_MAX_MARKS)
		reader_refuse(r, "more than %d marks", READER_MAX_MARKS);
	reader_name(r, r->words[1], *READER_ADD(r, marks));
	reader_declare(r, SPACE_MARK, r->program->nr_marks - 1);
}

static void parse_flags(const struct reader *r, char *word, struct program_group *group)
{
	char *next = word;

	if (!strcmp(word, "none"))
		return;
	while (next) {
		bool *flag;

		word = next;
		next = strchr(word, ',');
		if (next)
			*next++ = '\0';
		flag = !strcmp(word, "inherit") ? &group->inherit :
		       !strcmp(word, "reset") ? &group->reset : NULL;
		if (!flag)
			reader_refuse(r, "%s is no flag: those are 'inherit' and 'reset', or "
				      "'none'", reader_quoted(word));
		if (*flag)
			reader_refuse(r, "the flag '%s' is there twice", word);
		*flag = true;
	}
}

static void declare_group(struct reader *r)
{
	struct program *program = r->program;
	struct program_group *group;

	if (r->nr_words != 8)
		reader_refuse(r, "'group' takes NAME INSTANCES START POLICY NICE CPUS FLAGS");
	if (program->nr_groups == READER_MAX_GROUPS)
		reader_refuse(r, "more than %d groups", READER_MAX_GROUPS);
	group = READER_ADD(r, groups);
	*group = (struct program_group){ .line = r->line };
	reader_name(r, r->words[1], group->name);
	group->instances = (unsigned int)reader_number(r, "INSTANCES", r->words[2], 0,
						       READER_MAX_INSTANCES);
	group->start = reader_number(r, "START", r->words[3], 0, READER_MAX_TIME);
	group->policy = reader_policy(r, r->words[4], POLICIES_OF_THREADS);
	group->nice = reader_nice(r, r->words[5]);
	group->cpus = reader_cpus(r, r->words[6]);
	parse_flags(r, r->words[7], group);
	program->nr_instances += group->instances;
	if (program->nr_instances > READER_MAX_INSTANCES)
		reader_refuse(r, "more than %d instances in all", READER_MAX_INSTANCES);
	reader_declare(r, SPACE_GROUP, program->nr_groups - 1);
}

static void begin_program(struct reader *r)
{
	struct program *program = r->program;
	int number;

	if (r->nr_words != 2)
		reader_refuse(r, "'program' takes GROUP");
	number = reader_find(r, SPACE_GROUP, r->words[1]);
	if (number < 0)
		reader_refuse(r, "there is no group %s", reader_quoted(r->words[1]));
	r->group = &program->groups[number];
	if (r->group->nr_ops)
		reader_refuse(r, "a second program of group '%s'", r->group->name);
	r->programs = true;
	r->group->ops = program->nr_ops;
	r->group->first_mark = program->nr_group_marks;
	memset(r->slots, 0, sizeof(r->slots));
}

/* ---- lines ---- */

static void outside_line(struct reader *r)
{
	const char *word = r->words[0];
	const struct declaration *kind = NULL;
	size_t i;

	if (!strcmp(word, "program"))
		return begin_program(r);
	if (!strcmp(word, "end"))
		reader_refuse(r, "an 'end' of nothing");
	for (i = 0; i < sizeof(declarations) / sizeof(*declarations); i++)
		if (!strcmp(word, declarations[i].name))
			kind = &declarations[i];
	if (!kind && strcmp(word, "mark") && strcmp(word, "group"))
		reader_refuse(r, "%s is no declaration", reader_quoted(word));
	if (r->programs)
		reader_refuse(r, "a declaration after the first program");
	if (kind)
		declare_array(r, kind);
	else if (!strcmp(word, "mark"))
		declare_mark(r);
	else
		declare_group(r);
}

static void cut_words(struct reader *r)
{
	char *at = strtok(r->text, " \t");

	for (r->nr_words = 0; at && r->nr_words < READER_WORDS; at = strtok(NULL, " \t"))
		r->words[r->nr_words++] = at;
}

static void read_line(struct reader *r, const char *line, size_t length, bool *begun)
{
	const char *comment;

	if (length > READER_LINE)
		reader_refuse(r, "a line of more than %d bytes", READER_LINE);
	if (memchr(line, '\0', length))
		reader_refuse(r, "a NUL byte: this is no text");
	comment = memchr(line, '#', length);
	if (comment)
		length = (size_t)(comment - line);
	memcpy(r->text, line, length);
	r->text[length] = '\0';
	cut_words(r);
	if (!r->nr_words)
		return;
	if (*begun) {
		if (r->group)
			reader_op(r);
		else
			outside_line(r);
		return;
	}
	if (r->nr_words != 2 || strcmp(r->words[0], "saakm-program"))
		reader_refuse(r, "a workload begins with 'saakm-program 1'");
	if (strcmp(r->words[1], "1"))
		reader_refuse(r, "version %s: this reads version 1", reader_quoted(r->words[1]));
	*begun = true;
}

static void check_whole(struct reader *r, bool begun)
{
	struct program *program = r->program;
	unsigned int i;

	if (!begun)
		reader_refuse(r, "a workload begins with 'saakm-program 1', and this has no line");
	if (r->group)
		reader_refuse(r, "the program of group '%s' has no 'end'%s", r->group->name,
			      r->nr_loops ? ", nor has a loop of it" : "");
	if (!program->nr_groups)
		reader_refuse(r, "there is no group");
	for (i = 0; i < program->nr_groups; i++) {
		r->line = program->groups[i].line;
		if (!program->groups[i].nr_ops)
			reader_refuse(r, "group '%s' has no program", program->groups[i].name);
	}
	if (!program->nr_instances)
		reader_refuse(r, "no group has an instance: nothing would run");
}

const struct program *program_read(const char *file, const char *text, unsigned long size)
{
	struct reader *r = sim_alloc(sizeof(*r));
	const char *end = text + size, *next;
	struct program *program = sim_alloc(sizeof(*program));
	bool begun = false;

	r->program = program;
	program->file = file;
	program->nr_objects[PROGRAM_CGROUP] = 1;
	for (; text < end; text = next + 1) {
		next = memchr(text, '\n', (size_t)(end - text));
		if (!next)
			next = end;
		r->line++;
		read_line(r, text, (size_t)(next - text), &begun);
	}
	check_whole(r, begun);
	sim_free(r->names);
	sim_free(r);
	return program;
}

void program_free(const struct program *program)
{
	free(program->groups);
	free(program->arrays);
	free(program->ops);
	free(program->indexes);
	free(program->ranges);
	free(program->group_marks);
	free(program->marks);
	free(program->policies);
	sim_free((void *)program);
}
