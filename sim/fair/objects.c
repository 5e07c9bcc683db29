// SPDX-License-Identifier: GPL-2.0
/* Runqueues, threads and variables as they were in the kernel when they were last recorded. */
#include <linux/refcount.h>
#include "fair.h"

#define CHAINS	4096

static struct fair_object *chains[CHAINS], **by_number, *globals, *rqs[NR_CPUS];
static unsigned long nr_objects, room;
static unsigned int nr_rqs;

static struct fair_object **chain_of(u64 address)
{
	return &chains[(address >> 6 ^ address >> 18) % CHAINS];
}

struct fair_object *fair_object_at(enum replay_kind kind, u64 address)
{
	struct fair_object *o;

	for (o = *chain_of(address); o; o = o->next)
		if (o->address == address && o->kind == kind)
			return o;
	return NULL;
}

static void grow(void)
{
	struct fair_object **more;

	room = 2 * room + 256;
	more = sim_alloc(room * sizeof(*more));
	if (by_number)
		memcpy(more, by_number, nr_objects * sizeof(*more));
	sim_free(by_number);
	by_number = more;
}

void fair_new_object(const struct replay_object_line *line)
{
	struct fair_object *o = sim_alloc(sizeof(*o));

	o->kind = line->kind;
	o->address = line->address;
	o->next = *chain_of(o->address);
	*chain_of(o->address) = o;
	if (o->kind == REPLAY_RQ && nr_rqs < nr_cpu_ids) {
		o->here = cpu_rq(nr_rqs);
		rqs[nr_rqs++] = o;
	}
	if (o->kind == REPLAY_GLOBAL)
		globals = o;
	if (nr_objects == room)
		grow();
	by_number[nr_objects++] = o;
}

bool fair_set_field(const struct replay_field_line *line)
{
	if (line->number >= nr_objects || line->field >= REPLAY_MOST_FIELDS)
		sim_bad_input(sim_options.program_name, 0, "the recording is damaged");
	by_number[line->number]->values[line->field] = line->value;
	return by_number[line->number] == globals;
}

struct fair_object *fair_rq_object(int cpu)
{
	return rqs[cpu];
}

struct rq *fair_rq(u64 address)
{
	struct fair_object *o = fair_object_at(REPLAY_RQ, address);

	if (!o || !o->here)
		sim_bad_input(sim_options.program_name, 0,
			      "a call is about a runqueue that is none: was there a cgroup?");
	return o->here;
}

static struct task_struct *idle_thread(u64 address)
{
	unsigned int i;

	for (i = 0; i < nr_rqs; i++)
		if (fair_there(rqs[i], "idle") == address)
			return cpu_rq(i)->idle;
	return NULL;
}

static struct task_struct *new_thread(struct fair_object *o)
{
	struct task_struct *p = sim_alloc(sizeof(*p));

	raw_spin_lock_init(&p->pi_lock);
	p->cpus_ptr = &p->cpus_mask;
	p->sched_task_group = &root_task_group;
	p->group_leader = p;
	p->policy = SCHED_NORMAL;
	p->sched_class = &fair_sched_class;
	refcount_set(&p->usage, 1);
	p->signal = sim_alloc(sizeof(*p->signal));
	refcount_set(&p->signal->sigcnt, 1);
	INIT_LIST_HEAD(&p->signal->thread_head);
	list_add_tail(&p->thread_node, &p->signal->thread_head);
	return p;
}

struct task_struct *fair_task(u64 address)
{
	struct fair_object *o = address ? fair_object_at(REPLAY_TASK, address) : NULL;
	struct task_struct *idle;

	if (!o)
		return NULL;
	idle = idle_thread(address);
	if (idle)
		o->here = idle;
	else if (!o->here)
		o->here = new_thread(o);
	return o->here;
}

u64 fair_variable(const char *name)
{
	unsigned int i;

	for (i = 0; globals && i < replay_nr_fields[REPLAY_GLOBAL]; i++)
		if (!strcmp(replay_fields[REPLAY_GLOBAL][i].name, name))
			return (u32)globals->values[i];
	return 0;
}

void fair_for_each_thread(void (*fn)(struct fair_object *o, void *data), void *data)
{
	unsigned long i;

	for (i = 0; i < nr_objects; i++)
		if (by_number[i]->kind == REPLAY_TASK)
			fn(by_number[i], data);
}
