// SPDX-License-Identifier: GPL-2.0
/*
 * Runqueues, threads and policies' cores as they were last written down. What has changed since is
 * written down when somebody asks: 'o' NUMBER KIND ADDRESS POLICY CPU for a new one (the latter of
 * cores, else 0), 'f' NUMBER FIELD VALUE.
 */
#include "recorder.h"

#include <stdlib.h>
#include <string.h>

#define MOST_FIELDS	64
#define CHAINS		(1 << 12)
#define POINTED_TO	256	/* as a size: kernel/offsets.c */
#define MOST_BYTES	16384
#define MOST_CORES	1024

struct field {
	char name[NAME_LENGTH];
	uint64_t offset;
	unsigned int size;
	bool is_pointer;		/* to what counts, by its first word */
};

static struct field fields[NR_KINDS][MOST_FIELDS];
static unsigned int nr_fields[NR_KINDS];
static uint64_t from[NR_KINDS], to[NR_KINDS];

struct object {
	struct object *next;
	uint64_t address;
	unsigned int number;
	int kind;
	bool known;
	uint64_t values[MOST_FIELDS];
};

static struct object *chains[CHAINS];
static struct object *cores[MOST_CORES];
static unsigned int nr_cores;

void add_field(int kind, const char *name, uint64_t offset, unsigned int size)
{
	struct field *f = &fields[kind][nr_fields[kind]];

	f->is_pointer = size == POINTED_TO;
	size = f->is_pointer ? 8 : size;
	if (!nr_fields[kind] || offset < from[kind])
		from[kind] = offset;
	if (offset + size > to[kind])
		to[kind] = offset + size;
	if (nr_fields[kind] == MOST_FIELDS || size > 8 ||
	    (kind != GLOBAL && to[kind] - from[kind] > MOST_BYTES))
		abort();
	nr_fields[kind]++;
	strcpy(f->name, name);
	f->offset = offset;
	f->size = size;
}

bool has_field(int kind, const char *name)
{
	for (unsigned int i = 0; i < nr_fields[kind]; i++)
		if (!strcmp(fields[kind][i].name, name))
			return true;
	return false;
}

uint64_t offset_of(int kind, const char *name)
{
	for (unsigned int i = 0; i < nr_fields[kind]; i++)
		if (!strcmp(fields[kind][i].name, name))
			return fields[kind][i].offset;
	abort();
}

uint64_t read_field(int kind, uint64_t address, const char *name)
{
	for (unsigned int i = 0; i < nr_fields[kind]; i++)
		if (!strcmp(fields[kind][i].name, name))
			return read_number(address + fields[kind][i].offset, fields[kind][i].size);
	abort();
}

/* The runqueue that this is, or is a part of; or 0. */
uint64_t runqueue_at(uint64_t address)
{
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		uint64_t rq = symbol_runqueues + per_cpu(cpu);

		if (address >= rq && address < rq + to[RQ])
			return rq;
	}
	return 0;
}

static struct object **chain_of(uint64_t address)
{
	return &chains[(address >> 6 ^ address >> 18) % CHAINS];
}

static struct object *find(int kind, uint64_t address)
{
	struct object *o;

	for (o = *chain_of(address); o; o = o->next)
		if (o->address == address && o->kind == kind)
			return o;
	return NULL;
}

static struct object *object_at(int kind, uint64_t address, uint64_t policy, unsigned int cpu)
{
	struct object **chain = chain_of(address), *o = find(kind, address);
	static unsigned int count;

	if (o)
		return o;
	o = calloc(1, sizeof(*o));
	if (!o)
		abort();
	o->address = address;
	o->kind = kind;
	o->number = count++;
	o->next = *chain;
	*chain = o;
	if (kind == CORE && nr_cores < MOST_CORES)
		cores[nr_cores++] = o;
	put_byte('o');
	put(o->number);
	put(kind);
	put(address);
	put(policy);
	put(cpu);
	return o;
}

static void note(int kind, uint64_t address, uint64_t policy, unsigned int cpu)
{
	struct object *o = object_at(kind, address, policy, cpu);
	static uint8_t bytes[MOST_BYTES];

	if (kind != GLOBAL && !read_guest(address + from[kind], bytes, to[kind] - from[kind]))
		return;
	for (unsigned int i = 0; i < nr_fields[kind]; i++) {
		const struct field *f = &fields[kind][i];
		uint64_t value = 0;

		if (kind == GLOBAL)
			value = read_number(f->offset, f->size);
		else
			memcpy(&value, bytes + f->offset - from[kind], f->size);
		if (f->is_pointer && value)
			value = read_number(value, 8);
		if (o->known && value == o->values[i])
			continue;
		o->values[i] = value;
		put_byte('f');
		put(o->number);
		put(i);
		put(value);
	}
	o->known = true;
}

/* With who runs there, as soon as it is somebody of whom nothing is known. */
void note_runqueues(void)
{
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		uint64_t curr = read_field(RQ, symbol_runqueues + per_cpu(cpu), "curr");

		if (!find(TASK, curr))
			note_task(curr);
		note(RQ, symbol_runqueues + per_cpu(cpu), 0, 0);
	}
}

void note_globals(void)
{
	note(GLOBAL, 0, 0, 0);
}

void note_task(uint64_t address)
{
	if (address & KERNEL && address < -4096ull)
		note(TASK, address, 0, 0);
}

/* Of the policy that @task has, if it has one. */
void note_core(uint64_t task, unsigned int cpu)
{
	uint64_t policy, cores;

	if (!(task & KERNEL) || task >= -4096ull || !has_field(POLICY, "cores"))
		return;
	policy = read_number(task + offset_of(TASK, "saakm_policy"), 8);
	if (!policy)
		return;
	cores = read_number(policy + offset_of(POLICY, "cores"), 8);
	note(CORE, cores + per_cpu(cpu) - offset_of(HOT, "core_event"), policy, cpu);
}

/* Calls overlap: one may see what another one has not ended. */
void note_all_cores(void)
{
	for (unsigned int i = 0; i < nr_cores; i++)
		note(CORE, cores[i]->address, 0, 0);
}
