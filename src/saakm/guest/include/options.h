/* SPDX-License-Identifier: GPL-2.0 */
/* The command line of a program that measures: a table of options, each with a value. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAD_INPUT	2

struct parameter {
	struct option option;
	long *value;
	long least, most;
	const char *help;
	const char **text;	/* it takes any text, and no number, if this is not NULL */
};

struct command_line {
	const char *program;
	const struct parameter *parameters;
	int count;
};

static void options_usage(const struct command_line *line, FILE *out)
{
	fprintf(out, "usage: %s [--OPTION VALUE]...\n", line->program);
	for (int i = 0; i < line->count; i++) {
		const struct parameter *parameter = &line->parameters[i];

		fprintf(out, "  -%c, --%-10s  %s", parameter->option.val, parameter->option.name,
			parameter->help);
		if (parameter->value)
			fprintf(out, " (%ld)", *parameter->value);
		fputc('\n', out);
	}
}

static void options_set(const struct command_line *line, const struct parameter *parameter,
			const char *text)
{
	char *end;
	long value;

	if (parameter->text) {
		*parameter->text = text;
		return;
	}
	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < parameter->least || value > parameter->most) {
		fprintf(stderr, "%s: --%s %s: it takes a whole number from %ld to %ld\n",
			line->program, parameter->option.name, text, parameter->least,
			parameter->most);
		exit(BAD_INPUT);
	}
	*parameter->value = value;
}

/* Does not return if the command line is wrong, or asks for help. */
static void options_parse(const struct command_line *line, int argc, char **argv)
{
	struct option options[line->count + 2];
	char letters[2 * line->count + 2];
	int letter, at = 0;

	memset(options, 0, sizeof(options));
	options[line->count] = (struct option){ "help", 0, NULL, 'h' };
	for (int i = 0; i < line->count; i++) {
		options[i] = line->parameters[i].option;
		letters[at++] = line->parameters[i].option.val;
		letters[at++] = ':';
	}
	letters[at++] = 'h';
	letters[at] = 0;
	while ((letter = getopt_long(argc, argv, letters, options, NULL)) >= 0) {
		for (int i = 0; i < line->count; i++)
			if (line->parameters[i].option.val == letter)
				options_set(line, &line->parameters[i], optarg);
		if (letter == 'h' || letter == '?') {
			options_usage(line, letter == 'h' ? stdout : stderr);
			exit(letter == 'h' ? 0 : BAD_INPUT);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "%s: '%s' is no option\n", line->program, argv[optind]);
		options_usage(line, stderr);
		exit(BAD_INPUT);
	}
}

#endif /* OPTIONS_H */
