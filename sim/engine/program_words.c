// SPDX-License-Identifier: GPL-2.0
/* The words of a workload: numbers, times, policies, CPUs, indexes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program_reader.h"

const char *reader_quoted(const char *word)
{
	static char buffers[4][48];
	static unsigned int turn;
	char *to = buffers[turn++ % 4], *at = to;
	int i;

	*at++ = '\'';
	for (i = 0; i < 40 && word[i]; i++)
		*at++ = word[i] >= ' ' && word[i] <= '~' ? word[i] : '?';
	strcpy(at, word[i] ? "...'" : "'");
	return to;
}

/* Digits only, of which @length; false: it is none, or too long to be one. */
static bool parse_number(const char *word, sim_u64 *value)
{
	size_t i;

	*value = 0;
	for (i = 0; word[i] >= '0' && word[i] <= '9'; i++) {
		sim_u64 next = *value * 10 + (sim_u64)(word[i] - '0');

		/* Beyond all limits, which are far below: it need not be exact. */
		if (*value > ~0ULL / 10 - 1)
			next = ~0ULL / 10;
		*value = next;
	}
	return i && i <= 20 && !word[i];
}

sim_u64 reader_number(const struct reader *r, const char *what, const char *word,
		      sim_u64 low, sim_u64 high)
{
	sim_u64 value;

	if (!parse_number(word, &value))
		reader_refuse(r, "%s is %s, which is no whole number", what, reader_quoted(word));
	if (value < low || value > high)
		reader_refuse(r, "%s is %s: it must be %llu to %llu", what, reader_quoted(word),
			      low, high);
	return value;
}

int reader_nice(const struct reader *r, const char *word)
{
	sim_u64 value;
	bool minus = *word == '-';

	if (!parse_number(word + minus, &value) || value > 20 || (value == 20 && !minus))
		reader_refuse(r, "the nice value is %s: it must be -20 to 19", reader_quoted(word));
	return minus ? -(int)value : (int)value;
}

/* Cuts @word at the colons; the parts, of which there are at most @max, or more than that. */
static unsigned int cut(char *word, char separator, char **parts, unsigned int max)
{
	unsigned int count = 0;

	do {
		if (count < max)
			parts[count] = word;
		count++;
		word = strchr(word, separator);
		if (word)
			*word++ = '\0';
	} while (word);
	return count;
}

static const struct {
	const char	*name;
	unsigned int	numbers;
} drawn_times[] = {
	[PROGRAM_UNIFORM] = { "uniform", 2 },
	[PROGRAM_EXPONENTIAL] = { "exponential", 1 },
	[PROGRAM_BIMODAL] = { "bimodal", 3 },
};

static void drawn_time(const struct reader *r, const char *word, struct program_op *op)
{
	char copy[READER_LINE + 1], *parts[4] = { };
	unsigned int kind, count;

	strcpy(copy, word);
	count = cut(copy, ':', parts, 4) - 1;
	for (kind = PROGRAM_UNIFORM; kind <= PROGRAM_BIMODAL; kind++)
		if (!strcmp(parts[0], drawn_times[kind].name) && drawn_times[kind].numbers == count)
			break;
	if (kind > PROGRAM_BIMODAL)
		reader_refuse(r, "the time is %s: it must be N, uniform:LOW:HIGH, exponential:MEAN "
			      "or bimodal:A:B:PPM", reader_quoted(word));
	op->drawn = (unsigned char)kind;
	op->a = reader_number(r, "the time", parts[1], 0, READER_MAX_TIME);
	if (count > 1)
		op->b = reader_number(r, "the time", parts[2], 0, READER_MAX_TIME);
	if (count > 2)
		op->other = (unsigned int)reader_number(r, "PPM", parts[3], 0, READER_MILLION);
	if (kind == PROGRAM_UNIFORM && op->a > op->b)
		reader_refuse(r, "the time is %s, whose lowest is above its highest",
			      reader_quoted(word));
}

void reader_time(const struct reader *r, const char *word, struct program_op *op)
{
	if (strchr(word, ':'))
		drawn_time(r, word, op);
	else
		op->a = reader_number(r, "the time", word, 0, READER_MAX_TIME);
}

static unsigned int policy_name(struct reader *r, const char *word)
{
	char name[PROGRAM_NAME_SIZE];
	int number;

	reader_name(r, word, name);
	number = reader_find(r, SPACE_POLICY, name);
	if (number >= 0)
		return (unsigned int)number;
	strcpy(*READER_ADD(r, policies), name);
	reader_declare(r, SPACE_POLICY, r->program->nr_policies - 1);
	return r->program->nr_policies - 1;
}

static bool is_plain_policy(const char *word, enum reader_policies which, unsigned char *kind)
{
	static const struct {
		const char	*name;
		unsigned char	kind;
		unsigned int	of;	/* a bit for each enum reader_policies */
	} plain[] = {
		{ "main", PROGRAM_MAIN, 15 }, { "any", PROGRAM_ANY, 14 },
		{ "none", PROGRAM_NONE, 8 }, { "fair", PROGRAM_FAIR, 3 },
		{ "batch", PROGRAM_BATCH, 3 }, { "idle", PROGRAM_IDLE, 3 },
	};
	size_t i;

	for (i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		if (!strcmp(word, plain[i].name) && plain[i].of >> which & 1) {
			*kind = plain[i].kind;
			return true;
		}
	return false;
}

struct program_policy reader_policy(struct reader *r, char *word, enum reader_policies which)
{
	static const char * const usages[] = {
		[POLICIES_OF_THREADS] = "main, saakm:NAME, fair, batch, idle, rt:N and rr:N",
		[POLICIES_TO_SET] = "main, saakm:NAME, any, fair, batch, idle, rt:N and rr:N",
		[POLICIES_LOADED] = "main, saakm:NAME and any",
		[POLICIES_OF_CGROUPS] = "main, saakm:NAME, any and none",
	};
	struct program_policy policy = { };

	if (is_plain_policy(word, which, &policy.kind))
		return policy;
	if (!strncmp(word, "saakm:", 6)) {
		policy.kind = PROGRAM_SAAKM;
		policy.name = policy_name(r, word + 6);
		return policy;
	}
	if (which > POLICIES_TO_SET || (strncmp(word, "rt:", 3) && strncmp(word, "rr:", 3)))
		reader_refuse(r, "%s is no policy: those are %s", reader_quoted(word),
			      usages[which]);
	policy.kind = word[1] == 't' ? PROGRAM_FIFO : PROGRAM_RR;
	policy.priority = (unsigned char)reader_number(r, "the priority", word + 3, 1, 99);
	return policy;
}

struct program_cpus reader_cpus(struct reader *r, char *word)
{
	struct program_cpus cpus = { .first = r->program->nr_ranges };
	char *next = word, *last;
	sim_u64 low, high, least = 0;

	if (!strcmp(word, "all"))
		return cpus;
	while (next) {
		struct program_range *range;

		word = next;
		next = strchr(word, ',');
		if (next)
			*next++ = '\0';
		last = strchr(word, '-');
		if (last)
			*last++ = '\0';
		low = reader_number(r, "a CPU", word, 0, READER_MAX_CPU - 1);
		high = last ? reader_number(r, "a CPU", last, 0, READER_MAX_CPU - 1) : low;
		if (low < least || high < low)
			reader_refuse(r, "the CPUs do not rise, as in 0,2-5, at %s",
				      reader_quoted(word));
		least = high + 1;
		range = READER_ADD(r, ranges);
		range->first = (unsigned short)low;
		range->last = (unsigned short)high;
		cpus.count++;
	}
	return cpus;
}

char *reader_cut_index(const struct reader *r, char *word)
{
	char *open = strchr(word, '['), *close = strchr(word, ']');

	if (!open && !close)
		return NULL;
	if (!open || !close || close < open || close[1] || strchr(open + 1, '['))
		reader_refuse(r, "%s is neither NAME nor NAME[TERM+TERM...]", reader_quoted(word));
	*open = *close = '\0';
	return open + 1;
}

static void index_factors(const struct reader *r, const char *term, const char *rest,
			  unsigned int *divide, unsigned int *times)
{
	char copy[READER_LINE + 1], *star;

	*divide = *times = 1;
	strcpy(copy, rest);
	star = strchr(copy, '*');
	if (star) {
		*star++ = '\0';
		*times = (unsigned int)reader_number(r, "a factor", star, 1, READER_MILLION);
	}
	if (!*copy)
		return;
	if (*copy != '/')
		reader_refuse(r, "%s is no term of an index: those are N, self/D*M, loop/D*M "
			      "and pick/D*M", reader_quoted(term));
	*divide = (unsigned int)reader_number(r, "a divisor", copy + 1, 1, READER_MILLION);
}

static void index_term(const struct reader *r, const char *term, struct program_index *index)
{
	static const char * const bases[] = { "self", "loop", "pick" };
	int base;

	for (base = 0; base < PROGRAM_NR_BASES; base++)
		if (!strncmp(term, bases[base], 4))
			break;
	if (base == PROGRAM_NR_BASES) {
		sim_u64 number;

		if (!parse_number(term, &number))
			reader_refuse(r, "%s is no term of an index: those are N, self/D*M, "
				      "loop/D*M and pick/D*M", reader_quoted(term));
		index->number += reader_number(r, "an index", term, 0, READER_MILLION);
		return;
	}
	if (index->times[base])
		reader_refuse(r, "an index uses '%s' twice", bases[base]);
	index_factors(r, term, term + 4, &index->divide[base], &index->times[base]);
}

unsigned int reader_index(struct reader *r, char *terms, unsigned int first, unsigned int count,
			  bool *indexed)
{
	struct program_index index = { .first = first, .count = count, .divide = { 1, 1, 1 } };
	char *next = terms;

	while (next) {
		terms = next;
		next = strchr(terms, '+');
		if (next)
			*next++ = '\0';
		index_term(r, terms, &index);
	}
	*indexed = true;
	/* An array of one, or numbers only: always the same object. Threads come and go. */
	if (count && (count == 1 || !(index.times[0] | index.times[1] | index.times[2]))) {
		*indexed = false;
		return first + (unsigned int)(index.number % count);
	}
	*READER_ADD(r, indexes) = index;
	return r->program->nr_indexes - 1;
}
