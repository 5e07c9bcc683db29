// SPDX-License-Identifier: GPL-2.0
/*
 * The simulator's reader of workloads by itself, for test_sim_program.py.
 *
 *	read_program dump FILE		reads it, and writes it again in the text form
 *	read_program fuzz SEED N FILE	reads N texts that differ a little from it, and checks
 *					that each is either refused with a line of it, or sound
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "program.h"

static jmp_buf refused;
static bool fuzzing;
static unsigned int refused_line;
static char refused_text[1024];

/* ---- what the reader needs of the engine ---- */

static void *allocated[8];

/* All that the reader has of it at a time: what it leaves behind when it refuses. */
void *sim_alloc(unsigned long size)
{
	int i;

	for (i = 0; allocated[i]; i++)
		if (i == 7)
			abort();
	return allocated[i] = calloc(1, size);
}

void sim_free(void *memory)
{
	int i;

	for (i = 0; i < 8; i++)
		if (allocated[i] == memory)
			allocated[i] = NULL;
	free(memory);
}

void sim_out_of_memory(void)
{
	abort();
}

void sim_bad_input(const char *file, unsigned int line, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(refused_text, sizeof(refused_text), fmt, args);
	va_end(args);
	refused_line = line;
	if (fuzzing)
		longjmp(refused, 1);
	fprintf(stderr, "%s:%u: %s\n", file, line, refused_text);
	exit(2);
}

/* ---- dump ---- */

static const struct program *program;

static const char * const kinds[] = {
	[PROGRAM_MUTEX] = "mutex", [PROGRAM_COND] = "cond", [PROGRAM_BARRIER] = "barrier",
	[PROGRAM_SEMAPHORE] = "semaphore", [PROGRAM_PIPE] = "pipe", [PROGRAM_TIMER] = "timer",
	[PROGRAM_PIMUTEX] = "pimutex", [PROGRAM_CGROUP] = "cgroup",
};

static const char * const ops[] = {
	[OP_RUN] = "run", [OP_SPIN] = "spin", [OP_SLEEP] = "sleep", [OP_TIMER] = "timer",
	[OP_LOCK] = "lock", [OP_UNLOCK] = "unlock", [OP_WAIT] = "wait", [OP_MEET] = "meet",
	[OP_SIGNAL] = "signal",
	[OP_BROADCAST] = "broadcast", [OP_BARRIER] = "barrier", [OP_UP] = "send",
	[OP_DOWN] = "receive", [OP_WRITE] = "send", [OP_READ] = "receive",
	[OP_SUSPEND] = "suspend", [OP_RESUME] = "resume", [OP_YIELD] = "yield",
	[OP_FORK] = "fork", [OP_JOIN] = "join", [OP_EXIT] = "exit", [OP_EXEC] = "exec",
	[OP_SET_NICE] = "set_nice", [OP_SET_CPUS] = "set_cpus", [OP_SET_POLICY] = "set_policy",
	[OP_MARK_BEGIN] = "mark_begin", [OP_MARK_END] = "mark_end", [OP_ITERATION] = "iteration",
	[OP_PICK] = "pick", [OP_LOOP] = "loop", [OP_AGAIN] = "end", [OP_END] = "end",
	[OP_CHANCE] = "chance", [OP_JOINS] = "end",
	[OP_PI_LOCK] = "lock", [OP_PI_UNLOCK] = "unlock", [OP_KILL] = "kill",
	[OP_GETATTR] = "getattr_of", [OP_SET_CGROUP] = "set_cgroup",
	[OP_CGROUP_WEIGHT] = "cgroup_weight", [OP_CGROUP_POLICY] = "cgroup_policy",
	[OP_CPU_OFFLINE] = "cpu_offline", [OP_CPU_ONLINE] = "cpu_online", [OP_STEAL] = "steal",
	[OP_EJECT] = "eject", [OP_RELOAD] = "reload",
	[OP_MIGRATE_DISABLE] = "migrate_disable", [OP_MIGRATE_ENABLE] = "migrate_enable",
};

static const int kind_of_op[PROGRAM_NR_OPS] = {
	[OP_LOCK] = PROGRAM_MUTEX, [OP_UNLOCK] = PROGRAM_MUTEX, [OP_WAIT] = PROGRAM_COND,
	[OP_MEET] = PROGRAM_COND,
	[OP_SIGNAL] = PROGRAM_COND, [OP_BROADCAST] = PROGRAM_COND, [OP_BARRIER] = PROGRAM_BARRIER,
	[OP_UP] = PROGRAM_SEMAPHORE, [OP_DOWN] = PROGRAM_SEMAPHORE, [OP_WRITE] = PROGRAM_PIPE,
	[OP_READ] = PROGRAM_PIPE, [OP_TIMER] = PROGRAM_TIMER, [OP_PI_LOCK] = PROGRAM_PIMUTEX,
	[OP_PI_UNLOCK] = PROGRAM_PIMUTEX, [OP_SET_CGROUP] = PROGRAM_CGROUP,
	[OP_CGROUP_WEIGHT] = PROGRAM_CGROUP, [OP_CGROUP_POLICY] = PROGRAM_CGROUP,
};

static void put_terms(const struct program_index *index)
{
	static const char * const bases[] = { "self", "loop", "pick" };
	const char *plus = "";
	int i;

	for (i = 0; i < PROGRAM_NR_BASES; i++) {
		if (!index->times[i])
			continue;
		printf("%s%s", plus, bases[i]);
		if (index->divide[i] != 1)
			printf("/%u", index->divide[i]);
		if (index->times[i] != 1)
			printf("*%u", index->times[i]);
		plus = "+";
	}
	if (index->number || !*plus)
		printf("%s%llu", plus, index->number);
}

static void put_index(unsigned int number)
{
	printf("[");
	put_terms(&program->indexes[number]);
	printf("]");
}

/* A CPU's number, which is of no array */
static void put_cpu(const struct program_op *op)
{
	printf(" ");
	put_terms(&program->indexes[op->ref]);
}

static void put_cgroup(const struct program_op *op);

static void put_ref(int kind, unsigned int ref, bool indexed)
{
	unsigned int number = indexed ? program->indexes[ref].first : ref, i;

	for (i = 0; i < program->nr_arrays; i++) {
		const struct program_array *array = &program->arrays[i];

		if ((int)array->kind != kind || number < array->first ||
		    number - array->first >= array->count)
			continue;
		printf(" %s", array->name);
		if (indexed)
			put_index(ref);
		else if (number > array->first)
			printf("[%u]", number - array->first);
	}
}

static void put_time(const struct program_op *op)
{
	static const char * const names[] = { "", "uniform:", "exponential:", "bimodal:" };

	printf(" %s%llu", names[op->drawn], op->a);
	if (op->drawn == PROGRAM_UNIFORM || op->drawn == PROGRAM_BIMODAL)
		printf(":%llu", op->b);
	if (op->drawn == PROGRAM_BIMODAL)
		printf(":%u", op->other);
}

static void put_policy(unsigned int kind, unsigned int priority, unsigned int name)
{
	static const char * const names[] = {
		"main", "saakm", "fair", "batch", "idle", "rt", "rr", "any", "none",
	};

	printf(" %s", names[kind]);
	if (kind == PROGRAM_SAAKM)
		printf(":%s", program->policies[name]);
	if (kind == PROGRAM_FIFO || kind == PROGRAM_RR)
		printf(":%u", priority);
}

static void put_cpus(unsigned int first, unsigned int count)
{
	unsigned int i;

	printf(" %s", count ? "" : "all");
	for (i = 0; i < count; i++) {
		const struct program_range *range = &program->ranges[first + i];

		printf("%s%u", i ? "," : "", range->first);
		if (range->last != range->first)
			printf("-%u", range->last);
	}
}

static void put_count(sim_u64 n)
{
	printf(n == PROGRAM_FOREVER ? " forever" : n == PROGRAM_ALL ? " all" : " %llu", n);
}

static void put_operands(const struct program_group *group, const struct program_op *op)
{
	static const char * const times[] = { "now", "due", "sent" };
	static const char * const modes[] = { "relative", "absolute" };
	const struct program_mark *mark = &program->group_marks[group->first_mark + op->ref];

	switch (op->code) {
	case OP_RUN: case OP_SPIN: case OP_SLEEP:
		put_time(op);
		break;
	case OP_TIMER:
		put_ref(PROGRAM_TIMER, op->ref, op->indexed & PROGRAM_REF_INDEXED);
		put_time(op);
		printf(" %s", modes[op->how]);
		break;
	case OP_LOCK: case OP_UNLOCK: case OP_WAIT: case OP_MEET: case OP_SIGNAL: case OP_BROADCAST:
	case OP_PI_LOCK: case OP_PI_UNLOCK: case OP_BARRIER: case OP_UP: case OP_DOWN: case OP_WRITE: case OP_READ:
		put_ref(kind_of_op[op->code], op->ref, op->indexed & PROGRAM_REF_INDEXED);
		if (program_waits(op))
			put_ref(op->how == PROGRAM_PI ? PROGRAM_PIMUTEX : PROGRAM_MUTEX, op->other,
				op->indexed & PROGRAM_OTHER_INDEXED);
		if (op->code == OP_MEET || (op->code >= OP_UP && op->code <= OP_READ))
			put_count(op->a);
		if (op->code == OP_UP || op->code == OP_WRITE)
			printf(" %s", times[op->how]);
		break;
	case OP_RESUME: case OP_FORK: case OP_OTHERS:
		printf(" %s", program->groups[op->ref].name);
		if (op->indexed)
			put_index(op->other);
		if (op->code == OP_FORK)
			put_count(op->a);
		break;
	case OP_JOIN: case OP_PICK: case OP_LOOP: case OP_CHANCE:
		put_count(op->a);
		break;
	case OP_SET_NICE:
		printf(" %d", (int)op->a);
		break;
	case OP_SET_CPUS:
		put_cpus(op->ref, op->other);
		break;
	case OP_SET_CGROUP: case OP_CGROUP_WEIGHT: case OP_CGROUP_POLICY:
		put_cgroup(op);
		break;
	case OP_CPU_OFFLINE: case OP_CPU_ONLINE: case OP_STEAL:
		put_cpu(op);
		if (op->code == OP_STEAL)
			put_time(op);
		break;
	case OP_SET_POLICY: case OP_EJECT: case OP_RELOAD:
		put_policy((unsigned int)op->b, (unsigned int)op->a, op->ref);
		break;
	case OP_MARK_BEGIN: case OP_MARK_END:
		printf(" %s", program->marks[mark->name]);
		if (op->code == OP_MARK_BEGIN)
			printf(" %s", times[op->how]);
		break;
	}
}

static void put_cgroup(const struct program_op *op)
{
	if (op->ref || op->indexed)
		put_ref(PROGRAM_CGROUP, op->ref, op->indexed & PROGRAM_REF_INDEXED);
	else
		printf(" root");
	if (op->code == OP_CGROUP_WEIGHT)
		put_count(op->a);
	if (op->code == OP_CGROUP_POLICY)
		put_policy((unsigned int)op->b, 0, (unsigned int)op->a);
}

/* Two operations are one line: others, and what is done to them. */
static unsigned int put_op(const struct program_group *group, const struct program_op *op)
{
	const struct program_op *what = op->code == OP_OTHERS ? op + 1 : op;
	bool named = what->code == OP_KILL || what->code == OP_GETATTR;

	printf("%s%s", ops[what->code], what > op && !named ? "_of" : "");
	if (what > op)
		put_operands(group, op);
	put_operands(group, what);
	puts("");
	return (unsigned int)(what - op) + 1;
}

static void put_above(const struct program_array *array)
{
	if (array->kind != PROGRAM_CGROUP)
		return;
	if (array->parent)
		put_ref(PROGRAM_CGROUP, array->parent, false);
	else
		printf(" root");
}

static void put_group(const struct program_group *group)
{
	printf("group %s %u %llu", group->name, group->instances, group->start);
	put_policy(group->policy.kind, group->policy.priority, group->policy.name);
	printf(" %d", group->nice);
	put_cpus(group->cpus.first, group->cpus.count);
	printf(" %s%s%s\n", group->inherit ? "inherit" : group->reset ? "" : "none",
	       group->inherit && group->reset ? "," : "", group->reset ? "reset" : "");
}

static void dump(void)
{
	static const char * const sizes[] = { "", "", " %u", " %u", " %u", "", "", " %u" };
	unsigned int i, j;

	puts("saakm-program 1");
	for (i = 0; i < program->nr_arrays; i++) {
		printf("%s %s %u", kinds[program->arrays[i].kind], program->arrays[i].name,
		       program->arrays[i].count);
		printf(sizes[program->arrays[i].kind], program->arrays[i].size);
		put_above(&program->arrays[i]);
		puts("");
	}
	for (i = 0; i < program->nr_marks; i++)
		printf("mark %s\n", program->marks[i]);
	for (i = 0; i < program->nr_groups; i++)
		put_group(&program->groups[i]);
	for (i = 0; i < program->nr_groups; i++) {
		printf("program %s\n", program->groups[i].name);
		for (j = 0; j < program->groups[i].nr_ops;)
			j += put_op(&program->groups[i],
				    &program->ops[program->groups[i].ops + j]);
	}
}

/* ---- is it sound? ---- */

#define CHECK(condition) ((condition) ? (void)0 : \
	(fprintf(stderr, "unsound: %s, line %d\n", #condition, __LINE__), abort()))

static void check_loops(const struct program_group *group)
{
	unsigned int open[PROGRAM_LOOPS], depth = 0, deepest = 0, i;

	for (i = group->ops; i < group->ops + group->nr_ops; i++) {
		const struct program_op *op = &program->ops[i];

		if (op->code == OP_LOOP || op->code == OP_CHANCE) {
			CHECK(depth < PROGRAM_LOOPS);
			open[depth++] = i;
			deepest = depth > deepest ? depth : deepest;
		} else if (op->code == OP_AGAIN || op->code == OP_JOINS) {
			CHECK(depth && open[--depth] == op->ref);
			CHECK(program->ops[op->ref].ref == i);
			CHECK((program->ops[op->ref].code == OP_LOOP) == (op->code == OP_AGAIN));
		}
		CHECK((op->code == OP_END) == (i == group->ops + group->nr_ops - 1));
	}
	CHECK(!depth && deepest == group->depth);
}

static void check_op(const struct program_group *group, const struct program_op *op)
{
	const struct program_index *index;

	if (op->code == OP_RESUME || op->code == OP_FORK || op->code == OP_OTHERS)
		CHECK(op->ref < program->nr_groups);
	if (op->code == OP_OTHERS)
		CHECK(program->groups[op->ref].indexed && op[1].how == PROGRAM_OTHERS);
	if (op->code == OP_CPU_OFFLINE || op->code == OP_CPU_ONLINE || op->code == OP_STEAL)
		CHECK(op->ref < program->nr_indexes && !program->indexes[op->ref].count);
	if (op->code == OP_MARK_BEGIN || op->code == OP_MARK_END)
		CHECK(op->ref < group->nr_marks);
	if (op->code == OP_SET_CPUS)
		CHECK(op->ref + op->other <= program->nr_ranges);
	if (!kind_of_op[op->code] && op->code != OP_LOCK && op->code != OP_UNLOCK)
		return;
	if (!(op->indexed & PROGRAM_REF_INDEXED)) {
		CHECK(op->ref < program->nr_objects[kind_of_op[op->code]]);
		return;
	}
	CHECK(op->ref < program->nr_indexes);
	index = &program->indexes[op->ref];
	CHECK(index->count && index->first + index->count <=
	      program->nr_objects[kind_of_op[op->code]]);
	CHECK(index->divide[0] && index->divide[1] && index->divide[2]);
}

static void check(void)
{
	unsigned int i, j;

	for (i = 0; i < program->nr_groups; i++) {
		const struct program_group *group = &program->groups[i];

		CHECK(group->nr_ops && group->ops + group->nr_ops <= program->nr_ops);
		CHECK(group->first_mark + group->nr_marks <= program->nr_group_marks);
		check_loops(group);
		for (j = 0; j < group->nr_ops; j++)
			check_op(group, &program->ops[group->ops + j]);
	}
}

/* ---- fuzz ---- */

static sim_u64 state;

static unsigned int below(unsigned int n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned int)((state >> 33) % n);
}

/* A byte, a word or a line of @text becomes another one, goes, or is there twice. */
static size_t mutate(char *text, size_t size, size_t room)
{
	static const char bytes[] = " \t\n#0189-+*/[]:,._aZ\x00\xff";
	size_t from = below((unsigned int)size), length, to;

	switch (below(8)) {
	case 0:
		text[from] = bytes[below(sizeof(bytes) - 1)];
		return size;
	case 3: case 4: case 5:
		while (from < size && (text[from] < '0' || text[from] > '9'))
			from++;
		if (from < size)
			text[from] = (char)('0' + below(10));
		return size;
	case 1:
		text[from] = (char)below(256);
		return size;
	case 2:
		length = 1 + below(below(2) ? 4 : 60);
		length = from + length > size ? size - from : length;
		memmove(text + from, text + from + length, size - from - length);
		return size - length;
	default:
		length = 1 + below(40);
		length = from + length > size ? size - from : length;
		if (size + length > room)
			return size;
		to = below((unsigned int)size);
		memmove(text + to + length, text + to, size - to);
		memmove(text + to, text + (from >= to ? from + length : from),
			from >= to || from + length <= to ? length : to - from);
		return size + length;
	}
}

static void fuzz(const char *seed, unsigned int count, const char *text, size_t size)
{
	unsigned int accepted = 0, i, j, lines;
	char *mutant = malloc(2 * size + 4096), *exact;
	size_t length, k;

	state = strtoull(seed, NULL, 10);
	fuzzing = true;
	for (i = 0; i < count; i++) {
		memcpy(mutant, text, size);
		length = size;
		for (j = 1 + below(3); j; j--)
			length = mutate(mutant, length, 2 * size + 4096);
		/* Nothing behind it: AddressSanitizer sees who reads on. */
		exact = malloc(length);
		memcpy(exact, mutant, length);
		for (lines = 1, k = 0; k < length; k++)
			lines += exact[k] == '\n';
		if (!setjmp(refused)) {
			program = program_read("fuzz", exact, length);
			check();
			program_free(program);
			accepted++;
		} else {
			CHECK(refused_line >= 1 && refused_line <= lines && *refused_text);
			/* What the reader holds then: a process that ends does not miss it. */
			memset(allocated, 0, sizeof(allocated));
		}
		free(exact);
	}
	printf("%u accepted, %u refused\n", accepted, count - accepted);
}

static char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	char *text = malloc(1 << 26);

	if (!file)
		exit(3);
	*size = fread(text, 1, 1 << 26, file);
	fclose(file);
	return realloc(text, *size ? *size : 1);
}

int main(int argc, char **argv)
{
	size_t size;
	char *text = read_file(argv[argc - 1], &size);

	if (!strcmp(argv[1], "fuzz")) {
		fuzz(argv[2], (unsigned int)atoi(argv[3]), text, size);
	} else {
		program = program_read(argv[2], text, size);
		check();
		dump();
		program_free(program);
	}
	free(text);
	return 0;
}
