/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cgroups: the cpu controller alone, of which each group is a struct task_group. Stands for
 * linux/cgroup*.h and kernfs.h. The groups and their threads are the core's: sim/core/group.c.
 */
#ifndef _LINUX_CGROUP_H
#define _LINUX_CGROUP_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/rculist.h>

/* In the kernel these come with it, or with what is included beside it. */
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/interrupt.h>
#include <linux/topology.h>
#include <linux/uaccess.h>

struct cgroup;
struct task_struct;

#define CGROUP_WEIGHT_MIN	1
#define CGROUP_WEIGHT_DFL	100
#define CGROUP_WEIGHT_MAX	10000

enum cgroup_subsys_id {
	cpu_cgrp_id,
	CGROUP_SUBSYS_COUNT,
};

struct cgroup_subsys_state {
	struct cgroup			*cgroup;
	struct cgroup_subsys_state	*parent;	/* NULL: the root */
	struct list_head		sibling;
	struct list_head		children;
	refcount_t			refs;		/* 1 of them while it is online */
};

struct cgroup {
	struct cgroup_subsys_state	*cpu;		/* of the cpu controller */
	u64				id;
	char				name[64];
};

static inline u64 cgroup_id(const struct cgroup *cgroup)
{
	return cgroup->id;
}

/* Under RCU: the group of @p. */
struct cgroup_subsys_state *task_css(struct task_struct *p, int id);
bool css_tryget_online(struct cgroup_subsys_state *css);
void css_get(struct cgroup_subsys_state *css);
void css_put(struct cgroup_subsys_state *css);

/* @root and all below it, parents before their children. Under RCU; NULL: from @root on. */
struct cgroup_subsys_state *css_next_descendant_pre(struct cgroup_subsys_state *pos,
						    struct cgroup_subsys_state *root);
#define css_for_each_descendant_pre(pos, css)					\
	for ((pos) = css_next_descendant_pre(NULL, (css)); (pos);		\
	     (pos) = css_next_descendant_pre((pos), (css)))

/* The threads of a group. Each is held until the next one is asked for. May sleep in between. */
struct css_task_iter {
	struct cgroup_subsys_state	*css;
	struct task_struct		*task;
	struct list_head		*next;		/* in the group's list of threads */
};

void css_task_iter_start(struct cgroup_subsys_state *css, unsigned int flags,
			 struct css_task_iter *it);
struct task_struct *css_task_iter_next(struct css_task_iter *it);
void css_task_iter_end(struct css_task_iter *it);

/* A file of a group that is open */
struct kernfs_open_file {
	struct cgroup_subsys_state	*css;
};

static inline struct cgroup_subsys_state *of_css(struct kernfs_open_file *of)
{
	return of->css;
}

static inline struct cgroup_subsys_state *seq_css(struct seq_file *m)
{
	return of_css(m->private);
}

#endif /* _LINUX_CGROUP_H */
