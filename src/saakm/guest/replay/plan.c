// SPDX-License-Identifier: GPL-2.0
/* The plan: what Python found out about the kernel. The recording begins with it. */
#include "recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FUNCTIONS 256

struct function functions[MOST_FUNCTIONS];
unsigned int nr_functions, nr_cpus;
unsigned int stack_bits = 14;	/* 16 KiB, aligned: THREAD_SIZE and IRQ_STACK_SIZE */
char first_call[NAME_LENGTH];
bool counting;
const char *plan_text;
size_t plan_length;
uint64_t symbol_per_cpu, symbol_runqueues, symbol_hot, symbol_jiffies, symbol_irq_regs;

static const char * const kinds[NR_KINDS] = { "rq", "task", "core", "policy", "hot", "global" };

static void refuse(const char *line)
{
	fprintf(stderr, "replay: the plan cannot be read: %s\n", line);
	exit(1);
}

static void read_symbol(const char *name, uint64_t address)
{
	static const struct {
		const char *name;
		uint64_t *to;
	} known[] = {
		{ "__per_cpu_offset", &symbol_per_cpu }, { "runqueues", &symbol_runqueues },
		{ "pcpu_hot", &symbol_hot }, { "jiffies", &symbol_jiffies },
		{ "__irq_regs", &symbol_irq_regs },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(name, known[i].name))
			*known[i].to = address;
}

static void read_function(const char *line, const char *word)
{
	static unsigned int calls, effects;
	struct function *f = &functions[nr_functions];

	if (nr_functions == MOST_FUNCTIONS ||
	    sscanf(line, "%*s %63s %lx %5s %c", f->name, &f->address, f->arguments,
		   &f->returns) != 4)
		refuse(line);
	f->is_effect = strcmp(word, "call") != 0;
	f->is_opaque = !strcmp(word, "opaque");
	f->is_boundary = !strcmp(word, "boundary");
	f->is_lock = strstr(f->name, "lock") && !strstr(f->name, "unlock") &&
		     !strstr(f->name, "clock");
	f->number = f->is_effect ? effects++ : calls++;
	nr_functions++;
}

static void read_field_line(const char *line)
{
	char object[16], name[NAME_LENGTH];
	unsigned int size;
	uint64_t offset;

	if (sscanf(line, "%*s %15s %63s %*s %lu %u", object, name, &offset, &size) != 4)
		refuse(line);
	for (int kind = 0; kind < NR_KINDS; kind++)
		if (!strcmp(object, kinds[kind]))
			add_field(kind, name, offset, size);
}

/* Of a function that a line before this one was about. */
static void read_counting(const char *line, const char *word)
{
	bool is_mark = !strcmp(word, "mark");
	char name[NAME_LENGTH];

	if (sscanf(line, "%*s %63s", name) != 1)
		refuse(line);
	for (unsigned int i = 0; i < nr_functions; i++)
		if (!strcmp(functions[i].name, name)) {
			functions[i].is_mark |= is_mark;
			functions[i].is_counted |= !is_mark;
			counting |= !is_mark;
		}
}

static void read_line(const char *line)
{
	char word[16], name[NAME_LENGTH];
	uint64_t address;

	if (sscanf(line, "%15s", word) != 1)
		return;
	if (!strcmp(word, "cpus"))
		sscanf(line, "%*s %u", &nr_cpus);
	else if (!strcmp(word, "call") || !strcmp(word, "effect") || !strcmp(word, "opaque") ||
		 !strcmp(word, "boundary"))
		read_function(line, word);
	else if (!strcmp(word, "mark") || !strcmp(word, "counted"))
		read_counting(line, word);
	else if (!strcmp(word, "first"))
		sscanf(line, "%*s %63s", first_call);
	else if (!strcmp(word, "stack"))
		sscanf(line, "%*s %u", &stack_bits);
	else if (!strcmp(word, "field"))
		read_field_line(line);
	else if (!strcmp(word, "symbol") && sscanf(line, "%*s %63s %lx", name, &address) == 2)
		read_symbol(name, address);
}

void read_plan(const char *path)
{
	static char text[1 << 16];
	FILE *f = fopen(path, "r");
	char *copy, *line, *rest;

	if (!f)
		refuse(path);
	plan_length = fread(text, 1, sizeof(text) - 1, f);
	plan_text = text;
	fclose(f);
	copy = strdup(text);
	for (line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		read_line(line);
	free(copy);
	if (!nr_cpus || nr_cpus > MOST_CPUS || !symbol_runqueues || !symbol_hot)
		refuse("it lacks CPUs or symbols");
}

struct function *function_at(uint64_t address)
{
	for (unsigned int i = 0; i < nr_functions; i++)
		if (functions[i].address == address)
			return &functions[i];
	return NULL;
}
