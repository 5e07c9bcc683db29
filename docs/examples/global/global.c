// SPDX-License-Identifier: GPL-2.0
/*
 * global: one queue for all CPUs, first come, first served. A thread starts and wakes on
 * an idle CPU near its last one; a CPU that has nothing to do takes whoever waits longest.
 * The slice is that of sched_ext's default, which this is like.
 */
#include <linux/saakm.h>

static int global_init(struct saakm_policy *policy)
{
	return saakm_share_queue(policy, cpu_possible_mask);
}

SAAKM_POLICY(global, .init = global_init, .slice_us = 20000);
