// SPDX-License-Identifier: GPL-2.0
/* Operations of a workload. */
#include <string.h>

#include "program_reader.h"

/* What the letters of program_syntax.operands stand for. OTHERS comes first. */
enum operand {
	TIME = 'T', MUTEX = 'm', COND = 'c', BARRIER = 'b', CHANNEL = 's', TIMER = 't',
	MARK = 'k', GROUP = 'g', THREADS = 'G', COUNT = 'n', FORKS = 'f', CHILDREN = 'j',
	ROUNDS = 'l', NICE = 'i', CPUS = 'u', POLICY = 'p', MODE = 'M', STAMP = 'S', WHEN = 'W',
	OTHERS = 'O', CGROUP = 'r', WEIGHT = 'w', CGROUP_POLICY = 'q', LOADED = 'P', CPU = 'C',
	PPM = 'x',
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
	{ "meet", OP_MEET, "cmn", "REF REF N" },
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
	{ "chance", OP_CHANCE, "x", "PPM" },
	{ "set_nice_of", OP_SET_NICE, "Oi", "GROUP NICE" },
	{ "set_cpus_of", OP_SET_CPUS, "Ou", "GROUP CPUS" },
	{ "set_policy_of", OP_SET_POLICY, "Op", "GROUP POLICY" },
	{ "getattr_of", OP_GETATTR, "O", "GROUP" },
	{ "kill", OP_KILL, "O", "GROUP" },
	{ "set_cgroup", OP_SET_CGROUP, "r", "CGROUP" },
	{ "set_cgroup_of", OP_SET_CGROUP, "Or", "GROUP CGROUP" },
	{ "cgroup_weight", OP_CGROUP_WEIGHT, "rw", "CGROUP WEIGHT" },
	{ "cgroup_policy", OP_CGROUP_POLICY, "rq", "CGROUP POLICY" },
	{ "cpu_offline", OP_CPU_OFFLINE, "C", "CPU" },
	{ "cpu_online", OP_CPU_ONLINE, "C", "CPU" },
	{ "steal", OP_STEAL, "CT", "CPU TIME" },
	{ "eject", OP_EJECT, "P", "POLICY" },
	{ "reload", OP_RELOAD, "P", "POLICY" },
	{ "migrate_disable", OP_MIGRATE_DISABLE, "", "" },
	{ "migrate_enable", OP_MIGRATE_ENABLE, "", "" },
};

static const char * const kind_names[PROGRAM_NR_KINDS] = {
	[PROGRAM_MUTEX] = "mutex", [PROGRAM_COND] = "cond", [PROGRAM_BARRIER] = "barrier",
	[PROGRAM_SEMAPHORE] = "semaphore", [PROGRAM_PIPE] = "pipe", [PROGRAM_TIMER] = "timer",
	[PROGRAM_PIMUTEX] = "pimutex", [PROGRAM_CGROUP] = "cgroup",
};

/* A semaphore may be a pipe, and a mutex one with priority inheritance: another operation. */
static bool other_kind(enum program_kind kind, unsigned int there, struct program_op *op)
{
	if (kind == PROGRAM_SEMAPHORE && there == PROGRAM_PIPE) {
		op->code = op->code == OP_UP ? OP_WRITE : OP_READ;
		return true;
	}
	if (kind != PROGRAM_MUTEX || there != PROGRAM_PIMUTEX)
		return false;
	if (program_waits(op))
		op->how = PROGRAM_PI;
	else
		op->code = op->code == OP_LOCK ? OP_PI_LOCK : OP_PI_UNLOCK;
	return true;
}

/* An object of @kind, or of the other one that may stand there. */
static unsigned int parse_ref(struct reader *r, char *word, enum program_kind kind,
			      struct program_op *op, bool *indexed)
{
	char *terms = reader_cut_index(r, word);
	int number = reader_find(r, SPACE_OBJECT, word);
	const struct program_array *array;

	if (number < 0)
		reader_refuse(r, "%s is not declared", reader_quoted(word));
	array = &r->program->arrays[number];
	if (array->kind != kind && !other_kind(kind, array->kind, op))
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

	/* There the mutex is the second one. */
	if (program_waits(op) && kind == PROGRAM_MUTEX) {
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
	r->program->groups[op->ref].indexed |= terms || op->code == OP_OTHERS;
	if (!terms)
		return;
	op->other = reader_index(r, terms, 0, 0, &indexed);
	op->indexed = PROGRAM_OTHER_INDEXED;
}

/* All cgroups are those declared, and the root. */
static void cgroup_operand(struct reader *r, char *word, struct program_op *op)
{
	if (!strcmp(word, READER_ROOT))
		op->ref = 0;
	else
		ref_operand(r, word, PROGRAM_CGROUP, op);
}

/* A sum, as of an index, but of nothing: the interpreter knows how many CPUs there are. */
static void cpu_operand(struct reader *r, char *word, struct program_op *op)
{
	bool indexed;

	op->ref = reader_index(r, word, 0, 0, &indexed);
	op->indexed |= PROGRAM_REF_INDEXED;
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
	else if (kind == PPM)
		op->a = reader_number(r, "PPM", word, 0, READER_MILLION);
	else if (kind == WEIGHT)
		op->a = reader_number(r, "WEIGHT", word, 1, 10000);
	else
		op->a = reader_number(r, "N", word, 1, 100000);
}

static void policy_operand(struct reader *r, char *word, enum operand kind,
			   struct program_op *op)
{
	struct program_policy policy;

	policy = reader_policy(r, word, kind == POLICY ? POLICIES_TO_SET :
			       kind == LOADED ? POLICIES_LOADED : POLICIES_OF_CGROUPS);
	op->b = policy.kind;
	if (kind == CGROUP_POLICY) {
		op->a = policy.name;
		return;
	}
	op->ref = policy.name;
	op->a = policy.priority;
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
	case OTHERS:
		return threads_operand(r, word, op);
	case NICE:
		op->a = (sim_u64)reader_nice(r, word);
		return;
	case CPUS:
		return cpus_operand(r, word, op);
	case POLICY:
	case LOADED:
	case CGROUP_POLICY:
		return policy_operand(r, word, kind, op);
	case CGROUP:
		return cgroup_operand(r, word, op);
	case CPU:
		return cpu_operand(r, word, op);
	case MODE:
	case STAMP:
	case WHEN:
		return how_operand(r, word, kind, op);
	case COUNT:
	case FORKS:
	case CHILDREN:
	case ROUNDS:
	case PPM:
	case WEIGHT:
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
	op->code = r->program->ops[begin].code == OP_LOOP ? OP_AGAIN : OP_JOINS;
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

static struct program_op *add_op(struct reader *r, enum program_op_code code)
{
	struct program_op *op;

	if (r->program->nr_ops == READER_MAX_OPS)
		reader_refuse(r, "more than %d operations", READER_MAX_OPS);
	op = READER_ADD(r, ops);
	*op = (struct program_op){ .code = (unsigned char)code, .line = r->line };
	return op;
}

void reader_op(struct reader *r)
{
	const struct syntax *syntax = find_syntax(r);
	size_t i = 0, count = strlen(syntax->operands);
	struct program_op *op;

	if (r->nr_words - 1 != count)
		reader_refuse(r, "'%s' takes %s%s", syntax->name, count ? "" : "no operand",
			      count ? syntax->usage : "");
	if (count && *syntax->operands == OTHERS)
		threads_operand(r, r->words[++i], add_op(r, OP_OTHERS));
	op = add_op(r, syntax->code);
	op->how = i ? PROGRAM_OTHERS : PROGRAM_ITSELF;
	for (; i < count; i++)
		parse_operand(r, r->words[i + 1], (enum operand)syntax->operands[i], op);
	if (op->code == OP_LOOP || op->code == OP_CHANCE)
		begin_loop(r);
	else if (op->code == OP_END)
		end(r, op);
}
