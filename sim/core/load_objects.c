// SPDX-License-Identifier: GPL-2.0
/*
 * What threads of a workload wait for. Each object has a queue; who is woken leaves it, and what
 * it waited for is nobody's until somebody takes it: whoever comes first.
 *
 * Between two steps that may wake somebody another CPU's events may come in. So an object is in
 * order, and the thread's own phase and queue too, before each wakeup.
 */
#include "load.h"

#include <linux/saakm_futex.h>

struct mutex_object {
	struct model_thread	*owner;
	struct list_head	waiters;
};

struct cond_object {
	u32			present;	/* of those who meet */
	struct list_head	waiters;
};

struct barrier_object {
	u32			parties, present;
	struct list_head	waiters;
};

struct semaphore_object {
	u64			value;
	struct list_head	waiters;
};

struct pipe_object {
	u64			*messages;	/* allocated when the first one comes */
	u32			capacity, count, first;
	struct list_head	readers, writers;
};

struct timer_object {
	u64			due_ns;		/* SIM_NEVER: not used yet */
};

static struct mutex_object *mutexes;
static struct cond_object *conds;
static struct barrier_object *barriers;
static struct semaphore_object *semaphores;
static struct pipe_object *pipes;
static struct timer_object *timers;

static void init_array(const struct program_array *array, u32 i)
{
	switch (array->kind) {
	case PROGRAM_MUTEX:
		INIT_LIST_HEAD(&mutexes[i].waiters);
		break;
	case PROGRAM_COND:
		INIT_LIST_HEAD(&conds[i].waiters);
		break;
	case PROGRAM_BARRIER:
		barriers[i].parties = array->size;
		INIT_LIST_HEAD(&barriers[i].waiters);
		break;
	case PROGRAM_SEMAPHORE:
		semaphores[i].value = array->size;
		INIT_LIST_HEAD(&semaphores[i].waiters);
		break;
	case PROGRAM_PIPE:
		pipes[i].capacity = array->size;
		INIT_LIST_HEAD(&pipes[i].readers);
		INIT_LIST_HEAD(&pipes[i].writers);
		break;
	case PROGRAM_TIMER:
		timers[i].due_ns = SIM_NEVER;
		break;
	default:		/* load_pi.c, load_machine.c */
		break;
	}
}

void load_objects_init(void)
{
	const unsigned int *nr = load_program->nr_objects;
	unsigned int i, j;

	mutexes = sim_alloc(nr[PROGRAM_MUTEX] * sizeof(*mutexes));
	conds = sim_alloc(nr[PROGRAM_COND] * sizeof(*conds));
	barriers = sim_alloc(nr[PROGRAM_BARRIER] * sizeof(*barriers));
	semaphores = sim_alloc(nr[PROGRAM_SEMAPHORE] * sizeof(*semaphores));
	pipes = sim_alloc(nr[PROGRAM_PIPE] * sizeof(*pipes));
	timers = sim_alloc(nr[PROGRAM_TIMER] * sizeof(*timers));
	for (i = 0; i < load_program->nr_arrays; i++) {
		const struct program_array *array = &load_program->arrays[i];

		for (j = 0; j < array->count; j++)
			init_array(array, array->first + j);
	}
}

/* ---- which one ---- */

u64 load_sum(const struct model_thread *t, u32 number)
{
	const struct program_index *index = &load_program->indexes[number];
	const u64 bases[] = {
		[PROGRAM_SELF] = t->number,
		[PROGRAM_LOOP] = t->depth ? t->words[t->depth - 1] : 0,
		[PROGRAM_PICK] = t->pick,
	};
	u64 sum = index->number;
	int i;

	for (i = 0; i < PROGRAM_NR_BASES; i++)
		sum += bases[i] / index->divide[i] * index->times[i];
	return sum;
}

u32 load_resolve(const struct model_thread *t, u32 ref, bool indexed)
{
	const struct program_index *index;

	if (likely(!indexed))
		return ref;
	index = &load_program->indexes[ref];
	return index->first + (u32)(load_sum(t, ref) % index->count);
}

static u32 this_ref(const struct model_thread *t)
{
	return load_resolve(t, t->op->ref, t->op->indexed & PROGRAM_REF_INDEXED);
}

static bool wake_first(struct list_head *waiters, int flags)
{
	struct model_thread *t = list_first_entry_or_null(waiters, struct model_thread, node);

	if (t)
		load_wake(t, flags);
	return t;
}

/* ---- mutexes ---- */

/* Who need not wait for it takes it without a system call; the others come from __futex_wait(). */
static enum load_next take(struct model_thread *t, struct mutex_object *mutex)
{
	if (mutex->owner) {
		if (t->phase == LOAD_BEGINS)
			t->phase = LOAD_GOES_ON;
		load_prepare(t, &mutex->waiters);
		return load_block(t);
	}
	if (t->phase != LOAD_BEGINS)
		saakm_got_lock();
	mutex->owner = t;
	/* Who ends with it stays its owner: nobody else may come to have that address. */
	t->users++;
	return load_advance(t);
}

static void let_go(struct mutex_object *mutex)
{
	load_put(mutex->owner);
	mutex->owner = NULL;
}

enum load_next load_lock(struct model_thread *t)
{
	struct mutex_object *mutex = &mutexes[this_ref(t)];

	if (mutex->owner == t)
		load_fault(t, "locks a mutex that it holds");
	return take(t, mutex);
}

/* Who has waited, or whom others wait for, calls futex_wake(). */
enum load_next load_unlock(struct model_thread *t)
{
	struct mutex_object *mutex = &mutexes[this_ref(t)];

	if (mutex->owner != t)
		load_fault(t, "unlocks a mutex that it does not hold");
	let_go(mutex);
	load_advance(t);
	if (!list_empty(&mutex->waiters))
		saakm_released_lock();
	wake_first(&mutex->waiters, 0);
	return LOAD_ON;
}

/* ---- condition variables ---- */

static u32 mutex_of_wait(const struct model_thread *t)
{
	return load_resolve(t, t->op->other, t->op->indexed & PROGRAM_OTHER_INDEXED);
}

/* As pthread_cond_wait(): whoever has the mutex after us wakes us when he signals. */
enum load_next load_wait(struct model_thread *t)
{
	u32 number = mutex_of_wait(t);
	bool pi = t->op->how == PROGRAM_PI;
	struct mutex_object *mutex = pi ? NULL : &mutexes[number];

	if (t->phase != LOAD_BEGINS)
		return pi ? load_pi_take(t, number) : take(t, mutex);
	if (!pi && mutex->owner != t)
		load_fault(t, "waits with a mutex that it does not hold");
	t->phase = LOAD_LOCKS;
	load_prepare(t, &conds[this_ref(t)].waiters);
	if (pi) {
		load_pi_let_go(t, number);
	} else {
		let_go(mutex);
		wake_first(&mutex->waiters, 0);
	}
	return load_block(t);
}

/*
 * As rt-app 1.0 does it: who has been woken counts until it has the mutex, and another that comes
 * before wakes, too, and goes on.
 */
enum load_next load_meet(struct model_thread *t)
{
	struct cond_object *cond = &conds[this_ref(t)];
	u32 number = mutex_of_wait(t);
	enum load_next next;

	if (t->phase == LOAD_BEGINS) {
		if (t->op->how == PROGRAM_PI ? !load_pi_holds(t, number) :
		    mutexes[number].owner != t)
			load_fault(t, "waits with a mutex that it does not hold");
		if (cond->present + 1 >= t->op->a)
			return load_signal(t, true);
		cond->present++;
	}
	next = load_wait(t);
	if (next == LOAD_ON)
		cond->present--;
	return next;
}

enum load_next load_signal(struct model_thread *t, bool all)
{
	struct list_head *waiters = &conds[this_ref(t)].waiters;
	LIST_HEAD(woken);

	load_advance(t);
	if (!all) {
		wake_first(waiters, 0);
		return LOAD_ON;
	}
	list_splice_init(waiters, &woken);
	while (wake_first(&woken, 0))
		;
	return LOAD_ON;
}

/* ---- barriers ---- */

enum load_next load_barrier(struct model_thread *t)
{
	struct barrier_object *barrier = &barriers[this_ref(t)];
	LIST_HEAD(woken);

	if (t->phase != LOAD_BEGINS)
		return load_advance(t);
	if (++barrier->present < barrier->parties) {
		t->phase = LOAD_GOES_ON;
		load_prepare(t, &barrier->waiters);
		return load_block(t);
	}
	barrier->present = 0;
	list_splice_init(&barrier->waiters, &woken);
	load_advance(t);
	while (wake_first(&woken, 0))
		;
	return LOAD_ON;
}

/* ---- semaphores and pipes: N times ---- */

/* Each time is a system call of its own: the thread may have to make way after any. */
static bool goes_on(const struct model_thread *t)
{
	return !test_tsk_need_resched(t->task) && !model_rq()->charged_ns;
}

static void begin_count(struct model_thread *t)
{
	if (t->phase != LOAD_BEGINS)
		return;
	t->phase = LOAD_GOES_ON;
	t->left = (u32)t->op->a;
	/* A thread that does nothing but send is to be noticed soon enough. */
	t->at_once += t->left / 1000;
}

static u64 stamp(const struct model_thread *t)
{
	return t->op->how == PROGRAM_DUE && t->due_ns != SIM_NEVER ? t->due_ns : sim_now;
}

enum load_next load_up(struct model_thread *t)
{
	struct semaphore_object *semaphore = &semaphores[this_ref(t)];

	begin_count(t);
	do {
		t->left--;
		semaphore->value++;
		wake_first(&semaphore->waiters, 0);
	} while (t->left && goes_on(t));
	return t->left ? LOAD_ON : load_advance(t);
}

enum load_next load_down(struct model_thread *t)
{
	struct semaphore_object *semaphore = &semaphores[this_ref(t)];

	begin_count(t);
	for (; t->left; t->left--) {
		if (!semaphore->value) {
			load_prepare(t, &semaphore->waiters);
			return load_block(t);
		}
		semaphore->value--;
	}
	return load_advance(t);
}

static void push(struct pipe_object *pipe, u64 message)
{
	if (unlikely(!pipe->messages))
		pipe->messages = sim_alloc(pipe->capacity * sizeof(*pipe->messages));
	pipe->messages[(pipe->first + pipe->count) % pipe->capacity] = message;
	pipe->count++;
}

/* pipe_read() and pipe_write() wake with WF_SYNC: who wakes is about to sleep, often. */
enum load_next load_write(struct model_thread *t)
{
	struct pipe_object *pipe = &pipes[this_ref(t)];

	begin_count(t);
	do {
		if (pipe->count == pipe->capacity) {
			load_prepare(t, &pipe->writers);
			return load_block(t);
		}
		t->left--;
		push(pipe, stamp(t));
		wake_first(&pipe->readers, WF_SYNC);
	} while (t->left && goes_on(t));
	return t->left ? LOAD_ON : load_advance(t);
}

enum load_next load_read(struct model_thread *t)
{
	struct pipe_object *pipe = &pipes[this_ref(t)];

	begin_count(t);
	do {
		if (!pipe->count) {
			load_prepare(t, &pipe->readers);
			return load_block(t);
		}
		t->left--;
		t->sent_ns = pipe->messages[pipe->first];
		pipe->first = pipe->first + 1 == pipe->capacity ? 0 : pipe->first + 1;
		pipe->count--;
		wake_first(&pipe->writers, WF_SYNC);
	} while (t->left && goes_on(t));
	return t->left ? LOAD_ON : load_advance(t);
}

/* ---- suspended threads ---- */

enum load_next load_suspend(struct model_thread *t)
{
	if (t->phase != LOAD_BEGINS)
		return load_advance(t);
	t->phase = LOAD_GOES_ON;
	load_prepare(t, &t->group->suspended);
	return load_block(t);
}

/* Of all operations `suspend` alone has no object, so its threads are in that list. */
static bool is_suspended(const struct model_thread *t)
{
	return t->flags & LOAD_WAITS && t->op->code == OP_SUSPEND;
}

enum load_next load_resume(struct model_thread *t)
{
	struct load_group *group = &load_groups[t->op->ref];
	const struct program_op *op = t->op;
	LIST_HEAD(woken);
	u64 number;

	load_advance(t);
	if (!op->indexed) {
		list_splice_init(&group->suspended, &woken);
		while (wake_first(&woken, 0))
			;
		return LOAD_ON;
	}
	number = load_sum(t, op->other);
	if (number < group->next_number && group->by_number[number] &&
	    is_suspended(group->by_number[number]))
		load_wake(group->by_number[number], 0);
	return LOAD_ON;
}

/* ---- timers ---- */

enum load_next load_timer(struct model_thread *t, u64 ns)
{
	struct timer_object *timer = &timers[this_ref(t)];
	u8 how;

	if (timer->due_ns == SIM_NEVER)
		timer->due_ns = t->began_ns;
	timer->due_ns += ns;
	t->due_ns = timer->due_ns;
	how = t->op->how;
	load_advance(t);
	if (timer->due_ns > sim_now)
		return load_sleep_until(t, timer->due_ns);
	if (how == PROGRAM_RELATIVE)
		timer->due_ns = sim_now;
	return LOAD_ON;
}

/* ---- for who waits at the end of a run ---- */

static const char *name_of(unsigned int kind, u32 number)
{
	const struct program_array *array = load_program->arrays;
	unsigned int i;

	for (i = 0; i < load_program->nr_arrays; i++, array++)
		if (array->kind == kind && number - array->first < array->count)
			return array->name;
	return "?";
}

const char *load_waits_for(const struct model_thread *t)
{
	switch (t->op->code) {
	case OP_WAIT:
	case OP_MEET:
		if (t->phase == LOAD_LOCKS)
			return name_of(t->op->how == PROGRAM_PI ? PROGRAM_PIMUTEX : PROGRAM_MUTEX,
				       mutex_of_wait(t));
		return name_of(PROGRAM_COND, this_ref(t));
	case OP_LOCK:
		return name_of(PROGRAM_MUTEX, this_ref(t));
	case OP_PI_LOCK:
		return name_of(PROGRAM_PIMUTEX, this_ref(t));
	case OP_BARRIER:
		return name_of(PROGRAM_BARRIER, this_ref(t));
	case OP_DOWN:
		return name_of(PROGRAM_SEMAPHORE, this_ref(t));
	case OP_READ:
	case OP_WRITE:
		return name_of(PROGRAM_PIPE, this_ref(t));
	case OP_SUSPEND:
		return "somebody who resumes it";
	default:
		return "its children";
	}
}
