// SPDX-License-Identifier: GPL-2.0
/*
 * Work for kernel threads: kernel/workqueue.c. One pool serves all queues, with as many workers as
 * have something to do at once, which may run on any CPU: they are threads of the fair class,
 * kworker/u:N. Not modelled: pools of single CPUs and of high priority, limits of how many run at
 * once.
 */
#include <linux/delay.h>
#include <linux/init.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "machine.h"

struct workqueue_struct {
	char			name[32];
	unsigned int		active;		/* works that are queued or running */
};

struct worker {
	struct list_head	entry;		/* of all workers */
	struct task_struct	*task;
	struct work_struct	*work;		/* that it runs, which may be freed by that */
	struct workqueue_struct	*wq;
	bool			idle;
};

/* Somebody who waits for @left ends of @work: one that is queued, one that runs. */
struct flusher {
	struct list_head	entry;
	struct work_struct	*work;
	unsigned int		left;
};

static struct workqueue_struct ordinary = { "events" }, unbound = { "events_unbound" };
static struct workqueue_struct highpri = { "events_highpri" }, lasting = { "events_long" };
struct workqueue_struct *system_wq = &ordinary, *system_unbound_wq = &unbound;
struct workqueue_struct *system_highpri_wq = &highpri, *system_long_wq = &lasting;

static DEFINE_RAW_SPINLOCK(pool_lock);
static LIST_HEAD(works);		/* in order of arrival */
static LIST_HEAD(workers);
static LIST_HEAD(flushers);
static DECLARE_WAIT_QUEUE_HEAD(flushed);
static struct task_struct *manager;	/* makes more workers */
static unsigned int nr_workers, nr_wanted;

/* ---- workers ---- */

static struct worker *running(const struct work_struct *work)
{
	struct worker *worker;

	list_for_each_entry(worker, &workers, entry)
		if (worker->work == work)
			return worker;
	return NULL;
}

static bool queued(const struct work_struct *work)
{
	return !list_empty(&work->entry);
}

/* One run of @work is over, or will not be: tell who waits. With the lock. */
static void tell_flushers(const struct work_struct *work, struct workqueue_struct *wq)
{
	struct flusher *flusher;

	wq->active--;
	list_for_each_entry(flusher, &flushers, entry)
		if (flusher->work == work && flusher->left)
			flusher->left--;
}

/* The first one that no other worker runs at the moment: it is not to be run twice at a time. */
static struct work_struct *take_work(struct worker *worker)
{
	struct work_struct *work;

	list_for_each_entry(work, &works, entry) {
		if (running(work))
			continue;
		list_del_init(&work->entry);
		work->pending = false;
		worker->work = work;
		worker->wq = work->wq;
		return work;
	}
	return NULL;
}

static void run_work(struct work_struct *work)
{
	work_func_t func = work->func;

	func(work);
	WARN(preempt_count() || irqs_disabled() || sim_context.rcu,
	     "workqueue: %ps() has left preemption count %x, interrupts %s, RCU nesting %u", func,
	     preempt_count(), irqs_disabled() ? "off" : "on", sim_context.rcu);
}

static int worker_main(void *arg)
{
	struct worker *worker = arg;
	struct work_struct *work;

	current->flags |= PF_WQ_WORKER;
	raw_spin_lock_irq(&pool_lock);
	for (;;) {
		work = take_work(worker);
		if (work) {
			raw_spin_unlock_irq(&pool_lock);
			run_work(work);
			raw_spin_lock_irq(&pool_lock);
			worker->work = NULL;
			tell_flushers(work, worker->wq);
			raw_spin_unlock_irq(&pool_lock);
			wake_up_all(&flushed);
			cond_resched();
			raw_spin_lock_irq(&pool_lock);
			continue;
		}
		worker->idle = true;
		set_current_state(TASK_IDLE);
		raw_spin_unlock_irq(&pool_lock);
		schedule();
		raw_spin_lock_irq(&pool_lock);
		worker->idle = false;
	}
	return 0;
}

static void add_worker(void)
{
	struct worker *worker = sim_alloc(sizeof(*worker));

	worker->task = kthread_create(worker_main, worker, "kworker/u:%u", nr_workers);
	if (IS_ERR(worker->task)) {
		sim_free(worker);
		return;
	}
	nr_workers++;
	raw_spin_lock_irq(&pool_lock);
	list_add_tail(&worker->entry, &workers);
	raw_spin_unlock_irq(&pool_lock);
	wake_up_process(worker->task);
}

static int manager_main(void *arg)
{
	for (;;) {
		set_current_state(TASK_IDLE);
		if (!nr_wanted) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		nr_wanted--;
		add_worker();
	}
	return 0;
}

static int __init workqueue_init(void)
{
	manager = kthread_run(manager_main, NULL, "kworker/u:m");
	add_worker();
	add_worker();
	return 0;
}
early_initcall(workqueue_init);

/* With the lock: somebody shall come for what has been queued. */
static void call_worker(void)
{
	struct worker *worker;

	list_for_each_entry(worker, &workers, entry) {
		if (!worker->idle)
			continue;
		worker->idle = false;
		wake_up_process(worker->task);
		return;
	}
	nr_wanted++;
	if (manager)
		wake_up_process(manager);
}

/* ---- queueing ---- */

static void insert(struct workqueue_struct *wq, struct work_struct *work)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&pool_lock, flags);
	work->wq = wq;
	wq->active++;
	list_add_tail(&work->entry, &works);
	call_worker();
	raw_spin_unlock_irqrestore(&pool_lock, flags);
}

/*
 * Whoever marks a work as pending owns it until it is queued, and has interrupts off meanwhile:
 * others wait for that in grab(). False: it is pending already, or disabled.
 */
static bool mark_pending(struct work_struct *work)
{
	if (work->pending || work->disabled)
		return false;
	work->pending = true;
	return true;
}

bool queue_work(struct workqueue_struct *wq, struct work_struct *work)
{
	unsigned long flags;
	bool mine;

	if (WARN(!work->entry.next || !work->func, "a work is queued that is not initialised"))
		return false;
	local_irq_save(flags);
	mine = mark_pending(work);
	if (mine)
		insert(wq, work);
	local_irq_restore(flags);
	return mine;
}

/* Interrupts are off, as with the kernel's TIMER_IRQSAFE: it is neither armed nor queued yet. */
void delayed_work_timer_fn(struct timer_list *timer)
{
	struct delayed_work *dwork = container_of(timer, struct delayed_work, timer);
	unsigned long flags;

	local_irq_save(flags);
	insert(dwork->wq, &dwork->work);
	local_irq_restore(flags);
}

/* It is marked as pending. */
static void insert_delayed(struct workqueue_struct *wq, struct delayed_work *dwork,
			   unsigned long delay)
{
	dwork->wq = wq;
	if (!delay) {
		insert(wq, &dwork->work);
		return;
	}
	dwork->timer.expires = jiffies + delay;
	add_timer(&dwork->timer);
}

bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *dwork,
			unsigned long delay)
{
	unsigned long flags;
	bool mine;

	local_irq_save(flags);
	mine = mark_pending(&dwork->work);
	if (mine)
		insert_delayed(wq, dwork, delay);
	local_irq_restore(flags);
	return mine;
}

/* Out of the list. It stays marked as pending. */
static bool take_back(struct work_struct *work)
{
	bool found;

	raw_spin_lock(&pool_lock);
	found = work->entry.next && queued(work);
	if (found) {
		list_del_init(&work->entry);
		tell_flushers(work, work->wq);
	}
	raw_spin_unlock(&pool_lock);
	if (found)
		wake_up_all(&flushed);
	return found;
}

/*
 * kernel/workqueue.c, work_grab_pending(): the work is marked as pending, neither armed nor queued,
 * and ours. Interrupts are off from then on. Return: it was armed or queued.
 */
static bool grab(struct work_struct *work, struct timer_list *timer, unsigned long *flags)
{
	for (;;) {
		local_irq_save(*flags);
		if (timer && timer_delete(timer))
			return true;
		if (!work->pending) {
			work->pending = true;
			return false;
		}
		if (take_back(work))
			return true;
		/* Somebody is about to queue it. */
		local_irq_restore(*flags);
		cpu_relax();
	}
}

bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *dwork, unsigned long delay)
{
	unsigned long flags;
	bool was_pending = grab(&dwork->work, &dwork->timer, &flags);

	if (dwork->work.disabled)
		dwork->work.pending = false;
	else
		insert_delayed(wq, dwork, delay);
	local_irq_restore(flags);
	return was_pending;
}

/* ---- waiting and cancelling ---- */

static bool wait_for_runs(struct work_struct *work)
{
	struct flusher flusher = { .work = work };
	bool waits;

	might_sleep();
	raw_spin_lock_irq(&pool_lock);
	flusher.left = (work->entry.next && queued(work)) + !!running(work);
	waits = flusher.left;
	list_add(&flusher.entry, &flushers);
	raw_spin_unlock_irq(&pool_lock);
	wait_event(flushed, !flusher.left);
	raw_spin_lock_irq(&pool_lock);
	list_del(&flusher.entry);
	raw_spin_unlock_irq(&pool_lock);
	return waits;
}

bool flush_work(struct work_struct *work)
{
	return wait_for_runs(work);
}

bool flush_delayed_work(struct delayed_work *dwork)
{
	local_irq_disable();
	if (timer_delete_sync(&dwork->timer))
		insert(dwork->wq, &dwork->work);
	local_irq_enable();
	return wait_for_runs(&dwork->work);
}

/* kernel/workqueue.c, __cancel_work() */
static bool cancel(struct work_struct *work, struct timer_list *timer, bool disable)
{
	unsigned long flags;
	bool was_pending = grab(work, timer, &flags);

	work->disabled += disable;
	work->pending = false;
	local_irq_restore(flags);
	return was_pending;
}

/* __cancel_work_sync(): as long as it is disabled nobody can queue it, itself included. */
static bool cancel_sync(struct work_struct *work, struct timer_list *timer)
{
	bool was_pending = cancel(work, timer, true);

	wait_for_runs(work);
	work->disabled--;
	return was_pending;
}

bool cancel_work(struct work_struct *work)
{
	return cancel(work, NULL, false);
}

bool cancel_work_sync(struct work_struct *work)
{
	return cancel_sync(work, NULL);
}

bool cancel_delayed_work(struct delayed_work *dwork)
{
	return cancel(&dwork->work, &dwork->timer, false);
}

bool cancel_delayed_work_sync(struct delayed_work *dwork)
{
	return cancel_sync(&dwork->work, &dwork->timer);
}

struct workqueue_struct *alloc_workqueue(const char *fmt, unsigned int flags, int max_active, ...)
{
	struct workqueue_struct *wq = kzalloc(sizeof(*wq), GFP_KERNEL);
	va_list args;

	if (!wq)
		return NULL;
	va_start(args, max_active);
	vsnprintf(wq->name, sizeof(wq->name), fmt, args);
	va_end(args);
	return wq;
}

void flush_workqueue(struct workqueue_struct *wq)
{
	might_sleep();
	wait_event(flushed, !wq->active);
}

void destroy_workqueue(struct workqueue_struct *wq)
{
	flush_workqueue(wq);
	kfree(wq);
}
