// SPDX-License-Identifier: GPL-2.0
/* The policies that a program names. */
#include "load.h"
#include "policies.h"

static u32 main_id;
static const char *main_name;
static u32 *ids;		/* of program.policies */

static bool says(const struct program_op *op, unsigned int name, bool is_main)
{
	unsigned int ref = op->code == OP_CGROUP_POLICY ? (unsigned int)op->a : op->ref;

	if (op->code != OP_SET_POLICY && op->code != OP_EJECT && op->code != OP_RELOAD &&
	    op->code != OP_CGROUP_POLICY)
		return false;
	return is_main ? op->b == PROGRAM_MAIN : op->b == PROGRAM_SAAKM && ref == name;
}

/* Where a program says so first. */
static unsigned int line_of(unsigned int name, bool is_main)
{
	const struct program *program = load_program;
	unsigned int i;

	for (i = 0; i < program->nr_groups; i++) {
		const struct program_policy *policy = &program->groups[i].policy;

		if (is_main ? policy->kind == PROGRAM_MAIN :
		    policy->kind == PROGRAM_SAAKM && policy->name == name)
			return program->groups[i].line;
	}
	for (i = 0; i < program->nr_ops; i++)
		if (says(&program->ops[i], name, is_main))
			return program->ops[i].line;
	return 0;
}

void load_policies_init(void)
{
	const struct program *program = load_program;
	unsigned int i;

	policies_check();
	main_id = policies_id(NULL);
	if (!main_id && line_of(0, true))
		sim_bad_input(program->file, line_of(0, true),
			      "'main' is the first policy that is loaded, and none is");
	main_name = main_id ? policies_name(main_id) : NULL;
	ids = sim_alloc(program->nr_policies * sizeof(*ids));
	for (i = 0; i < program->nr_policies; i++) {
		ids[i] = policies_id(program->policies[i]);
		if (!ids[i])
			sim_bad_input(program->file, line_of(i, false),
				      "no policy is loaded that is called '%s'",
				      program->policies[i]);
	}
}

/* What comes again under its name has another id. */
void load_policies_changed(void)
{
	unsigned int i;

	policies_check();
	main_id = main_name ? policies_id(main_name) : 0;
	for (i = 0; i < load_program->nr_policies; i++)
		ids[i] = policies_id(load_program->policies[i]);
}

static u32 any_id(struct model_thread *t)
{
	u32 count = policies_count();

	return count ? policies_nth((u32)load_random_below(&t->random, count)) : 0;
}

u32 load_policy_id(struct model_thread *t, struct program_policy policy)
{
	switch (policy.kind) {
	case PROGRAM_MAIN:
		return main_id;
	case PROGRAM_SAAKM:
		return ids[policy.name];
	case PROGRAM_ANY:
		return any_id(t);
	default:
		return 0;
	}
}

const char *load_policy_name(struct program_policy policy, char *buf)
{
	switch (policy.kind) {
	case PROGRAM_MAIN:
		return main_name;
	case PROGRAM_SAAKM:
		return load_program->policies[policy.name];
	case PROGRAM_FAIR:
		return "fair";
	case PROGRAM_BATCH:
		return "batch";
	case PROGRAM_IDLE:
		return "idle";
	default:
		snprintf(buf, PROGRAM_NAME_SIZE, "%s:%u",
			 policy.kind == PROGRAM_FIFO ? "rt" : "rr", policy.priority);
		return buf;
	}
}
