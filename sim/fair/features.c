// SPDX-License-Identifier: GPL-2.0
/*
 * Features of fair's, which are parameters of the policy under the same names. The recorder's guest
 * changes them one after the other: when bits of the kernel's variable change, the next ones have.
 */
#include "fair.h"

#define MOST_FEATURES	32

static struct {
	char name[64], parameter[64], value[32];
} features[MOST_FEATURES];
static unsigned int nr_features, nr_changed;
static bool known;
static u64 last;

void fair_read_feature(const char *line)
{
	if (nr_features == MOST_FEATURES ||
	    sscanf(line, "feature %63s %63s %31s", features[nr_features].name,
		   features[nr_features].parameter, features[nr_features].value) != 3)
		sim_bad_input(sim_options.program_name, 0, "it has a feature that is none: %s", line);
	nr_features++;
}

static void change(unsigned int i)
{
	const char *module = module_name(fair_policy_here->own->owner);
	int error = machine_set_param(module, features[i].parameter, features[i].value);

	if (error)
		sim_bad_input(sim_options.program_name, 0,
			      "%s: policy %s does not take %s=%s: %pe", features[i].name,
			      fair_policy_here->own->name, features[i].parameter,
			      features[i].value, ERR_PTR(error));
}

/*
 * It grows while the kernel's CPUs come online; here all are from the beginning. A policy that has no
 * such parameter has a slice of its own.
 */
static void change_base_slice(u64 ns)
{
	static u64 before;
	char value[32];
	int error;

	if (ns == before)
		return;
	before = ns;
	snprintf(value, sizeof(value), "%llu", ns);
	error = machine_set_param(module_name(fair_policy_here->own->owner), "base_slice_ns", value);
	if (error && error != -ENOENT)
		sim_bad_input(sim_options.program_name, 0, "policy %s does not take base_slice_ns=%s",
			      fair_policy_here->own->name, value);
}

void fair_variable_changed(void)
{
	u64 now = fair_variable("sysctl_sched_features");
	unsigned int bits;

	change_base_slice(fair_variable("sysctl_sched_base_slice"));

	for (bits = known ? hweight64(now ^ last) : 0; bits && nr_changed < nr_features; bits--)
		change(nr_changed++);
	known |= now != 0;
	last = now;
}
