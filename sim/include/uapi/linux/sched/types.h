/* SPDX-License-Identifier: GPL-2.0 */
/* What sched_setattr(2) is told. Stands for uapi/linux/sched/types.h, with SaaKM's two fields. */
#ifndef _UAPI_LINUX_SCHED_TYPES_H
#define _UAPI_LINUX_SCHED_TYPES_H

#include <linux/types.h>

#define SCHED_ATTR_SIZE_VER0	48
#define SCHED_ATTR_SIZE_VER1	56	/* utilisation hints */
#define SCHED_ATTR_SIZE_VER2	64	/* SaaKM */

struct sched_param {
	int	sched_priority;
};

struct sched_attr {
	__u32	size;
	__u32	sched_policy;
	__u64	sched_flags;
	__s32	sched_nice;
	__u32	sched_priority;
	__u64	sched_runtime;
	__u64	sched_deadline;
	__u64	sched_period;
	__u32	sched_util_min;
	__u32	sched_util_max;
	__u32	sched_saakm_policy;
	__u32	sched_saakm_param;
};

#endif /* _UAPI_LINUX_SCHED_TYPES_H */
