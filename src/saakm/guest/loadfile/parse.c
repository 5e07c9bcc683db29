// SPDX-License-Identifier: GPL-2.0
/* Reads a loadfile: an operation a line, its arguments, and the status that the server had answered. */
#define _GNU_SOURCE
#include "loadfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WORDS	8
#define OK		"NT_STATUS_OK"

/*
 * Arguments, a letter each: p path, t new path, h handle, o options, d disposition, f offset,
 * s size, and - for one that the file system is not asked about.
 */
static const struct syntax {
	const char *name;
	enum kind kind;
	const char *arguments;
} syntaxes[] = {
	{ "Close", CLOSE, "h" },
	{ "Deltree", DELTREE, "p" },
	{ "FIND_FIRST", FIND, "p---" },
	{ "Flush", FLUSH, "h" },
	{ "LockX", LOCK, "hfs" },
	{ "Mkdir", MKDIR, "p" },
	{ "NTCreateX", OPEN, "podh" },
	{ "QUERY_FILE_INFORMATION", STAT_FILE, "h-" },
	{ "QUERY_FS_INFORMATION", STAT_FS, "-" },
	{ "QUERY_PATH_INFORMATION", STAT_PATH, "p-" },
	{ "ReadX", READ, "hfs-" },
	{ "Rename", RENAME, "pt" },
	{ "SET_FILE_INFORMATION", SET_FILE, "h-" },
	{ "Unlink", UNLINK, "p-" },
	{ "UnlockX", UNLOCK, "hfs" },
	{ "WriteX", WRITE, "hfs-" },
};

struct place {
	const char *file;
	unsigned int line;
};

#define refuse_at(place, format, ...) \
	refuse("%s, line %u: " format, (place)->file, (place)->line, ##__VA_ARGS__)

/* Words are separated by blanks; quotation marks hold one with blanks together, and are dropped. */
static int split(char *line, char **words, const struct place *place)
{
	int count = 0;

	for (char *at = line; *(at += strspn(at, " \t\r"));) {
		char *end;

		if (count == MOST_WORDS)
			refuse_at(place, "it has more words than any operation");
		if (*at == '"') {
			end = strchr(++at, '"');
			if (!end)
				refuse_at(place, "a quotation mark has no second one");
		} else {
			end = at + strcspn(at, " \t\r");
		}
		words[count++] = at;
		at = *end ? end + 1 : end;
		*end = 0;
	}
	return count;
}

static long number(const char *word, long least, long most, const struct place *place)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(word, &end, 0);
	if (errno || end == word || *end || value < least || value > most)
		refuse_at(place, "'%s' is no number from %ld to %ld", word, least, most);
	return value;
}

/* A name of Windows' as a relative one of ours, which does not lead out of the directory. */
static char *path(const char *word, const struct place *place)
{
	char *ours = strdup(word + strspn(word, "\\/"));

	if (!ours)
		die("no memory for the loadfile");
	for (char *at = ours; *at; at++)
		if (*at == '\\')
			*at = '/';
	/* Not the directory itself, either: Deltree would empty it. */
	if (!ours[strspn(ours, "./")] || strstr(ours, ".."))
		refuse_at(place, "'%s' is no path below the directory", word);
	return ours;
}

static void argument(struct operation *operation, char letter, const char *word,
		     const struct place *place)
{
	switch (letter) {
	case 'p':
		operation->path = path(word, place);
		break;
	case 't':
		operation->to = path(word, place);
		break;
	case 'h':
		operation->handle = number(word, 0, MOST_HANDLES - 1, place);
		break;
	case 'o':
		operation->options = number(word, 0, INT32_MAX, place);
		break;
	case 'd':
		operation->disposition = number(word, 0, 5, place);
		break;
	case 'f':
		operation->offset = number(word, 0, INT64_MAX >> 1, place);
		break;
	case 's':
		operation->size = number(word, 0, MOST_BYTES, place);
		break;
	}
}

static const struct syntax *syntax_of(const char *name, const struct place *place)
{
	for (size_t i = 0; i < sizeof(syntaxes) / sizeof(*syntaxes); i++)
		if (!strcmp(name, syntaxes[i].name))
			return &syntaxes[i];
	refuse_at(place, "'%s' is not played: client.txt of dbench 4 has no such operation", name);
}

static void parse_line(struct operation *operation, char *line, const struct place *place)
{
	char *words[MOST_WORDS];
	int count = split(line, words, place), wanted;
	const struct syntax *syntax = syntax_of(words[0], place);

	wanted = strlen(syntax->arguments);
	if (count != wanted + 2)
		refuse_at(place, "%s takes %d arguments and a status, and has %d words after it",
			  syntax->name, wanted, count - 1);
	if (strncmp(words[count - 1], "NT_STATUS_", 10))
		refuse_at(place, "'%s' is no status: they begin with NT_STATUS_", words[count - 1]);
	operation->kind = syntax->kind;
	operation->name = syntax->name;
	operation->line = place->line;
	operation->fails = strcmp(words[count - 1], OK);
	for (int i = 0; i < wanted; i++)
		argument(operation, syntax->arguments[i], words[i + 1], place);
}

static struct operation *next(struct load *load)
{
	/* Powers of two: the array grows when it is full. */
	if (!(load->count & (load->count - 1))) {
		size_t room = load->count ? 2 * load->count : 1;

		load->operations = realloc(load->operations, room * sizeof(*load->operations));
		if (!load->operations)
			die("no memory for the loadfile");
	}
	return memset(&load->operations[load->count++], 0, sizeof(*load->operations));
}

void load_parse(struct load *load, const char *file)
{
	FILE *stream = fopen(file, "r");
	struct place place = { .file = file };
	char *line = NULL;
	size_t room = 0;

	load->file = file;
	if (!stream)
		refuse("%s cannot be read: %s", file, strerror(errno));
	while (getline(&line, &room, stream) >= 0) {
		struct operation *operation;

		place.line++;
		line[strcspn(line, "\n")] = 0;
		/* Empty lines, and comments. */
		if (!line[strspn(line, " \t\r")] || line[0] == '#')
			continue;
		operation = next(load);
		parse_line(operation, line, &place);
		if (operation->size > load->most)
			load->most = operation->size;
	}
	if (ferror(stream))
		refuse("%s cannot be read", file);
	if (!load->count)
		refuse("%s has no operation", file);
	free(line);
	fclose(stream);
}
