// SPDX-License-Identifier: GPL-2.0
/*
 * What threads wait for. Each object has a queue, and each thread a futex of its own: who is woken
 * leaves the queue, and what he waited for belongs to whoever comes first. It is the order of the
 * queue that counts, not that of the kernel's futexes, in which real-time threads come first.
 */
#include "player.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

static struct mutex { struct thread *owner; struct queue waiters; } *mutexes;
static struct queue *conds;
static struct barrier { u32 parties, present; struct queue waiters; } *barriers;
static struct semaphore { u64 value; struct queue waiters; } *semaphores;
static struct pipe {
	u64 *messages;
	u32 capacity, count, first;
	struct queue readers, writers;
} *pipes;
static u64 *timers;		/* when due */
static pthread_mutex_t *pi_mutexes;

/* All objects have one lock, which is held for some instructions. */
static volatile u32 locked;

void lock_objects(void)
{
	while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE))
		_mm_pause();
}

void unlock_objects(void)
{
	__atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
}

/* Memory that is there: a page fault would be the host's time. */
static void *resident(size_t size)
{
	void *memory = mmap(NULL, size + 1, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

static void init_pi_mutex(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(mutex, &attr);
}

static void init_array(const struct program_array *array)
{
	u32 i, end = array->first + array->count;

	for (i = array->first; i < end; i++) {
		switch (array->kind) {
		case PROGRAM_BARRIER:
			barriers[i].parties = array->size;
			break;
		case PROGRAM_SEMAPHORE:
			semaphores[i].value = array->size;
			break;
		case PROGRAM_PIPE:
			pipes[i].capacity = array->size;
			pipes[i].messages = resident(array->size * sizeof(u64));
			break;
		case PROGRAM_TIMER:
			timers[i] = NEVER;
			break;
		case PROGRAM_PIMUTEX:
			init_pi_mutex(&pi_mutexes[i]);
			break;
		}
	}
}

void objects_init(void)
{
	const unsigned int *nr = program->nr_objects;
	u32 i;

	mutexes = resident(nr[PROGRAM_MUTEX] * sizeof(*mutexes));
	conds = resident(nr[PROGRAM_COND] * sizeof(*conds));
	barriers = resident(nr[PROGRAM_BARRIER] * sizeof(*barriers));
	semaphores = resident(nr[PROGRAM_SEMAPHORE] * sizeof(*semaphores));
	pipes = resident(nr[PROGRAM_PIPE] * sizeof(*pipes));
	timers = resident(nr[PROGRAM_TIMER] * sizeof(*timers));
	pi_mutexes = resident(nr[PROGRAM_PIMUTEX] * sizeof(*pi_mutexes));
	for (i = 0; i < program->nr_arrays; i++)
		init_array(&program->arrays[i]);
}

/* ---- which one ---- */

static u64 sum_of_terms(const struct thread *t, const struct program_index *index)
{
	const u64 bases[] = {
		[PROGRAM_SELF] = t->number,
		[PROGRAM_LOOP] = t->depth ? t->rounds[t->depth - 1] : 0,
		[PROGRAM_PICK] = t->pick,
	};
	u64 sum = index->number;
	int i;

	for (i = 0; i < PROGRAM_NR_BASES; i++)
		sum += bases[i] / index->divide[i] * index->times[i];
	return sum;
}

u32 resolve(const struct thread *t, u32 ref, bool indexed)
{
	const struct program_index *index = &program->indexes[ref];

	return indexed ? index->first + (u32)(sum_of_terms(t, index) % index->count) : ref;
}

static u32 this_ref(const struct thread *t)
{
	return resolve(t, t->op->ref, t->op->indexed & PROGRAM_REF_INDEXED);
}

/* ---- queues; the lock is held ---- */

void enqueue(struct queue *queue, struct thread *t)
{
	t->next = NULL;
	t->word = 0;
	if (queue->last)
		queue->last->next = t;
	else
		queue->first = t;
	queue->last = t;
}

static struct thread *dequeue(struct queue *queue)
{
	struct thread *t = queue->first;

	if (t) {
		queue->first = t->next;
		if (!queue->first)
			queue->last = NULL;
	}
	return t;
}

static struct queue take_all(struct queue *queue)
{
	struct queue all = *queue;

	*queue = (struct queue){ 0 };
	return all;
}

static void remove_from(struct queue *queue, struct thread *t)
{
	struct queue others = { 0 };
	struct thread *one;

	while ((one = dequeue(queue)))
		if (one != t) {
			u32 word = one->word;

			enqueue(&others, one);
			one->word = word;
		}
	*queue = others;
}

/* ---- without the lock ---- */

void wait_to_be_woken(struct thread *t)
{
	while (!__atomic_load_n(&t->word, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &t->word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

void wake(struct thread *t)
{
	if (!t)
		return;
	__atomic_store_n(&t->word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &t->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Whoever is woken may wait for something else at once: the next one is taken out before. */
static void wake_all(struct queue queue)
{
	struct thread *t;

	while ((t = dequeue(&queue)))
		wake(t);
}

/* ---- mutexes ---- */

static void take(struct thread *t, struct mutex *mutex)
{
	for (;;) {
		lock_objects();
		if (!mutex->owner)
			break;
		enqueue(&mutex->waiters, t);
		unlock_objects();
		wait_to_be_woken(t);
	}
	mutex->owner = t;
	unlock_objects();
}

void mutex_lock(struct thread *t)
{
	struct mutex *mutex = &mutexes[this_ref(t)];

	if (mutex->owner == t)
		fault(t, "locks a mutex that it holds");
	take(t, mutex);
}

void mutex_unlock(struct thread *t)
{
	struct mutex *mutex = &mutexes[this_ref(t)];
	struct thread *waiter;

	if (mutex->owner != t)
		fault(t, "unlocks a mutex that it does not hold");
	lock_objects();
	mutex->owner = NULL;
	waiter = dequeue(&mutex->waiters);
	unlock_objects();
	wake(waiter);
}

/* These are the kernel's, which boosts. Whose holder has ended is taken over. */
void pi_lock(struct thread *t)
{
	pthread_mutex_t *mutex = &pi_mutexes[this_ref(t)];
	int error = pthread_mutex_lock(mutex);

	if (error == EOWNERDEAD)
		error = pthread_mutex_consistent(mutex);
	if (error)
		fault(t, "cannot lock: %s", strerror(error));
}

void pi_unlock(struct thread *t)
{
	int error = pthread_mutex_unlock(&pi_mutexes[this_ref(t)]);

	if (error)
		fault(t, "cannot unlock: %s", strerror(error));
}

/* ---- condition variables ---- */

void cond_wait(struct thread *t)
{
	struct mutex *mutex = &mutexes[resolve(t, t->op->other,
					       t->op->indexed & PROGRAM_OTHER_INDEXED)];
	struct thread *waiter;

	if (mutex->owner != t)
		fault(t, "waits with a mutex that it does not hold");
	lock_objects();
	enqueue(&conds[this_ref(t)], t);
	mutex->owner = NULL;
	waiter = dequeue(&mutex->waiters);
	unlock_objects();
	wake(waiter);
	wait_to_be_woken(t);
	take(t, mutex);
}

void cond_signal(struct thread *t, bool all)
{
	struct queue *queue = &conds[this_ref(t)], woken = { 0 };
	struct thread *first = NULL;

	lock_objects();
	if (all)
		woken = take_all(queue);
	else
		first = dequeue(queue);
	unlock_objects();
	wake(first);
	wake_all(woken);
}

/* ---- barriers ---- */

void barrier(struct thread *t)
{
	struct barrier *barrier = &barriers[this_ref(t)];
	struct queue woken;

	lock_objects();
	if (++barrier->present < barrier->parties) {
		enqueue(&barrier->waiters, t);
		unlock_objects();
		wait_to_be_woken(t);
		return;
	}
	barrier->present = 0;
	woken = take_all(&barrier->waiters);
	unlock_objects();
	wake_all(woken);
}

/* ---- semaphores and pipes ---- */

void up(struct thread *t)
{
	struct semaphore *semaphore = &semaphores[this_ref(t)];
	struct thread *waiter;
	u64 left;

	for (left = t->op->a; left; left--) {
		lock_objects();
		semaphore->value++;
		waiter = dequeue(&semaphore->waiters);
		unlock_objects();
		wake(waiter);
	}
}

void down(struct thread *t)
{
	struct semaphore *semaphore = &semaphores[this_ref(t)];
	u64 left = t->op->a;

	while (left) {
		lock_objects();
		if (semaphore->value) {
			semaphore->value--;
			left--;
			unlock_objects();
		} else {
			enqueue(&semaphore->waiters, t);
			unlock_objects();
			wait_to_be_woken(t);
		}
	}
}

static u64 stamp(const struct thread *t)
{
	return t->op->how == PROGRAM_DUE && t->due_ns != NEVER ? t->due_ns : now_ns();
}

void write_pipe(struct thread *t)
{
	struct pipe *pipe = &pipes[this_ref(t)];
	struct thread *waiter;
	u64 left = t->op->a;

	while (left) {
		u64 message = stamp(t);

		lock_objects();
		if (pipe->count == pipe->capacity) {
			enqueue(&pipe->writers, t);
			unlock_objects();
			wait_to_be_woken(t);
			continue;
		}
		pipe->messages[(pipe->first + pipe->count++) % pipe->capacity] = message;
		left--;
		waiter = dequeue(&pipe->readers);
		unlock_objects();
		wake(waiter);
	}
}

void read_pipe(struct thread *t)
{
	struct pipe *pipe = &pipes[this_ref(t)];
	struct thread *waiter;
	u64 left = t->op->a;

	while (left) {
		lock_objects();
		if (!pipe->count) {
			enqueue(&pipe->readers, t);
			unlock_objects();
			wait_to_be_woken(t);
			continue;
		}
		t->sent_ns = pipe->messages[pipe->first];
		pipe->first = (pipe->first + 1) % pipe->capacity;
		pipe->count--;
		left--;
		waiter = dequeue(&pipe->writers);
		unlock_objects();
		wake(waiter);
	}
}

/* ---- suspended threads ---- */

void suspend(struct thread *t)
{
	lock_objects();
	enqueue(&groups[t->group - program->groups].suspended, t);
	t->suspended = true;
	unlock_objects();
	wait_to_be_woken(t);
}

static struct thread *find(const struct program_group *group, u64 number)
{
	u32 i;

	for (i = 0; i < nr_threads; i++)
		if (threads[i].group == group && threads[i].number == number)
			return &threads[i];
	return NULL;
}

void resume(struct thread *t)
{
	struct group *group = &groups[t->op->ref];
	struct queue woken = { 0 };
	struct thread *one = NULL;

	lock_objects();
	if (!t->op->indexed) {
		woken = take_all(&group->suspended);
		for (one = woken.first; one; one = one->next)
			one->suspended = false;
	} else {
		one = find(&program->groups[t->op->ref],
			   sum_of_terms(t, &program->indexes[t->op->other]));
		if (one && !one->suspended)
			one = NULL;
		if (one) {
			remove_from(&group->suspended, one);
			one->suspended = false;
		}
	}
	unlock_objects();
	wake(one);
	wake_all(woken);
}

/* ---- timers ---- */

void timer(struct thread *t)
{
	u64 *due = &timers[this_ref(t)], period = random_time(&t->random, t->op), now = now_ns();

	if (*due == NEVER)
		*due = t->began_ns;
	*due += period;
	if (*due <= now && t->op->how == PROGRAM_RELATIVE)
		*due = now;
	t->due_ns = *due;
	if (*due > now)
		sleep_until(*due);
}
