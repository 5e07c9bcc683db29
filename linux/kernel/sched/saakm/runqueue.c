// SPDX-License-Identifier: GPL-2.0
/*
 * Runqueues of policies: FIFO, LIST, RBTREE. Protected by the lock of the
 * runqueue of srq->cpu; those that cores share by a lock of their own, too: shared.c.
 */

static int __saakm_runqueue_init(struct saakm_rq *srq, struct saakm_policy *owner, int cpu,
				 enum saakm_rq_type type, saakm_key_fn key)
{
	bool ordered = type != SAAKM_RQ_FIFO;

	if ((unsigned int)type > SAAKM_RQ_RBTREE || ordered != !!key ||
	    (unsigned int)cpu >= nr_cpu_ids)
		return -EINVAL;

	*srq = (struct saakm_rq) {
		.cpu	= cpu,
		.owner	= owner,
		.type	= type,
		.key	= key,
	};
	if (type == SAAKM_RQ_RBTREE)
		srq->root = RB_ROOT_CACHED;
	else
		INIT_LIST_HEAD(&srq->head);
	return 0;
}

/* core->rq and core->shared are set up already, and the class goes by what they were at load. */
static bool saakm_set_up(const struct saakm_policy *owner, const struct saakm_rq *srq)
{
	const struct saakm_shared *shared;
	int cpu;

	for (shared = owner->own->shared; shared; shared = shared->next) {
		if (srq == &shared->rq)
			return true;
	}
	for_each_possible_cpu(cpu) {
		if (srq == &saakm_core(owner, cpu)->event.rq)
			return true;
	}
	return false;
}

int saakm_runqueue_init(struct saakm_rq *srq, int cpu, enum saakm_rq_type type,
			saakm_key_fn key)
{
	struct saakm_policy *owner = saakm_calling() ?: saakm_being_loaded();

	if (owner && saakm_set_up(owner, srq))
		return -EINVAL;
	return __saakm_runqueue_init(srq, owner, cpu, type, key);
}
EXPORT_SYMBOL_NS_GPL(saakm_runqueue_init, SAAKM);

#define __node_2_task(_rb) rb_entry(_rb, struct task_struct, saakm.node.rb)

#define __list_2_task(_pos) list_entry(_pos, struct task_struct, saakm.node.list)

/* Key functions run as what they are: they may call nothing of the class. */
static __always_inline u64 saakm_ask_key(saakm_key_fn fn, const struct task_struct *p)
{
	const void *subject = __this_cpu_read(saakm_context.subject);
	enum saakm_handler handler = __this_cpu_read(saakm_context.handler);
	u64 key;

	__this_cpu_write(saakm_context.subject, p);
	__this_cpu_write(saakm_context.handler, SAAKM_H_key);
	key = fn(p);
	__this_cpu_write(saakm_context.subject, subject);
	__this_cpu_write(saakm_context.handler, handler);
	return key;
}

/* Does @p, whose key has been read, go before the thread at a place in a queue? */
#define saakm_before_list(_p, _pos) \
	saakm_before((_p)->saakm.key, __list_2_task(_pos)->saakm.key)
#define saakm_before_node(_p, _rb) saakm_before((_p)->saakm.key, __node_2_task(_rb)->saakm.key)

/* From the tail: equal keys keep their order of arrival. Those before all are quick. */
static __always_inline void saakm_list_link(struct saakm_rq *srq, struct task_struct *p)
{
	struct list_head *pos = srq->head.prev;

	if (pos != &srq->head && saakm_before_list(p, srq->head.next))
		pos = &srq->head;
	while (pos != &srq->head && saakm_before_list(p, pos))
		pos = pos->prev;
	list_add(&p->saakm.node.list, pos);
}

static __always_inline void saakm_rbtree_link(struct saakm_rq *srq, struct task_struct *p)
{
	struct rb_node *parent = srq->root.rb_leftmost, **link = &srq->root.rb_root.rb_node;
	struct rb_node *rb = &p->saakm.node.rb;
	bool leftmost = true;

	if (parent) {
		leftmost = saakm_before_node(p, parent);
		/* Many waiting threads cost those nothing that go before them all. */
		if (leftmost)
			link = &parent->rb_left;
		else if (parent == *link)
			link = &parent->rb_right;
	}
	while (*link) {
		parent = *link;
		link = saakm_before_node(p, parent) ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(rb, parent, link);
	rb_insert_color_cached(rb, &srq->root, leftmost);
}

/* Trees with bounds: each thread knows the least bound of those below it. */

static bool saakm_update_least(struct task_struct *p, bool stop_if_same)
{
	u64 old = p->saakm.least_bound, least = p->saakm.bound;
	struct rb_node *child[] = { p->saakm.node.rb.rb_left, p->saakm.node.rb.rb_right };
	int i;

	for (i = 0; i < 2; i++) {
		if (child[i] && saakm_before(__node_2_task(child[i])->saakm.least_bound, least))
			least = __node_2_task(child[i])->saakm.least_bound;
	}
	p->saakm.least_bound = least;
	return stop_if_same && least == old;
}

RB_DECLARE_CALLBACKS(static, saakm_least_cb, struct task_struct, saakm.node.rb,
		     saakm.least_bound, saakm_update_least);

static bool saakm_node_before(struct rb_node *rb, const struct rb_node *other)
{
	return saakm_before_node(__node_2_task(rb), other);
}

static noinline void saakm_bounded_link(struct saakm_rq *srq, struct task_struct *p)
{
	p->saakm.bound = saakm_ask_key(srq->bound, p);
	p->saakm.least_bound = p->saakm.bound;
	rb_add_augmented_cached(&p->saakm.node.rb, &srq->root, saakm_node_before,
				&saakm_least_cb);
}

struct task_struct *saakm_rq_first_within(struct saakm_rq *srq, u64 limit)
{
	struct rb_node *rb = srq->bound ? srq->root.rb_root.rb_node : NULL;

	if (srq->type != SAAKM_RQ_RBTREE)
		return NULL;
	while (rb) {
		/* If there is one on the left, it goes before all others. */
		if (rb->rb_left &&
		    !saakm_before(limit, __node_2_task(rb->rb_left)->saakm.least_bound)) {
			rb = rb->rb_left;
			continue;
		}
		if (!saakm_before(limit, __node_2_task(rb)->saakm.bound))
			return __node_2_task(rb);
		rb = rb->rb_right;
	}
	return NULL;
}
EXPORT_SYMBOL_NS_GPL(saakm_rq_first_within, SAAKM);

static __always_inline void saakm_rq_link_fifo(struct saakm_rq *srq, struct task_struct *p)
{
	p->saakm.rq = srq;
	WRITE_ONCE(srq->nr_tasks, srq->nr_tasks + 1);
	list_add_tail(&p->saakm.node.list, &srq->head);
}

static __always_inline void saakm_rq_link_sorted(struct saakm_rq *srq, struct task_struct *p,
						 enum saakm_rq_type type)
{
	p->saakm.key = saakm_ask_key(srq->key, p);
	if (type == SAAKM_RQ_LIST)
		saakm_list_link(srq, p);
	else if (unlikely(srq->bound))
		saakm_bounded_link(srq, p);
	else
		saakm_rbtree_link(srq, p);
	p->saakm.rq = srq;
	WRITE_ONCE(srq->nr_tasks, srq->nr_tasks + 1);
}

static noinline void saakm_rq_link_slow(struct saakm_rq *srq, struct task_struct *p)
{
	if (srq->type & SAAKM_RQ_SHARED)
		saakm_shared_link(srq, p);
	else
		saakm_rq_link_sorted(srq, p, srq->type);
}

static __always_inline void saakm_rq_link(struct saakm_rq *srq, struct task_struct *p)
{
	if (likely(srq->type == SAAKM_RQ_FIFO))
		saakm_rq_link_fifo(srq, p);
	else
		saakm_rq_link_slow(srq, p);
}

/* Mostly the one that is elected; its child has none itself. */
static __always_inline void saakm_rbtree_unlink_first(struct saakm_rq *srq, struct rb_node *rb)
{
	struct rb_node *right = rb->rb_right;

	srq->root.rb_leftmost = right ?: rb_parent(rb);
	if (rb != srq->root.rb_root.rb_node) {
		rb_erase(rb, &srq->root.rb_root);
		return;
	}
	srq->root.rb_root.rb_node = right;
	if (right)
		right->__rb_parent_color = RB_BLACK;
}

static noinline void saakm_rbtree_unlink(struct saakm_rq *srq, struct task_struct *p)
{
	struct rb_node *rb = &p->saakm.node.rb;

	if (srq->bound)
		rb_erase_augmented_cached(rb, &srq->root, &saakm_least_cb);
	else if (unlikely(rb != srq->root.rb_leftmost))
		rb_erase(rb, &srq->root.rb_root);
	else
		saakm_rbtree_unlink_first(srq, rb);
	smp_store_release(&srq->nr_tasks, srq->nr_tasks - 1);	/* as saakm_rq_unlink() */
}

static noinline void saakm_rq_unlink_slow(struct saakm_rq *srq, struct task_struct *p)
{
	if (srq->type & SAAKM_RQ_SHARED)
		saakm_shared_unlink(srq, p);
	else if (unlikely(!srq->nr_tasks))
		saakm_lost_queue(p, srq);
	else
		saakm_rbtree_unlink(srq, p);
}

static __always_inline void saakm_rq_unlink(struct task_struct *p)
{
	struct saakm_rq *srq = p->saakm.rq;

	p->saakm.rq = NULL;
	if (likely(srq->type <= SAAKM_RQ_LIST && srq->nr_tasks)) {
		__list_del_entry(&p->saakm.node.list);
		/* Pairs with saakm_worth_locking(): of one thread the queue's first is the one. */
		smp_store_release(&srq->nr_tasks, srq->nr_tasks - 1);
	} else {
		saakm_rq_unlink_slow(srq, p);
	}
}

/* @p goes before all that the policies elect. */
static void saakm_link_orphan(struct rq *rq, struct task_struct *p)
{
	rq->saakm.special = true;
	saakm_rq_link(&rq->saakm.orphans, p);
}

/* Does @p, which waits in an ordered queue, go before @other? */
static __always_inline bool saakm_goes_before(const struct task_struct *p,
					      const struct task_struct *other)
{
	const struct saakm_rq *srq = p->saakm.rq;

	return srq && srq->key && saakm_before(p->saakm.key, saakm_ask_key(srq->key, other));
}

/* Its key may have changed. Most changes are about something else, and it stays. */
static void saakm_rq_resort(struct task_struct *p)
{
	struct saakm_rq *srq = p->saakm.rq;

	/* Ejected, or being removed: its keys are not asked for any more. */
	if (READ_ONCE(p->saakm.policy->ops) != &p->saakm.policy->own->routines)
		return;
	if (saakm_ask_key(srq->key, p) == p->saakm.key &&
	    (!srq->bound || saakm_ask_key(srq->bound, p) == p->saakm.bound))
		return;
	saakm_rq_unlink(p);
	saakm_rq_link(srq, p);
}
