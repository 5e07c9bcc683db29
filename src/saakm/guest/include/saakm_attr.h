/* SPDX-License-Identifier: GPL-2.0 */
/* struct sched_attr with the members for SaaKM: the libc's header has none for us yet. */
#ifndef SAAKM_ATTR_H
#define SAAKM_ATTR_H

#include <stdint.h>

#define SCHED_SAAKM 8

struct saakm_attr {
	uint32_t size;
	uint32_t sched_policy;
	uint64_t sched_flags;
	int32_t sched_nice;
	uint32_t sched_priority;
	uint64_t sched_runtime;
	uint64_t sched_deadline;
	uint64_t sched_period;
	uint32_t sched_util_min;
	uint32_t sched_util_max;
	uint32_t sched_saakm_policy;
	uint32_t sched_saakm_param;
};

#endif /* SAAKM_ATTR_H */
