// SPDX-License-Identifier: GPL-2.0
/*
 * Mutexes with priority inheritance, as a futex of PTHREAD_PRIO_INHERIT: kernel/locking/rtmutex.c.
 * Who waits does so in the order of priority, and whoever holds what others wait for has the
 * priority of the most urgent of them, and so has he for whom the holder waits, and so on.
 *
 * Unlike there all these mutexes have one lock; nobody spins while the holder has a CPU, as
 * rtmutex_spin_on_owner() does; and who ends lets go of what he holds, as with a robust mutex.
 */
#include "load.h"

/**
 * struct load_pi - what a thread has of these mutexes
 * @t:		whose
 * @mutex:	what it waits for, or NULL
 * @prio:	with which it waits
 * @node:	in mutex->waiters
 * @held:	mutexes that it holds
 */
struct load_pi {
	struct model_thread	*t;
	struct pi_object	*mutex;
	int			prio;
	struct list_head	node;
	struct list_head	held;
};

struct pi_object {
	struct load_pi		*owner;
	struct list_head	waiters;	/* the most urgent first, those alike as they came */
	struct list_head	node;		/* in owner->held */
};

static struct pi_object *objects;

/* Taken before any pi_lock, as rt_mutex's wait_lock. */
static DEFINE_RAW_SPINLOCK(pi_objects_lock);

void load_pi_init(void)
{
	unsigned int i, count = load_program->nr_objects[PROGRAM_PIMUTEX];

	objects = sim_alloc(count * sizeof(*objects));
	for (i = 0; i < count; i++)
		INIT_LIST_HEAD(&objects[i].waiters);
}

static struct load_pi *pi_of(struct model_thread *t)
{
	if (!t->pi) {
		t->pi = sim_alloc(sizeof(*t->pi));
		t->pi->t = t;
		INIT_LIST_HEAD(&t->pi->node);
		INIT_LIST_HEAD(&t->pi->held);
	}
	return t->pi;
}

static u32 this_number(const struct model_thread *t)
{
	return load_resolve(t, t->op->ref, t->op->indexed & PROGRAM_REF_INDEXED);
}

/* ---- with the lock ---- */

/* __waiter_prio(): those that are not real-time are alike. */
static int waiter_prio(const struct load_pi *pi)
{
	int prio = READ_ONCE(pi->t->task->prio);

	return rt_prio(prio) ? prio : DEFAULT_PRIO;
}

static struct load_pi *top_waiter(const struct pi_object *mutex)
{
	return list_first_entry_or_null(&mutex->waiters, struct load_pi, node);
}

static void enqueue(struct load_pi *pi)
{
	struct load_pi *other;

	pi->prio = waiter_prio(pi);
	list_for_each_entry(other, &pi->mutex->waiters, node) {
		if (other->prio > pi->prio)
			break;
	}
	/* In front of it, or of the head of the list: at the end. */
	list_add_tail(&pi->node, &other->node);
}

/* rt_mutex_adjust_prio() */
static void adjust_prio(struct load_pi *owner)
{
	struct load_pi *top = NULL, *waiter;
	struct pi_object *mutex;

	list_for_each_entry(mutex, &owner->held, node) {
		waiter = top_waiter(mutex);
		if (waiter && (!top || waiter->prio < top->prio))
			top = waiter;
	}
	model_boost(owner->t->task, top ? top->t->task : NULL);
}

/* rt_mutex_adjust_prio_chain(): @pi's mutex has other waiters, or @pi another priority. */
static void adjust_chain(struct pi_object *mutex)
{
	struct load_pi *owner, *top;

	while (mutex) {
		owner = mutex->owner;
		if (!owner)
			return;
		adjust_prio(owner);
		mutex = owner->mutex;
		if (!mutex || waiter_prio(owner) == owner->prio)
			return;
		list_del_init(&owner->node);
		enqueue(owner);
		top = top_waiter(mutex);
		/* Nobody has it: whoever is the first now shall take it. */
		if (!mutex->owner && top->t->flags & LOAD_WAITS)
			load_wake(top->t, 0);
	}
}

/* try_to_take_rt_mutex(): whom an unlock has woken may come too late for one more urgent. */
static bool try_to_take(struct load_pi *pi, struct pi_object *mutex)
{
	struct load_pi *top = top_waiter(mutex);

	if (mutex->owner || (top && top != pi && waiter_prio(pi) >= top->prio))
		return false;
	list_del_init(&pi->node);
	pi->mutex = NULL;
	mutex->owner = pi;
	list_add(&mutex->node, &pi->held);
	return true;
}

static bool would_wait_for_itself(const struct load_pi *pi, const struct pi_object *mutex)
{
	for (; mutex && mutex->owner; mutex = mutex->owner->mutex)
		if (mutex->owner == pi)
			return true;
	return false;
}

/* mark_wakeup_next_waiter(): the holder loses what it was lent before the next one is woken. */
static void let_go(struct load_pi *pi, struct pi_object *mutex)
{
	struct load_pi *top;

	list_del_init(&mutex->node);
	mutex->owner = NULL;
	adjust_prio(pi);
	top = top_waiter(mutex);
	if (top && top->t->flags & LOAD_WAITS)
		load_wake(top->t, 0);
}

/* ---- operations ---- */

enum load_next load_pi_take(struct model_thread *t, u32 number)
{
	struct pi_object *mutex = &objects[number];
	struct load_pi *pi = pi_of(t);
	unsigned long flags;

	raw_spin_lock_irqsave(&pi_objects_lock, flags);
	if (try_to_take(pi, mutex)) {
		raw_spin_unlock_irqrestore(&pi_objects_lock, flags);
		return load_advance(t);
	}
	/* Whoever waits here could wait for ever, and chains that end where they began have no end. */
	if (would_wait_for_itself(pi, mutex))
		load_fault(t, "locks a mutex whose holder waits for what this thread holds");
	load_prepare(t, NULL);
	if (!pi->mutex) {
		pi->mutex = mutex;
		enqueue(pi);
		adjust_chain(mutex);
	}
	raw_spin_unlock_irqrestore(&pi_objects_lock, flags);
	return load_block(t);
}

enum load_next load_pi_lock(struct model_thread *t)
{
	u32 number = this_number(t);

	if (t->phase == LOAD_BEGINS) {
		if (objects[number].owner == pi_of(t))
			load_fault(t, "locks a mutex that it holds");
		t->phase = LOAD_GOES_ON;
	}
	return load_pi_take(t, number);
}

bool load_pi_holds(struct model_thread *t, u32 number)
{
	return objects[number].owner == pi_of(t);
}

void load_pi_let_go(struct model_thread *t, u32 number)
{
	struct load_pi *pi = pi_of(t);
	unsigned long flags;

	if (!load_pi_holds(t, number))
		load_fault(t, program_waits(t->op) ?
			   "waits with a mutex that it does not hold" :
			   "unlocks a mutex that it does not hold");
	raw_spin_lock_irqsave(&pi_objects_lock, flags);
	let_go(pi, &objects[number]);
	raw_spin_unlock_irqrestore(&pi_objects_lock, flags);
}

enum load_next load_pi_unlock(struct model_thread *t)
{
	load_pi_let_go(t, this_number(t));
	return load_advance(t);
}

/* futex_exit_release(); and who waits takes it, if he can, before he hears of a signal. */
void load_pi_end(struct model_thread *t)
{
	struct load_pi *pi = t->pi;
	struct pi_object *mutex;
	unsigned long flags;

	if (!pi)
		return;
	raw_spin_lock_irqsave(&pi_objects_lock, flags);
	mutex = pi->mutex;
	if (mutex && !try_to_take(pi, mutex)) {
		list_del_init(&pi->node);
		pi->mutex = NULL;
		adjust_chain(mutex);
	}
	while (!list_empty(&pi->held))
		let_go(pi, list_first_entry(&pi->held, struct pi_object, node));
	raw_spin_unlock_irqrestore(&pi_objects_lock, flags);
}

void rt_mutex_adjust_pi(struct task_struct *p)
{
	struct load_pi *pi;
	unsigned long flags;

	raw_spin_lock_irqsave(&pi_objects_lock, flags);
	pi = p->model ? p->model->pi : NULL;
	if (pi && pi->mutex && waiter_prio(pi) != pi->prio) {
		struct load_pi *top;

		list_del_init(&pi->node);
		enqueue(pi);
		top = top_waiter(pi->mutex);
		if (pi->mutex->owner)
			adjust_chain(pi->mutex);
		else if (top->t->flags & LOAD_WAITS)
			load_wake(top->t, 0);
	}
	raw_spin_unlock_irqrestore(&pi_objects_lock, flags);
}
