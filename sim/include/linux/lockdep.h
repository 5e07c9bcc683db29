/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Is a lock held? Stands for linux/lockdep.h, of which the assertions are always on; orders of
 * locks are not learned. "By whom": by this CPU for a spinlock, by anybody for those that sleep.
 */
#ifndef _LINUX_LOCKDEP_H
#define _LINUX_LOCKDEP_H

#include <linux/bug.h>
#include <linux/spinlock_types.h>
#include <sim/host.h>

struct mutex;
struct percpu_rw_semaphore;
struct rw_semaphore;

bool mutex_is_locked(struct mutex *lock);
bool percpu_rwsem_is_held(struct percpu_rw_semaphore *sem);
int rwsem_is_locked(struct rw_semaphore *sem);

static __always_inline bool __sim_raw_spin_held(const raw_spinlock_t *lock)
{
	return (int)lock->holder == sim_context.cpu + 1;
}

static inline bool __sim_spin_held(const spinlock_t *lock)
{
	return __sim_raw_spin_held(&lock->rlock);
}

#define lockdep_is_held(lock) _Generic((lock),				\
	raw_spinlock_t *: __sim_raw_spin_held,				\
	const raw_spinlock_t *: __sim_raw_spin_held,			\
	spinlock_t *: __sim_spin_held,					\
	struct percpu_rw_semaphore *: percpu_rwsem_is_held,		\
	struct rw_semaphore *: rwsem_is_locked,				\
	struct mutex *: mutex_is_locked)(lock)

#define lockdep_assert(condition)		((void)WARN_ON_ONCE(!(condition)))
#define lockdep_assert_held(lock)		lockdep_assert(lockdep_is_held(lock))
#define lockdep_assert_irqs_disabled()		lockdep_assert(sim_context.irqs_off)
#define lockdep_assert_irqs_enabled()		lockdep_assert(!sim_context.irqs_off)
#define lockdep_assert_preemption_disabled() \
	lockdep_assert(sim_context.preempt || sim_context.irqs_off)

struct lock_class_key { };
struct pin_cookie { };

#endif /* _LINUX_LOCKDEP_H */
