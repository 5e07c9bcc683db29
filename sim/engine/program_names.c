// SPDX-License-Identifier: GPL-2.0
/* Names of a workload: which are some, and a table of those that have been declared. */
#include <stdlib.h>
#include <string.h>

#include "program_reader.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name_char(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

static bool is_name(const char *word)
{
	size_t length = strlen(word);

	if (!is_letter(*word) || length >= PROGRAM_NAME_SIZE)
		return false;
	while (*word && is_name_char(*word))
		word++;
	return !*word;
}

void reader_name(const struct reader *r, const char *word, char *to)
{
	if (!is_name(word))
		reader_refuse(r, "%s is no name: 1 to 31 of A-Z a-z 0-9 _ . -, a letter first",
			      reader_quoted(word));
	strcpy(to, word);
}

static const char *name_of(const struct reader *r, const struct reader_name *one)
{
	switch (one->space) {
	case SPACE_OBJECT:
		return r->program->arrays[one->number].name;
	case SPACE_GROUP:
		return r->program->groups[one->number].name;
	case SPACE_POLICY:
		return r->program->policies[one->number];
	default:
		return r->program->marks[one->number];
	}
}

static unsigned int hash(enum reader_space space, const char *name)
{
	unsigned int value = 2166136261U ^ space;

	for (; *name; name++)
		value = (value ^ (unsigned char)*name) * 16777619U;
	return value ^ value >> 15;
}

/* The place of the name, or the empty one where it would be. */
static struct reader_name *find_place(struct reader *r, enum reader_space space, const char *name)
{
	unsigned int at = hash(space, name);

	for (;; at++) {
		struct reader_name *one = &r->names[at & (r->names_size - 1)];

		if (!one->used || (one->space == space && !strcmp(name_of(r, one), name)))
			return one;
	}
}

static void grow_table(struct reader *r)
{
	struct reader_name *old = r->names;
	unsigned int i, size = r->names_size;

	r->names_size = size ? 2 * size : 64;
	r->names = sim_alloc(r->names_size * sizeof(*r->names));
	for (i = 0; i < size; i++)
		if (old[i].used)
			*find_place(r, old[i].space, name_of(r, &old[i])) = old[i];
	sim_free(old);
}

int reader_find(struct reader *r, enum reader_space space, const char *name)
{
	const struct reader_name *one;

	if (!r->names_size)
		return -1;
	one = find_place(r, space, name);
	return one->used ? (int)one->number : -1;
}

void reader_declare(struct reader *r, enum reader_space space, unsigned int number)
{
	struct reader_name new = { 1, space, number }, *place;
	const char *name = name_of(r, &new);

	if (r->nr_names >= r->names_size / 2)
		grow_table(r);
	place = find_place(r, space, name);
	if (place->used)
		reader_refuse(r, "%s is declared twice", reader_quoted(name));
	*place = new;
	r->nr_names++;
}
