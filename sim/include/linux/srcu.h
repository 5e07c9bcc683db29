/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RCU whose readers may sleep. Stands for linux/srcu.h. Two sets of readers, as there: a grace
 * period waits for those who came before it, not for later ones.
 */
#ifndef _LINUX_SRCU_H
#define _LINUX_SRCU_H

#include <linux/cleanup.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>

struct srcu_struct {
	unsigned int		index;		/* that new readers take */
	unsigned int		readers[2];
	struct mutex		grace;		/* one period after the other */
	wait_queue_head_t	wait;
};

#define __SRCU_STRUCT_INIT(name) {					\
	.grace = __MUTEX_INITIALIZER((name).grace),			\
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER((name).wait),		\
}
#define DEFINE_SRCU(name)		struct srcu_struct name = __SRCU_STRUCT_INIT(name)
#define DEFINE_STATIC_SRCU(name)	static DEFINE_SRCU(name)

int init_srcu_struct(struct srcu_struct *srcu);
void cleanup_srcu_struct(struct srcu_struct *srcu);
void synchronize_srcu(struct srcu_struct *srcu);

/* The last reader of a set has left, and somebody waits for that. */
void sim_srcu_quiet(struct srcu_struct *srcu);

static inline int srcu_read_lock(struct srcu_struct *srcu)
{
	int index = srcu->index;

	srcu->readers[index]++;
	return index;
}

static inline void srcu_read_unlock(struct srcu_struct *srcu, int index)
{
	WARN_ON_ONCE(!srcu->readers[index]);
	if (!--srcu->readers[index] && unlikely(waitqueue_active(&srcu->wait)))
		sim_srcu_quiet(srcu);
}

/* By anybody */
static inline int srcu_read_lock_held(const struct srcu_struct *srcu)
{
	return srcu->readers[0] || srcu->readers[1];
}

DEFINE_LOCK_GUARD_1(srcu, struct srcu_struct, _T->index = srcu_read_lock(_T->lock),
		    srcu_read_unlock(_T->lock, _T->index), int index)

#endif /* _LINUX_SRCU_H */
