/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers of threads: one namespace. Stands for linux/pid.h. */
#ifndef _LINUX_PID_H
#define _LINUX_PID_H

#include <linux/atomic.h>
#include <linux/wait.h>

struct pid_namespace;
struct task_struct;

enum pid_type {
	PIDTYPE_PID,
	PIDTYPE_TGID,
	PIDTYPE_MAX,
};

/* As long as somebody holds it, the number is not given to another thread. */
struct pid {
	refcount_t		count;
	pid_t			nr;
	struct task_struct	*task;		/* NULL: it has died */
};

struct pid *find_get_pid(pid_t nr);
/* Under RCU, all three: */
struct pid *find_vpid(pid_t nr);
struct pid *find_pid_ns(int nr, struct pid_namespace *namespace);
struct task_struct *pid_task(struct pid *pid, enum pid_type type);
/* With a reference, or NULL */
struct task_struct *get_pid_task(struct pid *pid, enum pid_type type);
struct pid *get_task_pid(struct task_struct *p, enum pid_type type);
void put_pid(struct pid *pid);

static inline struct pid *get_pid(struct pid *pid)
{
	if (pid)
		refcount_inc(&pid->count);
	return pid;
}

static inline pid_t pid_nr(const struct pid *pid)
{
	return pid ? pid->nr : 0;
}

#endif /* _LINUX_PID_H */
