// SPDX-License-Identifier: GPL-2.0
/*
 * What threads of a workload do to the machine, as root: its CPUs, modules and cgroups; and what
 * only code in the kernel does, or a hypervisor.
 */
#include "load.h"
#include "machine.h"
#include "policies.h"

/* ---- cgroups ---- */

static struct task_group **cgroups;	/* number 0: the root */

static void make_cgroup(const struct program_array *array, u32 i)
{
	struct task_group *parent = cgroups[array->parent + i % array->parents];

	cgroups[array->first + i] = model_group_new(array->name, parent);
	model_group_weight(cgroups[array->first + i], array->size);
}

void load_machine_init(void)
{
	unsigned int i, j;

	cgroups = sim_alloc(load_program->nr_objects[PROGRAM_CGROUP] * sizeof(*cgroups));
	cgroups[0] = &root_task_group;
	for (i = 0; i < load_program->nr_arrays; i++)
		for (j = 0; load_program->arrays[i].kind == PROGRAM_CGROUP &&
		     j < load_program->arrays[i].count; j++)
			make_cgroup(&load_program->arrays[i], j);
}

void load_set_cgroup(struct model_thread *t, struct task_struct *p, u32 number)
{
	int error = model_group_attach(cgroups[number], p);

	if (error)
		account_refused(t->group, "set_cgroup", error);
}

/* A policy's name; false: there is none, as @policy is none of those that are loaded. */
static bool name_of(struct model_thread *t, struct program_policy policy, char *name)
{
	u32 id = load_policy_id(t, policy);

	strscpy(name, id ? policies_name(id) : "", PROGRAM_NAME_SIZE);
	return id;
}

enum load_next load_cgroup(struct model_thread *t)
{
	const struct program_op *op = t->op;
	struct task_group *group = cgroups[load_resolve(t, op->ref, op->indexed)];
	struct program_policy policy = { .kind = op->b, .name = op->a };
	char name[PROGRAM_NAME_SIZE] = "none";
	int error = 0;

	if (group == &root_task_group)
		load_fault(t, "changes the root cgroup, which has neither a weight nor a policy");
	load_advance(t);
	if (op->code == OP_CGROUP_WEIGHT)
		error = model_group_weight(group, (u32)op->a);
	else if (policy.kind == PROGRAM_NONE || name_of(t, policy, name))
		error = model_group_policy(group, name);
	if (error)
		account_refused(t->group, op->code == OP_CGROUP_WEIGHT ? "cgroup_weight" :
				"cgroup_policy", error);
	return LOAD_ON;
}

/* ---- CPUs ---- */

static u32 this_cpu_number(const struct model_thread *t)
{
	u64 cpu = load_sum(t, t->op->ref);

	if (cpu >= nr_cpu_ids)
		load_fault(t, "names CPU %llu: the machine has %u, from 0 on", cpu, nr_cpu_ids);
	return (u32)cpu;
}

enum load_next load_hotplug(struct model_thread *t)
{
	u32 cpu = this_cpu_number(t);
	bool down = t->op->code == OP_CPU_OFFLINE;
	int error;

	if (t->flags & LOAD_PINNED)
		load_fault(t, "has migration disabled: a CPU that goes offline would wait for it");
	error = down ? model_cpu_down(cpu) : model_cpu_up(cpu);
	if (error == -EBUSY)
		load_fault(t, "takes CPU %u offline, which is the last one that is online", cpu);
	if (error)
		account_refused(t->group, down ? "cpu_offline" : "cpu_online", error);
	return load_advance(t);
}

struct theft {
	struct sim_event	event;
	u64			ns;
};

/*
 * The CPU is busy for so long, and nobody is charged for it: steal_account_process_time() of a
 * paravirtual clock. Interrupts that come meanwhile are taken at once.
 */
static void take_away(struct sim_event *event)
{
	struct theft *theft = container_of(event, struct theft, event);
	struct rq *rq;

	model_irq_enter();
	rq = model_rq();
	model_steal(rq, theft->ns);
	if (rq->curr != rq->idle)
		rq->charged_ns += theft->ns;
	sim_free(theft);
	model_irq_exit();
}

enum load_next load_steal(struct model_thread *t)
{
	u32 cpu = this_cpu_number(t);
	u64 ns = load_random_time(&t->random, t->op);
	struct theft *theft;

	load_advance(t);
	if (!ns || !cpu_online(cpu))
		return LOAD_ON;
	theft = sim_alloc(sizeof(*theft));
	theft->ns = ns;
	sim_event_init(&theft->event, take_away, cpu);
	sim_event_set(&theft->event, sim_now);
	return LOAD_ON;
}

/* ---- modules ---- */

static int reload(u32 id)
{
	char name[MODULE_NAME_LEN];
	int error;

	if (!policies_module(id, name, sizeof(name)))
		return -ENOENT;
	policies_check();
	error = machine_unload(name);
	if (error)
		return error;
	error = machine_reload(name);
	load_policies_changed();
	return error;
}

enum load_next load_module(struct model_thread *t)
{
	const struct program_op *op = t->op;
	struct program_policy policy = { op->b, op->a, op->ref };
	u32 id = load_policy_id(t, policy);
	const char *name = policies_name(id);
	long error = -ESRCH;

	if (id)
		error = op->code == OP_RELOAD ? reload(id) :
			machine_file_write("eject", name, strlen(name));
	if (error < 0)
		account_refused(t->group, op->code == OP_RELOAD ? "reload" : "eject", error);
	return load_advance(t);
}

/* ---- code in the kernel ---- */

enum load_next load_migration(struct model_thread *t)
{
	bool disable = t->op->code == OP_MIGRATE_DISABLE;

	if (disable == !!(t->flags & LOAD_PINNED))
		load_fault(t, disable ? "disables migration, which it has disabled" :
			   "enables migration, which it has not disabled");
	load_advance(t);
	t->flags ^= LOAD_PINNED;
	if (disable)
		migrate_disable();
	else
		migrate_enable();
	return LOAD_ON;
}
