/* SPDX-License-Identifier: GPL-2.0 */
/* What struct saakm_policy embeds of the class's own. */
#ifndef _LINUX_SAAKM_PRIVATE_H
#define _LINUX_SAAKM_PRIVATE_H

#include <linux/llist.h>
#include <linux/saakm_types.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

/* The end of a policy, see eject.c */
struct saakm_exit {
	atomic_t		claimed;
	enum saakm_exit_kind	kind;
	bool			queued;		/* work; under saakm_mutex */
	bool			done;		/* its threads have left */
	u8			handler;
	int			cpu;
	pid_t			pid;
	char			comm[TASK_COMM_LEN];
	u64			time_ns;	/* of the kernel log */
	char			reason[256];
	char			*dump;		/* JSON */
	struct llist_head	data;		/* of its threads, until it is dumped */
	struct work_struct	work;		/* the rest, in process context */
};

#endif /* _LINUX_SAAKM_PRIVATE_H */
