/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Part of <linux/sched.h> here, but for signals: agents alone get any, and none that is fatal.
 */
#ifndef _LINUX_SCHED_SIGNAL_H
#define _LINUX_SCHED_SIGNAL_H

#include <linux/sched.h>

static inline int __fatal_signal_pending(const struct task_struct *p)
{
	(void)p;
	return 0;
}

#endif /* _LINUX_SCHED_SIGNAL_H */
