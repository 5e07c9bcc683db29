// SPDX-License-Identifier: GPL-2.0
/*
 * Locks that somebody else holds: spinlocks, mutexes, rwsems. See <linux/spinlock.h>,
 * <linux/mutex.h>.
 */
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "machine.h"

/* Which spinlock a CPU waits for: for deadlocks. */
static DEFINE_PER_CPU(raw_spinlock_t *, waits_for);

/* Name of a lock, as far as variables have one. */
static const char *lock_name(const void *lock, char *buf, size_t size)
{
	unsigned long offset = 0;
	int cpu;
	const void *template = sim_percpu_template(lock, &cpu);
	const char *name = sim_symbol(template ?: lock, &offset);

	if (!name)
		return "a spinlock";
	if (template)
		snprintf(buf, size, "the spinlock in %s of CPU %d", name, cpu);
	else
		snprintf(buf, size, "the spinlock in %s", name);
	return buf;
}

/* Does the holder wait, by way of others, for this CPU? */
static void check_deadlock(raw_spinlock_t *lock)
{
	const raw_spinlock_t *next = lock;
	int cpu = sim_context.cpu, steps;
	char buf[96];
	const char *name;

	for (steps = 0; next && next->holder && steps <= nr_cpu_ids; steps++) {
		if (next->holder - 1 != cpu) {
			next = per_cpu(waits_for, next->holder - 1);
			continue;
		}
		name = lock_name(lock, buf, sizeof(buf));
		if (!steps)
			panic("deadlock: CPU %d takes %s, which it holds", cpu, name);
		panic("deadlock: CPU %d waits for %s, whose holder waits for a lock of CPU %d",
		      cpu, name, cpu);
	}
}

void sim_spin_contended(raw_spinlock_t *lock)
{
	raw_spinlock_t *outer = raw_cpu_read(waits_for);

	while (lock->holder) {
		check_deadlock(lock);
		raw_cpu_write(waits_for, lock);
		sim_wait(&lock->waiters, "a spinlock");
		raw_cpu_write(waits_for, outer);
	}
	lock->holder = sim_context.cpu + 1;
}

void sim_spin_not_held(raw_spinlock_t *lock)
{
	char name[96];

	lock_name(lock, name, sizeof(name));
	if (lock->holder)
		panic("CPU %d releases %s, which CPU %u holds", sim_context.cpu, name,
		      lock->holder - 1);
	panic("CPU %d releases %s, which is free", sim_context.cpu, name);
}

/* ---- mutexes: handed over to whoever has waited longest ---- */

void __mutex_init(struct mutex *lock)
{
	lock->owner = NULL;
	init_waitqueue_head(&lock->wait);
}

bool mutex_is_locked(struct mutex *lock)
{
	return lock->owner != NULL;
}

/* It may be ours without that: handed over. */
static bool take_mutex(struct mutex *lock)
{
	if (!lock->owner)
		lock->owner = current;
	return lock->owner == current;
}

int mutex_trylock(struct mutex *lock)
{
	sim_interleave();
	return !lock->owner && take_mutex(lock);
}

void mutex_lock(struct mutex *lock)
{
	might_sleep();
	if (mutex_trylock(lock))
		return;
	if (lock->owner == current)
		panic("deadlock: %s (%d) takes a mutex that it holds", current->comm, current->pid);
	/* It may be free by now, before we are in the queue. */
	___wait_event(&lock->wait, take_mutex(lock), TASK_UNINTERRUPTIBLE, schedule());
}

int mutex_lock_interruptible(struct mutex *lock)
{
	mutex_lock(lock);
	return 0;
}

int mutex_lock_killable(struct mutex *lock)
{
	mutex_lock(lock);
	return 0;
}

void mutex_unlock(struct mutex *lock)
{
	struct wait_queue_entry *next;
	unsigned long flags;

	WARN(lock->owner != current, "%s (%d) releases a mutex that it does not hold",
	     current->comm, current->pid);
	spin_lock_irqsave(&lock->wait.lock, flags);
	next = list_first_entry_or_null(&lock->wait.head, struct wait_queue_entry, entry);
	lock->owner = next ? next->private : NULL;
	if (next)
		wake_up_process(next->private);
	spin_unlock_irqrestore(&lock->wait.lock, flags);
}

/* ---- rwsems: who comes waits behind writers that wait ---- */

void init_rwsem(struct rw_semaphore *sem)
{
	*sem = (struct rw_semaphore){ };
	init_waitqueue_head(&sem->wait);
}

int rwsem_is_locked(struct rw_semaphore *sem)
{
	return sem->readers || sem->writer;
}

bool percpu_rwsem_is_held(struct percpu_rw_semaphore *sem)
{
	return rwsem_is_locked(&sem->rwsem);
}

static bool may_read(const struct rw_semaphore *sem)
{
	return !sem->writer && !sem->writers_waiting;
}

static bool may_write(const struct rw_semaphore *sem)
{
	return !sem->writer && !sem->readers;
}

int down_read_trylock(struct rw_semaphore *sem)
{
	sim_interleave();
	if (!may_read(sem))
		return 0;
	sem->readers++;
	return 1;
}

void down_read(struct rw_semaphore *sem)
{
	might_sleep();
	while (!down_read_trylock(sem))
		wait_event(sem->wait, may_read(sem));
}

void up_read(struct rw_semaphore *sem)
{
	WARN(!sem->readers, "release of an rwsem that nobody reads");
	if (!--sem->readers)
		wake_up_all(&sem->wait);
	sim_interleave();
}

int down_write_trylock(struct rw_semaphore *sem)
{
	sim_interleave();
	if (!may_write(sem))
		return 0;
	sem->writer = current;
	return 1;
}

void down_write(struct rw_semaphore *sem)
{
	might_sleep();
	sem->writers_waiting++;
	while (!down_write_trylock(sem))
		wait_event(sem->wait, may_write(sem));
	sem->writers_waiting--;
}

int down_write_killable(struct rw_semaphore *sem)
{
	down_write(sem);
	return 0;
}

void up_write(struct rw_semaphore *sem)
{
	WARN(sem->writer != current, "%s (%d) releases an rwsem that it does not hold",
	     current->comm, current->pid);
	sem->writer = NULL;
	wake_up_all(&sem->wait);
	sim_interleave();
}
