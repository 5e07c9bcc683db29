// SPDX-License-Identifier: GPL-2.0
/* Operations of a workload. */
#include <string.h>

#include "program_reader.h"

/* What the letters of program_syntax.operands stand for. */
enum operand {
	TIME = 'T', MUTEX = 'm', COND = 'c', BARRIER = 'b', CHANNEL = 's', TIMER = 't',
	MARK = 'k', GROUP = 'g', THREADS = 'G', COUNT = 'n', FORKS = 'f', CHILDREN = 'j',
	ROUNDS = 'l', NICE = 'i', CPUS = 'u', POLICY = 'p', MODE = 'M', STAMP = 'S', WHEN = 'W',
};

static const struct syntax {
	const char		*name;
	enum program_op_code	code;
	const char		*operands;	/* enum operand */
	const char		*usage;
} syntaxes[] = {
	{ "run", OP_RUN, "T", "TIME" },
	{ "spin", OP_SPIN, "T", "TIME" },
	{ "sleep", OP_SLEEP, "T", "TIME" },
	{ "timer", OP_TIMER, "tTM", "REF TIME MODE" },
	{ "lock", OP_LOCK, "m", "REF" },
	{ "unlock", OP_UNLOCK, "m", "REF" },
	{ "wait", OP_WAIT, "cm", "REF REF" },
	{ "signal", OP_SIGNAL, "c", "REF" },
	{ "broadcast", OP_BROADCAST, "c", "REF" },
	{ "barrier", OP_BARRIER, "b", "REF" },
	{ "send", OP_UP, "snS", "REF N STAMP" },
	{ "receive", OP_DOWN, "sn", "REF N" },
	{ "suspend", OP_SUSPEND, "", "" },
	{ "resume", OP_RESUME, "G", "GROUP" },
	{ "yield", OP_YIELD, "", "" },
	{ "fork", OP_FORK, "gf", "GROUP N" },
	{ "join", OP_JOIN, "j", "N" },
	{ "exit", OP_EXIT, "", "" },
	{ "exec", OP_EXEC, "", "" },
	{ "set_nice", OP_SET_NICE, "i", "NICE" },
	{ "set_cpus", OP_SET_CPUS, "u", "CPUS" },
	{ "set_policy", OP_SET_POLICY, "p", "POLICY" },
	{ "mark_begin", OP_MARK_BEGIN, "kW", "MARK WHEN" },
	{ "mark_end", OP_MARK_END, "k", "MARK" },
	{ "iteration", OP_ITERATION, "", "" },
	{ "pick", OP_PICK, "n", "N" },
	{ "loop", OP_LOOP, "l", "N" },
	{ "end", OP_END, "", "" },
};

static const char * const kind_names[PROGRAM_NR_KINDS] = {
	[PROGRAM_MUTEX] = "mutex", [PROGRAM_COND] = "cond", [PROGRAM_BARRIER] = "barrier",
	[PROGRAM_SEMAPHORE] = "semaphore", [PROGRAM_PIPE] = "pipe", [PROGRAM_TIMER] = "timer",
};

/* An object of @kind; PROGRAM_SEMAPHORE: or a pipe, which makes another operation of @op. */
static unsigned int parse_ref(struct reader *r, char *word, enum program_kind kind,
			      struct program_op *op, bool *indexed)
{
	char *terms = reader_cut_index(r, word);
	int number = reader_find(r, SPACE_OBJECT, word);
	const struct program_array *array;

	if (number < 0)
		reader_refuse(r, "%s is not declared", reader_quoted(word));
	array = &r->program->arrays[number];
	if (kind == PROGRAM_SEMAPHORE && array->kind == PROGRAM_PIPE)
		op->code = op->code == OP_UP ? OP_WRITE : OP_READ;
	else if (array->kind != kind)
		reader_refuse(r, "%s is a %s, not a %s", reader_quoted(word),
			      kind_names[array->kind],
			      kind == PROGRAM_SEMAPHORE ? "semaphore or pipe" : kind_names[kind]);
	*indexed = false;
	if (!terms)
		return array->first;
	return reader_index(r, terms, array->first, array->count, indexed);
}

static void ref_operand(struct reader *r, char *word, enum program_kind kind,
			struct program_op *op)
{
	bool indexed;

	/* Of a wait, the mutex is the second one. */
	if (op->code == OP_WAIT && kind == PROGRAM_MUTEX) {
		op->other = parse_ref(r, word, kind, op, &indexed);
		op->indexed |= indexed ? PROGRAM_OTHER_INDEXED : 0;
	} else {
		op->ref = parse_ref(r, word, kind, op, &indexed);
		op->indexed |= indexed ? PROGRAM_REF_INDEXED : 0;
	}
}

static unsigned int find_group(struct reader *r, const char *word)
{
	int number = reader_find(r, SPACE_GROUP, word);

	if (number < 0)
		reader_refuse(r, "there is no group %s", reader_quoted(word));
	return (unsigned int)number;
}

static void threads_operand(struct reader *r, char *word, struct program_op *op)
{
	char *terms = reader_cut_index(r, word);
	bool indexed;

	op->ref = find_group(r, word);
	if (!terms)
		return;
	op->other = reader_index(r, terms, 0, 0, &indexed);
	op->indexed = PROGRAM_OTHER_INDEXED;
	r->program->groups[op->ref].indexed = true;
}

static void mark_operand(struct reader *r, char *word, struct program_op *op)
{
	struct program_group *group = r->group;
	int number = reader_find(r, SPACE_MARK, word);
	struct program_mark *mark;

	if (strchr(word, '['))
		reader_refuse(r, "a mark has no index: %s", reader_quoted(word));
	if (number < 0)
		reader_refuse(r, "there is no mark %s", reader_quoted(word));
	if (!r->slots[number]) {
		mark = READER_ADD(r, group_marks);
		mark->name = (unsigned int)number;
		mark->ends = false;
		r->slots[number] = ++group->nr_marks;
	}
	op->ref = r->slots[number] - 1;
	if (op->code == OP_MARK_END)
		r->program->group_marks[group->first_mark + op->ref].ends = true;
}

static void how_operand(struct reader *r, const char *word, enum operand kind,
			struct program_op *op)
{
	static const char * const times[] = { "now", "due", "sent" };
	static const char * const modes[] = { "relative", "absolute" };
	const char * const *names = kind == MODE ? modes : times;
	unsigned int i, count = kind == WHEN ? 3 : 2;

	for (i = 0; i < count; i++)
		if (!strcmp(word, names[i])) {
			op->how = (unsigned char)i;
			return;
		}
	if (kind == WHEN)
		reader_refuse(r, "%s is none of 'now', 'due' and 'sent'", reader_quoted(word));
	reader_refuse(r, "%s is neither '%s' nor '%s'", reader_quoted(word), names[0], names[1]);
}

static void number_operand(struct reader *r, const char *word, enum operand kind,
			   struct program_op *op)
{
	if (kind == ROUNDS && !strcmp(word, "forever"))
		op->a = PROGRAM_FOREVER;
	else if (kind == CHILDREN && !strcmp(word, "all"))
		op->a = PROGRAM_ALL;
	else if (kind == ROUNDS)
		op->a = reader_number(r, "the number of rounds", word, 1, 1000000000000ULL);
	else if (kind == COUNT)
		op->a = reader_number(r, "N", word, 1, READER_MILLION);
	else
		op->a = reader_number(r, "N", word, 1, 100000);
}

static void policy_operand(struct reader *r, char *word, struct program_op *op)
{
	struct program_policy policy = reader_policy(r, word);

	op->ref = policy.name;
	op->a = policy.priority;
	op->b = policy.kind;
}

static void cpus_operand(struct reader *r, char *word, struct program_op *op)
{
	struct program_cpus cpus = reader_cpus(r, word);

	op->ref = cpus.first;
	op->other = cpus.count;
}

static void parse_operand(struct reader *r, char *word, enum operand kind, struct program_op *op)
{
	switch (kind) {
	case TIME:
		return reader_time(r, word, op);
	case MUTEX:
		return ref_operand(r, word, PROGRAM_MUTEX, op);
	case COND:
		return ref_operand(r, word, PROGRAM_COND, op);
	case BARRIER:
		return ref_operand(r, word, PROGRAM_BARRIER, op);
	case CHANNEL:
		return ref_operand(r, word, PROGRAM_SEMAPHORE, op);
	case TIMER:
		return ref_operand(r, word, PROGRAM_TIMER, op);
	case MARK:
		return mark_operand(r, word, op);
	case GROUP:
		op->ref = find_group(r, word);
		return;
	case THREADS:
		return threads_operand(r, word, op);
	case NICE:
		op->a = (sim_u64)reader_nice(r, word);
		return;
	case CPUS:
		return cpus_operand(r, word, op);
	case POLICY:
		return policy_operand(r, word, op);
	case MODE:
	case STAMP:
	case WHEN:
		return how_operand(r, word, kind, op);
	case COUNT:
	case FORKS:
	case CHILDREN:
	case ROUNDS:
		return number_operand(r, word, kind, op);
	}
}

static void begin_loop(struct reader *r)
{
	if (r->nr_loops == PROGRAM_LOOPS)
		reader_refuse(r, "more than %d loops in each other", PROGRAM_LOOPS);
	r->loops[r->nr_loops++] = r->program->nr_ops - 1;
	if (r->nr_loops > r->group->depth)
		r->group->depth = r->nr_loops;
}

/* Of the innermost loop, or of the program. */
static void end(struct reader *r, struct program_op *op)
{
	unsigned int begin;

	if (!r->nr_loops) {
		r->group->nr_ops = r->program->nr_ops - r->group->ops;
		r->group = NULL;
		return;
	}
	begin = r->loops[--r->nr_loops];
	op->code = OP_AGAIN;
	op->ref = begin;
	op->a = r->program->ops[begin].a;
	r->program->ops[begin].ref = r->program->nr_ops - 1;
}

static const struct syntax *find_syntax(const struct reader *r)
{
	size_t i;

	for (i = 0; i < sizeof(syntaxes) / sizeof(*syntaxes); i++)
		if (!strcmp(r->words[0], syntaxes[i].name))
			return &syntaxes[i];
	if (!strcmp(r->words[0], "program"))
		reader_refuse(r, "'program' within the program of group '%s', whose 'end' is "
			      "missing", r->group->name);
	reader_refuse(r, "%s is no operation", reader_quoted(r->words[0]));
}

void reader_op(struct reader *r)
{
	const struct syntax *syntax = find_syntax(r);
	size_t i, count = strlen(syntax->operands);
	struct program_op *op;

	if (r->nr_words - 1 != count)
		reader_refuse(r, "'%s' takes %s%s", syntax->name, count ? "" : "no operand",
			      count ? syntax->usage : "");
	if (r->program->nr_ops == READER_MAX_OPS)
		reader_refuse(r, "more than %d operations", READER_MAX_OPS);
	op = READER_ADD(r, ops);
	*op = (struct program_op){ .code = (unsigned char)syntax->code, .line = r->line };
	for (i = 0; i < count; i++)
		parse_operand(r, r->words[i + 1], (enum operand)syntax->operands[i], op);
	if (op->code == OP_LOOP)
		begin_loop(r);
	else if (op->code == OP_END)
		end(r, op);
}
