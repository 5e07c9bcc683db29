// SPDX-License-Identifier: GPL-2.0
/* weigher: a FIFO that remembers the last weight of a cgroup that it was told. */
#include <linux/saakm.h>

static unsigned int last_weight;
module_param_named(weight, last_weight, uint, 0444);
static ulong last_cgroup;
module_param_named(cgroup, last_cgroup, ulong, 0444);

static void weigher_cgroup_weight(struct saakm_policy *policy, u64 cgroup, unsigned int weight)
{
	last_cgroup = cgroup;
	last_weight = weight;
}

SAAKM_POLICY(weigher, .cgroup_weight = weigher_cgroup_weight);
