/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spinlocks. Stands for linux/spinlock*.h. A free lock is taken and released inline; whoever finds
 * it held waits as a strand, occupying its CPU, until the holder's CPU has released it. To take a
 * lock that this CPU holds, or release one that it does not, ends the run. Each operation is a
 * place where the option interleave= may let others run first: before a lock is taken, and after
 * its release.
 */
#ifndef _LINUX_SPINLOCK_H
#define _LINUX_SPINLOCK_H

#include <linux/cleanup.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/spinlock_types.h>

/* Waits until @lock is free, and takes it for this CPU. */
void sim_spin_contended(raw_spinlock_t *lock);
/* It is held by another CPU than this, or not at all. */
__cold __noreturn void sim_spin_not_held(raw_spinlock_t *lock);

static __always_inline void __sim_spin_take(raw_spinlock_t *lock)
{
	if (unlikely(lock->holder))
		sim_spin_contended(lock);
	else
		lock->holder = sim_context.cpu + 1;
	sim_context.locks++;
	barrier();
}

static __always_inline void raw_spin_lock(raw_spinlock_t *lock)
{
	sim_interleave();
	preempt_disable();
	__sim_spin_take(lock);
}

/* Interrupts have been turned off, and others may have run before that. */
static __always_inline void __sim_spin_lock_irqs_off(raw_spinlock_t *lock)
{
	preempt_disable();
	__sim_spin_take(lock);
}

static __always_inline bool raw_spin_trylock(raw_spinlock_t *lock)
{
	sim_interleave();
	if (lock->holder)
		return false;
	preempt_disable();
	__sim_spin_take(lock);
	return true;
}

static __always_inline void __sim_spin_release(raw_spinlock_t *lock)
{
	barrier();
	if (unlikely((int)lock->holder != sim_context.cpu + 1))
		sim_spin_not_held(lock);
	lock->holder = 0;
	if (unlikely(lock->waiters.last))
		sim_wake_one(&lock->waiters);
	sim_context.locks--;
	preempt_enable();
}

static __always_inline void raw_spin_unlock(raw_spinlock_t *lock)
{
	__sim_spin_release(lock);
	sim_interleave();
}

static __always_inline void raw_spin_unlock_irqrestore(raw_spinlock_t *lock, unsigned long flags)
{
	__sim_spin_release(lock);
	local_irq_restore(flags);
	sim_interleave();
}

#define raw_spin_lock_irqsave(lock, flags) do {					\
	sim_interleave();							\
	local_irq_save(flags);							\
	__sim_spin_lock_irqs_off(lock);						\
} while (0)
#define raw_spin_lock_irq(lock) do {						\
	sim_interleave();							\
	local_irq_disable();							\
	__sim_spin_lock_irqs_off(lock);						\
} while (0)
#define raw_spin_unlock_irq(lock)	raw_spin_unlock_irqrestore(lock, 0)
#define raw_spin_lock_nested(lock, subclass)	raw_spin_lock(lock)
#define raw_spin_lock_bh(lock)		({ local_bh_disable(); raw_spin_lock(lock); })
#define raw_spin_unlock_bh(lock)	({ raw_spin_unlock(lock); local_bh_enable(); })
#define raw_spin_lock_init(lock)	((void)(*(lock) = (raw_spinlock_t){ }))

static __always_inline bool raw_spin_is_locked(const raw_spinlock_t *lock)
{
	return READ_ONCE(lock->holder) != 0;
}

/* Sleeping locks of PREEMPT_RT apart, which is not modelled, these are the same. */
#define spin_lock_init(lock)		raw_spin_lock_init(&(lock)->rlock)
#define spin_lock(lock)			raw_spin_lock(&(lock)->rlock)
#define spin_trylock(lock)		raw_spin_trylock(&(lock)->rlock)
#define spin_unlock(lock)		raw_spin_unlock(&(lock)->rlock)
#define spin_lock_irq(lock)		raw_spin_lock_irq(&(lock)->rlock)
#define spin_unlock_irq(lock)		raw_spin_unlock_irq(&(lock)->rlock)
#define spin_lock_irqsave(lock, flags)	raw_spin_lock_irqsave(&(lock)->rlock, flags)
#define spin_unlock_irqrestore(lock, flags) raw_spin_unlock_irqrestore(&(lock)->rlock, flags)
#define spin_lock_bh(lock)		raw_spin_lock_bh(&(lock)->rlock)
#define spin_unlock_bh(lock)		raw_spin_unlock_bh(&(lock)->rlock)
#define spin_is_locked(lock)		raw_spin_is_locked(&(lock)->rlock)

DEFINE_LOCK_GUARD_1(raw_spinlock, raw_spinlock_t, raw_spin_lock(_T->lock),
		    raw_spin_unlock(_T->lock))
DEFINE_LOCK_GUARD_1(raw_spinlock_irq, raw_spinlock_t, raw_spin_lock_irq(_T->lock),
		    raw_spin_unlock_irq(_T->lock))
DEFINE_LOCK_GUARD_1(raw_spinlock_irqsave, raw_spinlock_t,
		    raw_spin_lock_irqsave(_T->lock, _T->flags),
		    raw_spin_unlock_irqrestore(_T->lock, _T->flags), unsigned long flags)
DEFINE_LOCK_GUARD_1(spinlock, spinlock_t, spin_lock(_T->lock), spin_unlock(_T->lock))
DEFINE_LOCK_GUARD_1(spinlock_irq, spinlock_t, spin_lock_irq(_T->lock), spin_unlock_irq(_T->lock))
DEFINE_LOCK_GUARD_1(spinlock_irqsave, spinlock_t, spin_lock_irqsave(_T->lock, _T->flags),
		    spin_unlock_irqrestore(_T->lock, _T->flags), unsigned long flags)

#endif /* _LINUX_SPINLOCK_H */
