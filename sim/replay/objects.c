// SPDX-License-Identifier: GPL-2.0
/* Runqueues, threads and policies' cores: as they were in the kernel, set here, and compared. */
#include <linux/refcount.h>
#include "members.h"

#define CHAINS	4096

static struct replay_object *chains[CHAINS], *rqs[NR_CPUS], **by_number, *globals;
static struct replay_object *cores[1024];
static unsigned long nr_objects, room, nr_cores;
static unsigned int nr_rqs;

/* Objects with changes that have not been set here. */
static struct replay_object **dirty;
static unsigned long nr_dirty, dirty_room;

static void grow(struct replay_object ***list, unsigned long used, unsigned long *size)
{
	struct replay_object **more;

	if (used < *size)
		return;
	*size = 2 * *size + 256;
	more = sim_alloc(*size * sizeof(*more));
	if (*list)
		memcpy(more, *list, used * sizeof(*more));
	sim_free(*list);
	*list = more;
}

static struct replay_object **chain_of(u64 address)
{
	return &chains[(address >> 6 ^ address >> 18) % CHAINS];
}

struct replay_object *replay_object_at(enum replay_kind kind, u64 address)
{
	struct replay_object *o;

	for (o = *chain_of(address); o; o = o->next)
		if (o->address == address && o->kind == kind)
			return o;
	return NULL;
}

void replay_new_object(const struct replay_object_line *line)
{
	struct replay_object *o = sim_alloc(sizeof(*o));

	o->kind = line->kind;
	o->address = line->address;
	o->policy = line->policy;
	o->cpu = line->cpu;
	o->next = *chain_of(o->address);
	*chain_of(o->address) = o;
	o->here = o->kind == REPLAY_GLOBAL ? o : NULL;
	if (o->kind == REPLAY_RQ && nr_rqs < nr_cpu_ids) {
		o->cpu = nr_rqs;
		o->here = cpu_rq(nr_rqs);
		rqs[nr_rqs++] = o;
	}
	if (o->kind == REPLAY_GLOBAL)
		globals = o;
	if (o->kind == REPLAY_CORE && nr_cores < ARRAY_SIZE(cores))
		cores[nr_cores++] = o;
	grow(&by_number, nr_objects, &room);
	by_number[nr_objects++] = o;
}

static void has_changed(struct replay_object *o, u64 fields)
{
	o->changed |= fields;
	if (o->dirty)
		return;
	grow(&dirty, nr_dirty, &dirty_room);
	dirty[nr_dirty++] = o;
	o->dirty = true;
}

static bool is_being_patched(unsigned int field)
{
	const struct replay_member *m = replay_fields[REPLAY_GLOBAL][field].member;

	return m && m->how == HOW_KEY && (int)globals->values[field] < 0;
}

bool replay_patching(void)
{
	unsigned int i;

	for (i = 0; globals && i < replay_nr_fields[REPLAY_GLOBAL]; i++)
		if (is_being_patched(i))
			return true;
	return false;
}

/* Only with the lock of the runqueue it is changed; ticks and kicks come without. */
static bool is_locked_part(const struct replay_object *o, const struct replay_member *m)
{
	if (o->kind == REPLAY_CORE)
		return m->whose == OWN && strcmp(m->name, "next_balance");
	return o->kind == REPLAY_RQ && !strcmp(m->name, "nr_saakm");
}

void replay_set_field(const struct replay_field_line *line)
{
	const struct replay_member *member;
	struct replay_object *o;

	if (line->number >= nr_objects || line->field >= REPLAY_MOST_FIELDS)
		sim_bad_input(sim_options.program_name, 0, "the recording is damaged");
	o = by_number[line->number];
	o->values[line->field] = line->value;
	if ((int)line->value >= 0)
		o->patched &= ~BIT_ULL(line->field);
	member = replay_fields[o->kind][line->field].member;
	o->changes += member && is_locked_part(o, member);
	has_changed(o, BIT_ULL(line->field));
}

void replay_new_thread(u64 address)
{
	struct replay_object *o = replay_object_at(REPLAY_TASK, address);

	if (!o)
		return;
	o->here = NULL;
	has_changed(o, ~0ULL);
}

u64 replay_there(const struct replay_object *o, const char *name)
{
	return o->values[replay_find_field(o->kind, name)];
}

struct replay_object *replay_rq_object(int cpu)
{
	return rqs[cpu];
}

struct replay_object *replay_globals(void)
{
	return globals;
}

/* The runqueue that this is, or is a part of. */
struct rq *replay_rq(u64 address)
{
	unsigned int i;

	for (i = 0; i < nr_rqs; i++)
		if (address >= rqs[i]->address && address < rqs[i]->address + 8192 &&
		    (i + 1 == nr_rqs || address < rqs[i + 1]->address ||
		     rqs[i + 1]->address < rqs[i]->address))
			return rqs[i]->here;
	return NULL;
}

static struct task_struct *idle_thread(u64 address)
{
	static int field = -1;
	unsigned int i;

	if (field < 0)
		field = replay_find_field(REPLAY_RQ, "idle");
	for (i = 0; i < nr_rqs; i++)
		if (rqs[i]->values[field] == address)
			return cpu_rq(i)->idle;
	return NULL;
}

static struct task_struct *new_thread(const struct replay_object *o)
{
	struct task_struct *p = sim_alloc(sizeof(*p));

	raw_spin_lock_init(&p->pi_lock);
	p->cpus_ptr = &p->cpus_mask;
	p->sched_task_group = &root_task_group;
	p->group_leader = p;
	refcount_set(&p->usage, 1);
	p->signal = sim_alloc(sizeof(*p->signal));
	refcount_set(&p->signal->sigcnt, 1);
	INIT_LIST_HEAD(&p->signal->thread_head);
	list_add_tail(&p->thread_node, &p->signal->thread_head);
	snprintf(p->comm, sizeof(p->comm), "pid %llu", replay_there(o, "pid"));
	return p;
}

struct task_struct *replay_task(u64 address)
{
	struct replay_object *o = address ? replay_object_at(REPLAY_TASK, address) : NULL;

	if (!o)
		return NULL;
	if (!o->here)
		o->here = idle_thread(address) ?: new_thread(o);
	return o->here;
}

/* Some thread has it, and says its number. */
u64 replay_policy_id(u64 address)
{
	static struct {
		u64 address, id;
	} known[64];
	static unsigned int nr_known;
	unsigned long i;

	if (!address)
		return 0;
	for (i = 0; i < nr_known; i++)
		if (known[i].address == address)
			return known[i].id;
	for (i = 0; i < nr_objects; i++) {
		struct replay_object *o = by_number[i];

		if (o->kind != REPLAY_TASK || replay_there(o, "saakm_policy") != address)
			continue;
		if (nr_known < ARRAY_SIZE(known)) {
			known[nr_known].address = address;
			known[nr_known++].id = replay_there(o, "id");
		}
		return replay_there(o, "id");
	}
	return ~0ULL;
}

static void *core_here(const struct replay_object *o)
{
	u64 id = replay_policy_id(o->policy);
	struct saakm_policy *policy;

	guard(rcu)();
	for_each_saakm_policy(policy)
		if (policy->own->id == id)
			return saakm_core(policy, o->cpu);
	return NULL;
}

struct replay_object *replay_core_object(u64 policy, int cpu)
{
	unsigned long i;

	for (i = 0; i < nr_cores; i++)
		if (cores[i]->policy == policy && cores[i]->cpu == cpu)
			return cores[i];
	return NULL;
}

u64 replay_changes(int cpu)
{
	u64 changes = rqs[cpu]->changes;
	unsigned long i;

	for (i = 0; i < nr_cores; i++)
		if (cores[i]->cpu == cpu)
			changes += cores[i]->changes;
	return changes;
}

/* What the class has at the beginning is taken over, where it was counting before. */
static bool is_adopted(const struct replay_object *o, const struct replay_member *m)
{
	if (o->adopted || m->whose != OWN)
		return false;
	return o->kind == REPLAY_RQ || o->kind == REPLAY_GLOBAL || !strcmp(m->name, "next_balance");
}

static void set_runqueue(struct replay_object *o)
{
	struct rq *rq = o->here;
	bool idle = rq->curr == rq->idle && !rq->nr_running && !replay_there(o, "ttwu_pending");

	rq->clock_update_flags |= RQCF_UPDATED;
	per_cpu(current_task, rq->cpu) = rq->curr;
	if (idle)
		cpumask_set_cpu(rq->cpu, &model_idle_mask);
	else
		cpumask_clear_cpu(rq->cpu, &model_idle_mask);
}

static void set_object(struct replay_object *o)
{
	unsigned int i;

	if (o->kind == REPLAY_TASK)
		replay_task(o->address);
	else if (o->kind == REPLAY_CORE && !o->here)
		o->here = core_here(o);
	for (i = 0; o->here && i < replay_nr_fields[o->kind]; i++) {
		const struct replay_member *m = replay_fields[o->kind][i].member;

		if (!m || !(o->changed & BIT_ULL(i)))
			continue;
		if (m->whose == GIVEN || m->whose == BOTH || is_adopted(o, m))
			replay_set(m, o->here, replay_translate(m, o, i, o->values[i]));
	}
	o->changed = 0;
	o->adopted = true;
	if (o->kind == REPLAY_RQ)
		set_runqueue(o);
	else if (o->kind == REPLAY_TASK)
		set_load_weight(o->here, false);
}

void replay_patch(void)
{
	unsigned int i;

	for (i = 0; globals && i < replay_nr_fields[REPLAY_GLOBAL]; i++)
		if (is_being_patched(i))
			globals->patched |= BIT_ULL(i);
	if (globals) {
		globals->changed = ~0ULL;
		set_object(globals);
	}
}

void replay_apply(bool (*busy)(const struct replay_object *object))
{
	unsigned long i, kept = 0;

	/* A call that has not ended there may have changed them here. */
	if (globals)
		has_changed(globals, ~0ULL);

	for (i = 0; i < nr_dirty; i++) {
		struct replay_object *o = dirty[i];

		if (busy(o)) {
			dirty[kept++] = o;
			continue;
		}
		set_object(o);
		o->dirty = false;
	}
	nr_dirty = kept;
}

const char *replay_object_name(const struct replay_object *o, char *text, size_t size)
{
	if (o->kind == REPLAY_RQ)
		snprintf(text, size, "the runqueue of CPU %llu", o->cpu);
	else if (o->kind == REPLAY_GLOBAL)
		snprintf(text, size, "the class");
	else if (o->kind == REPLAY_TASK)
		snprintf(text, size, "the thread %llu", replay_there(o, "pid"));
	else
		snprintf(text, size, "the core of policy %llu on CPU %llu",
			 replay_policy_id(o->policy), o->cpu);
	return text;
}

bool replay_compare(struct replay_object *o, bool own_only, char *text, size_t size)
{
	char name[64];
	unsigned int i;

	for (i = 0; o->here && i < replay_nr_fields[o->kind]; i++) {
		const struct replay_member *m = replay_fields[o->kind][i].member;
		u64 here, there;

		if (!m || (m->whose != OWN && (own_only || m->whose != BOTH)))
			continue;
		here = replay_here(m, o->here);
		there = replay_translate(m, o, i, o->values[i]);
		/* A policy's pointer may be anything here. */
		if (here == there || (m->how == HOW_POINTED && there >> 47))
			continue;
		snprintf(text, size, "%s of %s: %lld in the kernel, %lld here", m->name,
			 replay_object_name(o, name, sizeof(name)), there, here);
		return false;
	}
	return true;
}

static void show_value(const struct replay_member *m, u64 value, char *text, size_t size)
{
	if (m->how == HOW_TASK)
		snprintf(text, size, "%d", value ? ((struct task_struct *)value)->pid : -1);
	else if (m->how == HOW_CLASS)
		snprintf(text, size, "%ld",
			 (long)((struct sched_class *)value - __sched_class_highest));
	else
		snprintf(text, size, "%lld", value);
}

void replay_show(struct replay_object *o)
{
	char name[64], here[32], there[32];
	unsigned int i;

	pr_err("%s:\n", replay_object_name(o, name, sizeof(name)));
	for (i = 0; o->here && i < replay_nr_fields[o->kind]; i++) {
		const struct replay_member *m = replay_fields[o->kind][i].member;

		if (!m || m->whose == NEITHER || m->how == HOW_NOTHING)
			continue;
		show_value(m, replay_translate(m, o, i, o->values[i]), there, sizeof(there));
		show_value(m, replay_here(m, o->here), here, sizeof(here));
		pr_err("  %-18s %20s in the kernel %20s here%s\n", m->name, there, here,
		       strcmp(here, there) ? " <-" : "");
	}
}
