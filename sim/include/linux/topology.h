/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which CPUs share what: by the options smt=, llc=, node=. Stands for linux/topology.h,
 * sched/smt.h; how policies see it is made of the scheduling domains.
 */
#ifndef _LINUX_TOPOLOGY_H
#define _LINUX_TOPOLOGY_H

#include <linux/cpumask.h>

const struct cpumask *cpu_smt_mask(int cpu);
const struct cpumask *cpumask_of_node(int node);
int cpu_to_node(int cpu);

#define topology_sibling_cpumask(cpu)	cpu_smt_mask(cpu)

/* Some cores have several hardware threads. */
bool sched_smt_active(void);

#endif /* _LINUX_TOPOLOGY_H */
