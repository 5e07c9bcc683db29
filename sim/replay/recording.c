// SPDX-License-Identifier: GPL-2.0
/* The recording: the plan, which is text, a byte 0, and records. */
#include "replay.h"

struct replay_function *replay_calls, *replay_effects;
unsigned int replay_nr_calls, replay_nr_effects;
struct replay_field replay_fields[REPLAY_KINDS][REPLAY_MOST_FIELDS];
unsigned int replay_nr_fields[REPLAY_KINDS];
unsigned long replay_start;

#define MOST_FUNCTIONS	128

static const char *path_of_it;
static const unsigned char *bytes;
static unsigned long length;

static struct {
	u64 address;
	char name[16];
} classes[16];
static unsigned int nr_classes;

static const char * const kinds[REPLAY_KINDS] = { "rq", "task", "core", "policy", "hot", "global" };

static __noreturn void refuse(const char *why, const char *what)
{
	sim_bad_input(path_of_it, 0, "%s%s%s", why, what ? ": " : "", what ?: "");
}

/* The word at *@text, which is moved behind it. */
static void next_word(const char **text, char *word, size_t size)
{
	size_t n = 0;

	while (**text == ' ')
		(*text)++;
	for (; **text && **text != ' ' && **text != '\n'; (*text)++)
		if (n + 1 < size)
			word[n++] = **text;
	word[n] = 0;
}

static u64 next_number(const char **text, unsigned int base)
{
	char word[32];
	u64 number;

	next_word(text, word, sizeof(word));
	if (kstrtoull(word, base, &number))
		refuse("the plan has a number that is none", word);
	return number;
}

static void read_function(const char *text, struct replay_function *f)
{
	char returns[4];

	next_word(&text, f->name, sizeof(f->name));
	next_number(&text, 16);
	next_word(&text, f->arguments, sizeof(f->arguments));
	next_word(&text, returns, sizeof(returns));
	f->returns = returns[0];
}

int replay_find_field(enum replay_kind kind, const char *name)
{
	unsigned int i;

	for (i = 0; i < replay_nr_fields[kind]; i++)
		if (!strcmp(replay_fields[kind][i].name, name))
			return i;
	refuse("the plan lacks a field", name);
}

const struct replay_member *replay_member(enum replay_kind kind, const char *name);

static void read_field(const char *text)
{
	struct replay_field *f;
	char word[REPLAY_NAME];
	int kind;

	next_word(&text, word, sizeof(word));
	for (kind = 0; kind < REPLAY_KINDS && strcmp(word, kinds[kind]); kind++)
		;
	if (kind == REPLAY_KINDS || replay_nr_fields[kind] == REPLAY_MOST_FIELDS)
		refuse("the plan has a field of what is not known", word);
	f = &replay_fields[kind][replay_nr_fields[kind]++];
	next_word(&text, f->name, sizeof(f->name));
	next_word(&text, word, sizeof(word));
	f->there = next_number(&text, 10);
	f->member = replay_member(kind, f->name);
}

static void read_class(const char *text)
{
	if (nr_classes == ARRAY_SIZE(classes))
		refuse("the plan has too many classes", NULL);
	next_word(&text, classes[nr_classes].name, sizeof(classes[0].name));
	classes[nr_classes++].address = next_number(&text, 16);
}

/* Threads of sched_ext are none of ours: as fair ones. */
const struct sched_class *replay_class(u64 address)
{
	static const struct {
		const char *name;
		const struct sched_class *class;
	} known[] = {
		{ "stop", &stop_sched_class }, { "dl", &dl_sched_class }, { "rt", &rt_sched_class },
		{ "fair", &fair_sched_class }, { "ext", &fair_sched_class },
		{ "saakm", &saakm_sched_class }, { "idle", &idle_sched_class },
	};
	unsigned int i, j;

	for (i = 0; i < nr_classes; i++)
		for (j = 0; j < ARRAY_SIZE(known) && classes[i].address == address; j++)
			if (!strcmp(classes[i].name, known[j].name))
				return known[j].class;
	return &fair_sched_class;
}

static void read_line(const char *text)
{
	char word[16];
	unsigned int cpus;

	next_word(&text, word, sizeof(word));
	if (!strcmp(word, "call")) {
		read_function(text, &replay_calls[replay_nr_calls]);
		replay_calls[replay_nr_calls].call =
			replay_find_call(replay_calls[replay_nr_calls].name);
		replay_nr_calls++;
	} else if (!strcmp(word, "effect") || !strcmp(word, "opaque")) {
		read_function(text, &replay_effects[replay_nr_effects++]);
	} else if (!strcmp(word, "field")) {
		read_field(text);
	} else if (!strcmp(word, "class")) {
		read_class(text);
	} else if (!strcmp(word, "cpus")) {
		cpus = next_number(&text, 10);
		if (cpus != nr_cpu_ids)
			sim_bad_input(path_of_it, 0, "it is of %u CPUs: cpus=%u", cpus, cpus);
	}
	if (replay_nr_calls == MOST_FUNCTIONS || replay_nr_effects == MOST_FUNCTIONS)
		refuse("the plan has too many functions", NULL);
}

void replay_open(const char *path)
{
	const char *line;

	path_of_it = path;
	bytes = (void *)sim_read_file(path, &length);
	if (!bytes)
		refuse("it cannot be read", NULL);
	replay_start = strlen((const char *)bytes) + 1;
	if (replay_start >= length)
		refuse("it has no records", NULL);
	replay_calls = sim_alloc(MOST_FUNCTIONS * sizeof(*replay_calls));
	replay_effects = sim_alloc(MOST_FUNCTIONS * sizeof(*replay_effects));
	for (line = (const char *)bytes; *line; line++) {
		read_line(line);
		while (*line && *line != '\n')
			line++;
		if (!*line)
			break;
	}
	if (!replay_nr_calls || !replay_nr_fields[REPLAY_RQ])
		refuse("it is no recording: it has no plan", NULL);
}

static bool read_number(unsigned long *position, u64 *number)
{
	unsigned int shift = 0;

	for (*number = 0; *position < length && shift < 64; shift += 7) {
		unsigned char byte = bytes[(*position)++];

		*number |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool read_numbers(unsigned long *position, u64 *numbers, unsigned int count)
{
	while (count--)
		if (!read_number(position, numbers++))
			return false;
	return true;
}

static bool read_begin(unsigned long *position, struct replay_begin *b)
{
	if (!read_numbers(position, &b->frame, 7 + REPLAY_ARGUMENTS) ||
	    b->call >= replay_nr_calls ||
	    b->cpu >= nr_cpu_ids)
		return false;
	return !strchr(replay_calls[b->call].arguments, 'a') ||
	       read_numbers(position, b->attributes, REPLAY_ATTRIBUTES);
}

static bool read_effect(unsigned long *position, struct replay_effect *e, unsigned long start)
{
	e->position = start;
	return read_numbers(position, &e->frame, 5 + REPLAY_ARGUMENTS) &&
	       e->effect < replay_nr_effects &&
	       (!e->has_rq || read_numbers(position, e->after, NR_AFTER));
}

void replay_read(unsigned long *position, struct replay_record *record)
{
	unsigned long start = *position;
	bool whole = false;

	memset(record, 0, sizeof(*record));
	if (*position >= length)
		return;
	record->type = bytes[(*position)++];
	if (record->type == 'f')
		whole = read_numbers(position, &record->field.number, 3);
	else if (record->type == 'b')
		whole = read_begin(position, &record->begin);
	else if (record->type == 'e')
		whole = read_numbers(position, &record->end.frame, 4);
	else if (record->type == 'x')
		whole = read_effect(position, &record->effect, start);
	else if (record->type == 'o')
		whole = read_numbers(position, &record->object.number, 5);
	else if (record->type == 'z')
		whole = true;
	if (!whole)
		record->type = 0;
}

void replay_print(struct sim_output *out, const char *fmt, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	sim_output_write(out, text, n);
}
