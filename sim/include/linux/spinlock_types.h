/* SPDX-License-Identifier: GPL-2.0 */
/* The locks of linux/spinlock.h. Zeroed memory is a free one. */
#ifndef _LINUX_SPINLOCK_TYPES_H
#define _LINUX_SPINLOCK_TYPES_H

#include <linux/types.h>
#include <sim/host.h>

typedef struct raw_spinlock {
	unsigned int		holder;		/* number of its CPU + 1; 0: free */
	struct sim_waiters	waiters;
} raw_spinlock_t;

typedef struct spinlock {
	raw_spinlock_t		rlock;
} spinlock_t;

#define __RAW_SPIN_LOCK_UNLOCKED(name)	(raw_spinlock_t){ .holder = 0 }
#define __SPIN_LOCK_UNLOCKED(name)	(spinlock_t){ .rlock = { .holder = 0 } }
#define DEFINE_RAW_SPINLOCK(name)	raw_spinlock_t name = { .holder = 0 }
#define DEFINE_SPINLOCK(name)		spinlock_t name = { .rlock = { .holder = 0 } }

#endif /* _LINUX_SPINLOCK_TYPES_H */
