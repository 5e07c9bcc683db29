// SPDX-License-Identifier: GPL-2.0
/*
 * The table of costs: lines `NAME INSTRUCTIONS`, and `rate N`, instructions that a CPU executes in
 * a thousandth of a ns (1000 without that line: one in a ns). `#` begins a comment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "result.h"

#define MAX_COST	1000000000ULL	/* instructions: far beyond what anything takes */
#define MAX_RATE	1000000ULL
#define LINE_SIZE	256

struct costs {
	const char		*path;
	unsigned int		line;
	const char * const	*names;
	sim_u64			*ns;		/* instructions at first */
	unsigned int		*lines;		/* where each is named; 0: not yet */
	unsigned int		count;
	sim_u64			rate;
	unsigned int		rate_line;
};

static sim_u64 number(const struct costs *costs, const char *word, sim_u64 least, sim_u64 most)
{
	size_t digits = strspn(word, "0123456789");
	sim_u64 value = digits && digits < 16 && !word[digits] ? strtoull(word, NULL, 10) : 0;

	if (!digits || digits > 15 || word[digits] || value < least || value > most)
		sim_bad_input(costs->path, costs->line,
			      "the number is '%.40s': it must be %llu to %llu", word, least, most);
	return value;
}

static void set(const struct costs *costs, unsigned int *line, sim_u64 *to, sim_u64 value,
		const char *name)
{
	if (*line)
		sim_bad_input(costs->path, costs->line, "'%s' was in line %u already", name, *line);
	*line = costs->line;
	*to = value;
}

static void read_line(struct costs *costs, char *line)
{
	char *name = strtok(line, " \t"), *value = strtok(NULL, " \t");
	unsigned int i;

	if (!name)
		return;
	if (!value || strtok(NULL, " \t"))
		sim_bad_input(costs->path, costs->line, "a line is NAME INSTRUCTIONS, or rate N");
	if (!strcmp(name, "rate")) {
		set(costs, &costs->rate_line, &costs->rate, number(costs, value, 1, MAX_RATE),
		    name);
		return;
	}
	for (i = 0; i < costs->count; i++)
		if (!strcmp(name, costs->names[i])) {
			set(costs, &costs->lines[i], &costs->ns[i],
			    number(costs, value, 0, MAX_COST), name);
			return;
		}
	sim_bad_input(costs->path, costs->line, "'%.40s' is nothing that has a cost", name);
}

static void read_text(struct costs *costs, const char *text, const char *end)
{
	char line[LINE_SIZE];

	while (text < end) {
		const char *next = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((next ? next : end) - text);

		costs->line++;
		if (length >= LINE_SIZE || memchr(text, '\0', length))
			sim_bad_input(costs->path, costs->line,
				      "this is no line of a table of costs");
		memcpy(line, text, length);
		line[length] = '\0';
		line[strcspn(line, "#")] = '\0';
		read_line(costs, line);
		text += length + 1;
	}
}

void sim_costs_read(const char *path, const char * const *names, sim_u64 *ns, unsigned int count)
{
	struct costs costs = {
		.path = path, .names = names, .ns = ns, .count = count, .rate = 1000,
	};
	unsigned long size;
	char *text = sim_read_file(path, &size);
	unsigned int i;

	if (!text)
		sim_bad_input(path, 0, "the table of costs cannot be read");
	costs.lines = sim_alloc(count * sizeof(*costs.lines));
	memset(ns, 0, count * sizeof(*ns));
	read_text(&costs, text, text + size);
	for (i = 0; i < count && !costs.lines[i]; i++)
		;
	if (i == count)
		sim_bad_input(path, 0, "it names no cost; if nothing shall have one: free");
	for (i = 0; i < count; i++)
		ns[i] = ns[i] * 1000 / costs.rate;
	sim_free(costs.lines);
	sim_free(text);
}
