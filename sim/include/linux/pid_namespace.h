/* SPDX-License-Identifier: GPL-2.0 */
/* The one namespace that there is. Stands for linux/pid_namespace.h. */
#ifndef _LINUX_PID_NAMESPACE_H
#define _LINUX_PID_NAMESPACE_H

struct pid_namespace {
	char	unused;
};

extern struct pid_namespace init_pid_ns;

#endif /* _LINUX_PID_NAMESPACE_H */
