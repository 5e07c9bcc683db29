/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Locks that sleep: mutex, rwsem, percpu-rwsem. Stands for linux/mutex.h, rwsem.h and percpu-
 * rwsem.h. Who waits gives its CPU to others, in order of arrival; nobody spins for the owner.
 */
#ifndef _LINUX_MUTEX_H
#define _LINUX_MUTEX_H

#include <linux/cleanup.h>
#include <linux/lockdep.h>
#include <linux/wait.h>

struct mutex {
	struct task_struct	*owner;
	wait_queue_head_t	wait;
};

#define __MUTEX_INITIALIZER(name)	{ .wait = __WAIT_QUEUE_HEAD_INITIALIZER((name).wait) }
#define DEFINE_MUTEX(name)		struct mutex name = __MUTEX_INITIALIZER(name)
#define mutex_init(lock)		__mutex_init(lock)

void __mutex_init(struct mutex *lock);
void mutex_lock(struct mutex *lock);
int __must_check mutex_lock_interruptible(struct mutex *lock);
int __must_check mutex_lock_killable(struct mutex *lock);
int mutex_trylock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);

struct rw_semaphore {
	unsigned int		readers;
	struct task_struct	*writer;
	unsigned int		writers_waiting;	/* new readers queue behind */
	wait_queue_head_t	wait;
};

#define __RWSEM_INITIALIZER(name)	{ .wait = __WAIT_QUEUE_HEAD_INITIALIZER((name).wait) }
#define DECLARE_RWSEM(name)		struct rw_semaphore name = __RWSEM_INITIALIZER(name)

void init_rwsem(struct rw_semaphore *sem);
void down_read(struct rw_semaphore *sem);
int down_read_trylock(struct rw_semaphore *sem);
void up_read(struct rw_semaphore *sem);
void down_write(struct rw_semaphore *sem);
int __must_check down_write_killable(struct rw_semaphore *sem);
int down_write_trylock(struct rw_semaphore *sem);
void up_write(struct rw_semaphore *sem);

/* The same; that readers cost little in the kernel makes no difference here. */
struct percpu_rw_semaphore {
	struct rw_semaphore	rwsem;
};

#define __PERCPU_RWSEM_INITIALIZER(name) { .rwsem = __RWSEM_INITIALIZER((name).rwsem) }
#define DEFINE_PERCPU_RWSEM(name) \
	struct percpu_rw_semaphore name = __PERCPU_RWSEM_INITIALIZER(name)
#define DEFINE_STATIC_PERCPU_RWSEM(name)	static DEFINE_PERCPU_RWSEM(name)
#define percpu_down_read(sem)			down_read(&(sem)->rwsem)
#define percpu_down_read_trylock(sem)		down_read_trylock(&(sem)->rwsem)
#define percpu_up_read(sem)			up_read(&(sem)->rwsem)
#define percpu_down_write(sem)			down_write(&(sem)->rwsem)
#define percpu_up_write(sem)			up_write(&(sem)->rwsem)

DEFINE_GUARD(mutex, struct mutex *, mutex_lock(_T), mutex_unlock(_T))
DEFINE_GUARD(rwsem_read, struct rw_semaphore *, down_read(_T), up_read(_T))
DEFINE_GUARD(rwsem_write, struct rw_semaphore *, down_write(_T), up_write(_T))
DEFINE_GUARD(percpu_read, struct percpu_rw_semaphore *, percpu_down_read(_T), percpu_up_read(_T))
DEFINE_GUARD(percpu_write, struct percpu_rw_semaphore *, percpu_down_write(_T),
	     percpu_up_write(_T))

#endif /* _LINUX_MUTEX_H */
