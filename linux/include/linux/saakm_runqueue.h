/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The runqueues of a policy, and moving threads between cores: a part of
 * <linux/saakm.h>, which includes it. Contexts, [R] and the others, are
 * explained there.
 */
#ifndef _LINUX_SAAKM_RUNQUEUE_H
#define _LINUX_SAAKM_RUNQUEUE_H

#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/rbtree.h>
#include <linux/saakm_types.h>
#include <linux/sched.h>

struct core_event;
struct saakm_policy;

/**
 * struct saakm_rq - a runqueue of one CPU, or, core->shared, of several
 * @nr_tasks: threads in it; to read only. Without the lock, and of core->shared
 *	always, it is a hint, to be read by READ_ONCE().
 *
 * A CPU may have several. core->rq and core->shared are the class's. Others lie in the
 * policy's own memory, mostly in per-CPU data, and are set up by saakm_runqueue_init().
 * The memory must last as long as threads are in it. A thread is in one runqueue at the
 * most.
 */
struct saakm_rq {
	unsigned int		nr_tasks;
	/* private: */
	int			cpu;
	struct saakm_policy	*owner;
	unsigned int		type;		/* with SAAKM_RQ_SHARED */
	union {
		struct list_head	head;
		struct rb_root_cached	root;
	};
	saakm_key_fn		key, bound;
};

/**
 * struct core_event - one core, as one policy sees it
 * @id: number of the CPU
 * @nr_runnable: the policy's threads, READY, RUNNING or DELAYED here; of @shared those
 *	placed here
 * @curr: in @schedule and @refill only: the thread of this policy that has the CPU
 *	and could go on, or NULL. It is in no queue.
 * @policy: the policy
 * @data: &saakm_policy.core_size bytes for its own use, zeroed at load; or NULL
 * @rq: the queue that the class keeps, of type &saakm_policy.queue
 * @shared: one that it shares with other cores, by saakm_share_queue(), or NULL
 * @second: another one, if that was called twice for it, or NULL
 *
 * To read only, @data apart. What the class relies on it keeps for itself.
 */
struct core_event {
	int			id;
	unsigned int		nr_runnable;
	struct task_struct	*curr;
	struct saakm_policy	*policy;
	void			*data;
	struct saakm_rq		rq;
	struct saakm_rq		*shared;
	struct saakm_rq		*second;
};

/* private: in saakm_rq.type */
#define SAAKM_RQ_SHARED	4

/* public: */

/**
 * saakm_runqueue_init() - set up an empty runqueue
 * @rq: the runqueue
 * @cpu: CPU that it belongs to
 * @type: see enum saakm_rq_type
 * @key: needed for LIST and RBTREE, NULL for FIFO
 *
 * The queue belongs to the policy that calls this in a handler, init among them;
 * without one, to the first that inserts a thread. Only its threads can be in it.
 * A queue with threads in it must not be set up again: it forgets them, which is
 * a fault (SAAKM_EXIT_LOST_QUEUE).
 *
 * core->rq is set up by the class, and is not to be set up again.
 *
 * Context: any; it takes no lock. Most policies call it in @init of &struct
 * saakm_policy.
 * Return: 0; -EINVAL for another @type or @cpu, a @key that is missing or not
 * wanted, and for core->rq and core->shared, if a handler calls this: outside of
 * handlers nobody knows whose core it is.
 */
int saakm_runqueue_init(struct saakm_rq *rq, int cpu, enum saakm_rq_type type,
			saakm_key_fn key);

/**
 * saakm_runqueues_init() - set up a runqueue on each CPU
 * @rqs: per-CPU runqueue, or one in per-CPU data
 * @type: see enum saakm_rq_type
 * @key: needed for LIST and RBTREE, NULL for FIFO
 *
 * Context: as saakm_runqueue_init(), on all possible CPUs.
 * Return: 0; -EINVAL as there.
 */
static inline int saakm_runqueues_init(struct saakm_rq __percpu *rqs, enum saakm_rq_type type,
				       saakm_key_fn key)
{
	int cpu, ret = 0;

	for_each_possible_cpu(cpu)
		ret = ret ?: saakm_runqueue_init(per_cpu_ptr(rqs, cpu), cpu, type, key);
	return ret;
}

/* private: for any type but NONE, under the lock that protects the queue */
static inline struct task_struct *__saakm_rq_first(struct saakm_rq *rq, unsigned int type)
{
	struct rb_node *rb;

	if (type != SAAKM_RQ_RBTREE)
		return list_first_entry_or_null(&rq->head, struct task_struct,
						saakm.node.list);
	rb = rb_first_cached(&rq->root);
	return rb ? rb_entry(rb, struct task_struct, saakm.node.rb) : NULL;
}

static inline struct task_struct *__saakm_rq_next(struct saakm_rq *rq, unsigned int type,
						  struct task_struct *task)
{
	struct rb_node *rb;

	if (type != SAAKM_RQ_RBTREE)
		return list_is_last(&task->saakm.node.list, &rq->head) ? NULL :
			list_next_entry(task, saakm.node.list);
	rb = rb_next(&task->saakm.node.rb);
	return rb ? rb_entry(rb, struct task_struct, saakm.node.rb) : NULL;
}

/* public: */

/**
 * saakm_rq_first() - the thread that is first in a runqueue
 * @rq: the runqueue
 *
 * Context: [R] of the queue's CPU.
 * Return: the first in order, or NULL if the queue is empty. NULL as well for one that
 * cores share, which changes at any time: saakm_take() takes its first.
 */
static inline struct task_struct *saakm_rq_first(struct saakm_rq *rq)
{
	return rq->type < SAAKM_RQ_NONE ? __saakm_rq_first(rq, rq->type) : NULL;
}

/**
 * saakm_rq_first_within() - the first whose bound is not beyond a limit
 * @rq: the runqueue; core->rq of a policy with @bound
 * @limit: compared with the second key, as it was when the thread was queued; both may
 *	have wrapped around
 *
 * EEVDF's question: of those that are eligible, whose deadline is the earliest? O(log n),
 * as in I. Stoica and H. Abdel-Wahab, Earliest Eligible Virtual Deadline First (1995).
 *
 * Context: [R] of the queue's CPU.
 * Return: the first in order among them, or NULL if there is none, or @rq has no bounds.
 */
struct task_struct *saakm_rq_first_within(struct saakm_rq *rq, u64 limit);

/**
 * saakm_rq_next() - the thread that follows in a runqueue
 * @rq: the runqueue
 * @task: a thread in it; with any other one the result is undefined
 *
 * Context: [R] of the queue's CPU.
 * Return: the thread after @task in order, or NULL if it is the last.
 */
static inline struct task_struct *saakm_rq_next(struct saakm_rq *rq,
						struct task_struct *task)
{
	return rq->type < SAAKM_RQ_NONE ? __saakm_rq_next(rq, rq->type, task) : NULL;
}

/**
 * saakm_for_each_task() - walk a runqueue in order
 * @task: a struct task_struct pointer, the loop's variable; NULL behind the end
 * @rq: the runqueue
 *
 * The walk must not change the queue, and should end early: other CPUs wait for
 * the lock.
 *
 * Context: [R] of the queue's CPU.
 */
#define saakm_for_each_task(task, rq)					\
	for (task = saakm_rq_first(rq); task; task = saakm_rq_next(rq, task))

/* Moving threads between them */

/**
 * saakm_move_task() - move a READY thread to another core
 * @task: a thread of the calling policy; the caller holds a reference or is in
 *	an RCU section
 * @cpu: its new core
 * @rq: a runqueue of that core and policy; no core->shared, which is no core's own
 *
 * Takes the locks, walks READY -> MIGRATING -> READY, calls moved in between, and
 * preempts there if the policy wants so. A thread that is on @cpu already changes queues
 * only. Its wait goes on: its watchdog is not reset.
 *
 * Context: [B], or process context. Called with a runqueue lock held (in an
 * [R] handler), it is refused and reported.
 * Return: 0; -EAGAIN if the thread is not READY now or in @rq already, -EPERM if it may
 * not run there, -EINVAL for a foreign thread or runqueue, -EDEADLK as above. Outside
 * of handlers a foreign thread is no fault: it may have left the policy just now.
 */
int saakm_move_task(struct task_struct *task, int cpu, struct saakm_rq *rq);

/**
 * typedef saakm_wanted_fn - shall a thread be moved?
 * @task: a READY thread of the policy
 * @arg: what the caller has given
 *
 * Called with the locks of both cores held, so it only looks at the thread, and may write
 * the policy's data of it: a call that moves threads would never return.
 */
typedef bool (*saakm_wanted_fn)(struct task_struct *task, void *arg);

/**
 * saakm_move_task_if() - move a READY thread to another core, if it is still wanted there
 * @task: as saakm_move_task()
 * @cpu: as there
 * @rq: as there
 * @wanted: is asked when nothing else is in the way; NULL: yes
 * @arg: for @wanted
 *
 * For decisions that were made without a lock, about what a thread was then. @wanted is called
 * at most once, after all checks for which an error is returned: who says yes has a thread
 * that moves. One that the class has taken over, to run before all others, stays so on its own
 * CPU: @wanted is called then as well, and 0 returned, but it is not in @rq, and no @moved
 * tells of it. To another CPU it moves as any.
 *
 * Context: as saakm_move_task().
 * Return: as there; -ECANCELED if it is not wanted.
 */
int saakm_move_task_if(struct task_struct *task, int cpu, struct saakm_rq *rq,
		       saakm_wanted_fn wanted, void *arg);

/**
 * saakm_steal() - pull threads from another runqueue
 * @from: the runqueue to take from, in its order; of another core, or another one of @cpu
 * @cpu: the core to move to
 * @to: a runqueue of that core
 * @max: how many at the most
 * @wanted: which ones; NULL: all
 * @arg: for @wanted
 *
 * Threads that may not run on @cpu are passed over; 32 are looked at, as in
 * fair, since two runqueue locks are held. Empty queues cost no lock.
 *
 * Context: as saakm_move_task().
 * Return: number of threads moved, or -EINVAL or -EDEADLK as above.
 */
int saakm_steal(struct saakm_rq *from, int cpu, struct saakm_rq *to,
		unsigned int max, saakm_wanted_fn wanted, void *arg);

/**
 * saakm_switch_queue() - a thread that waits changes queues on its own CPU
 * @task: a READY or DELAYED thread of the calling policy
 * @rq: another queue of that CPU and policy, core->shared among them; or its own, to be
 *	sorted in anew
 *
 * Its wait goes on. For keys that change while threads wait, and for several levels.
 *
 * Context: [R] of that CPU, with no walk of either queue under way.
 * Return: 0, or -EINVAL for any other @task or @rq, which is a fault.
 */
int saakm_switch_queue(struct task_struct *task, struct saakm_rq *rq);

/**
 * saakm_to_head() - a thread is first in its queue, before all that wait there
 * @task: a READY or DELAYED thread of the calling policy, in a queue of type FIFO
 *
 * For a thread that is owed the CPU: in place or requeue, after change_state().
 *
 * Context: [R] of its CPU.
 * Return: 0, or -EINVAL for any other @task or queue, which is a fault.
 */
int saakm_to_head(struct task_struct *task);

/**
 * saakm_first_key() - the key of the first in a queue that cores share
 * @rq: the queue, not NULL, sorted by key
 * @key: is set to what the first is sorted by, if there is one
 *
 * To choose among several before saakm_take(). Empty queues cost no lock.
 *
 * Context: any with interrupts off, as [R] and [P]. A hint: it may change at any time.
 * Return: true if there is a first; false as well for a queue that no cores share, or unsorted.
 */
bool saakm_first_key(struct saakm_rq *rq, u64 *key);

/**
 * saakm_take() - move a thread from a shared queue to this core
 * @core: argument of @refill
 * @from: a queue that cores share, of this policy; this one need not be among them
 *
 * It takes the first that may run here, of 32 that it looks at (1024, if the core idles
 * already: one behind as many that may not run here waits for its own core), else one that is
 * on this core already, and puts it into core->rq. If that is on
 * another core, the runqueue lock is dropped meanwhile, and @moved is called: core->curr,
 * and all else that was read before, may be another. Its wait goes on.
 *
 * Context: @refill only; elsewhere it is refused and reported.
 * Return: the thread; or NULL if there is none, others were faster, somebody came
 * who goes first, or it was refused.
 */
struct task_struct *saakm_take(struct core_event *core, struct saakm_rq *from);

/**
 * saakm_take_before() - saakm_take(), if the thread goes before another one
 * @core: as there
 * @from: as there, and sorted by key; else it is refused and reported
 * @key: the thread's is before this
 *
 * Context: as there.
 * Return: as there; NULL as well if none of those that may run here goes before @key.
 */
struct task_struct *saakm_take_before(struct core_event *core, struct saakm_rq *from, u64 key);

/**
 * saakm_take_task() - move a thread to this core that waits at another one
 * @core: argument of @refill
 * @task: a thread of the calling policy; the caller holds a reference or is in an RCU
 *	section, as every handler
 * @rq: a queue of this core and policy
 *
 * If the thread looks as if it could come, which is seen without a lock, the runqueue lock is
 * dropped until that of the other core is held, too: core->curr, and all else that was read
 * before, may be another, also if it returns false. @moved is called with both held. Its wait
 * goes on.
 *
 * Context: @refill about this core only, interrupts off. Elsewhere, or with %NULL or a foreign
 * @rq, it is refused, and reported as a fault.
 * Return: true if it is here now; false if it is not READY at another core, is of another
 * policy, the class has taken it over, it may not run here, somebody came who goes first, or
 * it was refused.
 */
bool saakm_take_task(struct core_event *core, struct task_struct *task, struct saakm_rq *rq);

/**
 * saakm_take_shared() - what the class does without a @refill
 * @core: argument of @refill
 *
 * saakm_take() from core->shared of a thread that would be elected: the running one does
 * not go on or, without @schedule of its own and by key, goes after it.
 *
 * Context: @refill only; elsewhere it is refused, and reported if there is a core->shared.
 * Return: the thread; NULL if there is none, or no core->shared.
 */
struct task_struct *saakm_take_shared(struct core_event *core);

#endif /* _LINUX_SAAKM_RUNQUEUE_H */
