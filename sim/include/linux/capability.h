/* SPDX-License-Identifier: GPL-2.0 */
/* May the current thread? Stands for linux/capability.h. */
#ifndef _LINUX_CAPABILITY_H
#define _LINUX_CAPABILITY_H

#include <linux/types.h>

#define CAP_SYS_ADMIN	21
#define CAP_SYS_NICE	23

bool capable(int cap);

#endif /* _LINUX_CAPABILITY_H */
