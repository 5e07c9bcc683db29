// SPDX-License-Identifier: GPL-2.0
/*
 * Runqueues of policies: FIFO, LIST, RBTREE. Protected by the lock of the
 * runqueue of srq->cpu.
 */

static int __saakm_runqueue_init(struct saakm_rq *srq, struct saakm_policy *owner, int cpu,
				 enum saakm_rq_type type, saakm_order_fn order)
{
	bool ordered = type != SAAKM_RQ_FIFO;

	if ((unsigned int)type > SAAKM_RQ_RBTREE || ordered != !!order ||
	    (unsigned int)cpu >= nr_cpu_ids)
		return -EINVAL;

	*srq = (struct saakm_rq) {
		.cpu	= cpu,
		.owner	= owner,
		.type	= type,
		.order	= order,
	};
	if (type == SAAKM_RQ_RBTREE)
		srq->root = RB_ROOT_CACHED;
	else
		INIT_LIST_HEAD(&srq->head);
	return 0;
}

int saakm_runqueue_init(struct saakm_rq *srq, int cpu, enum saakm_rq_type type,
			saakm_order_fn order)
{
	struct saakm_policy *owner = saakm_calling() ?: saakm_being_loaded();

	/* core->rq is set up already, and the class goes by what it was at load. */
	if (owner && (unsigned int)cpu < nr_cpu_ids && srq == &saakm_core(owner, cpu)->event.rq)
		return -EINVAL;
	return __saakm_runqueue_init(srq, owner, cpu, type, order);
}
EXPORT_SYMBOL_NS_GPL(saakm_runqueue_init, SAAKM);

#define __node_2_task(_rb) rb_entry(_rb, struct task_struct, saakm.node.rb)

#define __list_2_task(_pos) list_entry(_pos, struct task_struct, saakm.node.list)

/* @p goes before the last one. Those that go before all are quick. */
static noinline struct list_head *saakm_list_place(struct saakm_rq *srq, struct task_struct *p)
{
	struct list_head *pos = srq->head.prev;

	if (srq->order(p, __list_2_task(srq->head.next)) < 0)
		return &srq->head;
	/* It may have changed its mind about the first one. */
	do
		pos = pos->prev;
	while (pos != &srq->head && srq->order(p, __list_2_task(pos)) < 0);
	return pos;
}

/* From the tail: equal keys keep their order of arrival. */
static __always_inline void saakm_list_link(struct saakm_rq *srq, struct task_struct *p)
{
	struct list_head *pos = srq->head.prev;

	if (pos != &srq->head && srq->order(p, __list_2_task(pos)) < 0)
		pos = saakm_list_place(srq, p);
	list_add(&p->saakm.node.list, pos);
}

static __always_inline void saakm_rbtree_link(struct saakm_rq *srq, struct task_struct *p)
{
	struct rb_node *parent = srq->root.rb_leftmost, **link = &srq->root.rb_root.rb_node;
	struct rb_node *rb = &p->saakm.node.rb;
	bool leftmost = true;

	if (parent) {
		leftmost = srq->order(p, __node_2_task(parent)) < 0;
		/* Many waiting threads cost those nothing that go before them all. */
		if (leftmost)
			link = &parent->rb_left;
		else if (parent == *link)
			link = &parent->rb_right;
	}
	while (*link) {
		parent = *link;
		link = srq->order(p, __node_2_task(parent)) < 0 ? &parent->rb_left :
			&parent->rb_right;
	}
	rb_link_node(rb, parent, link);
	rb_insert_color_cached(rb, &srq->root, leftmost);
}

static __always_inline void saakm_rq_link_fifo(struct saakm_rq *srq, struct task_struct *p)
{
	p->saakm.rq = srq;
	WRITE_ONCE(srq->nr_tasks, srq->nr_tasks + 1);
	list_add_tail(&p->saakm.node.list, &srq->head);
}

/* Order functions run as what they are: they may call nothing of the class. */
static __always_inline struct saakm_context saakm_begin_order(const struct task_struct *p)
{
	struct saakm_context outer = {
		.subject	= __this_cpu_read(saakm_context.subject),
		.handler	= __this_cpu_read(saakm_context.handler),
	};

	__this_cpu_write(saakm_context.subject, p);
	__this_cpu_write(saakm_context.handler, SAAKM_H_order);
	return outer;
}

static __always_inline void saakm_end_order(const struct saakm_context *outer)
{
	__this_cpu_write(saakm_context.subject, outer->subject);
	__this_cpu_write(saakm_context.handler, outer->handler);
}

/* Negative, if @a goes before @b. */
static __always_inline int saakm_order(const struct saakm_rq *srq, const struct task_struct *a,
				       const struct task_struct *b)
{
	struct saakm_context outer = saakm_begin_order(a);
	int order = srq->order(a, b);

	saakm_end_order(&outer);
	return order;
}

static __always_inline void saakm_rq_link_sorted(struct saakm_rq *srq, struct task_struct *p,
						 enum saakm_rq_type type)
{
	struct saakm_context outer = saakm_begin_order(p);

	if (type == SAAKM_RQ_LIST)
		saakm_list_link(srq, p);
	else
		saakm_rbtree_link(srq, p);
	saakm_end_order(&outer);
	p->saakm.rq = srq;
	WRITE_ONCE(srq->nr_tasks, srq->nr_tasks + 1);
}

static noinline void saakm_rq_link_ordered(struct saakm_rq *srq, struct task_struct *p)
{
	saakm_rq_link_sorted(srq, p, srq->type);
}

static __always_inline void saakm_rq_link(struct saakm_rq *srq, struct task_struct *p)
{
	if (likely(srq->type == SAAKM_RQ_FIFO))
		saakm_rq_link_fifo(srq, p);
	else
		saakm_rq_link_ordered(srq, p);
}

static noinline void saakm_rbtree_unlink(struct saakm_rq *srq, struct task_struct *p)
{
	struct rb_node *rb = &p->saakm.node.rb, *right = rb->rb_right;

	/* What is left of the leftmost one was inserted by an order that changes its mind. */
	if (unlikely(rb != srq->root.rb_leftmost || rb->rb_left)) {
		rb_erase_cached(rb, &srq->root);
		return;
	}
	/* Mostly the one that is elected; its child has none itself. */
	srq->root.rb_leftmost = right ?: rb_parent(rb);
	if (rb != srq->root.rb_root.rb_node) {
		rb_erase(rb, &srq->root.rb_root);
		return;
	}
	srq->root.rb_root.rb_node = right;
	if (right)
		right->__rb_parent_color = RB_BLACK;
}

static __always_inline void saakm_rq_unlink(struct task_struct *p)
{
	struct saakm_rq *srq = p->saakm.rq;

	p->saakm.rq = NULL;
	if (unlikely(!srq->nr_tasks)) {
		saakm_lost_queue(p, srq);
		return;
	}
	WRITE_ONCE(srq->nr_tasks, srq->nr_tasks - 1);
	if (likely(srq->type != SAAKM_RQ_RBTREE))
		__list_del_entry(&p->saakm.node.list);
	else
		saakm_rbtree_unlink(srq, p);
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

	return srq && srq->order && saakm_order(srq, p, other) < 0;
}

static struct task_struct *saakm_rq_prev(struct saakm_rq *srq, struct task_struct *p)
{
	struct rb_node *rb;

	if (srq->type != SAAKM_RQ_RBTREE)
		return list_is_first(&p->saakm.node.list, &srq->head) ? NULL :
			list_prev_entry(p, saakm.node.list);
	rb = rb_prev(&p->saakm.node.rb);
	return rb ? __node_2_task(rb) : NULL;
}

/*
 * What the order depends on may have changed. A thread that is still between
 * its neighbours stays: most changes are not about its key.
 */
static void saakm_rq_resort(struct task_struct *p)
{
	struct saakm_rq *srq = p->saakm.rq;
	struct task_struct *prev, *next;

	/* Ejected, or being removed: its order is not asked any more. */
	if (READ_ONCE(p->saakm.policy->ops) != &p->saakm.policy->own->routines)
		return;
	prev = saakm_rq_prev(srq, p);
	next = saakm_rq_next(srq, p);
	if ((!prev || saakm_order(srq, prev, p) <= 0) && (!next || saakm_order(srq, p, next) <= 0))
		return;
	saakm_rq_unlink(p);
	saakm_rq_link(srq, p);
}
