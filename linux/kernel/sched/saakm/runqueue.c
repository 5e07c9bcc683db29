// SPDX-License-Identifier: GPL-2.0
/*
 * Runqueues of policies: FIFO, LIST, RBTREE. Protected by the lock of the
 * runqueue of srq->cpu.
 */

int saakm_runqueue_init(struct saakm_rq *srq, int cpu, enum saakm_rq_type type,
			saakm_order_fn order)
{
	bool ordered = type != SAAKM_RQ_FIFO;

	if (type > SAAKM_RQ_RBTREE || ordered != !!order || (unsigned int)cpu >= nr_cpu_ids)
		return -EINVAL;

	*srq = (struct saakm_rq) {
		.cpu	= cpu,
		.owner	= saakm_calling() ?: saakm_being_loaded(),
		.type	= type,
		.order	= order,
	};
	if (type == SAAKM_RQ_RBTREE)
		srq->root = RB_ROOT_CACHED;
	else
		INIT_LIST_HEAD(&srq->head);
	return 0;
}
EXPORT_SYMBOL_NS_GPL(saakm_runqueue_init, SAAKM);

#define __node_2_task(_rb) rb_entry(_rb, struct task_struct, saakm.node.rb)

static noinline void saakm_list_link(struct saakm_rq *srq, struct task_struct *p)
{
	struct task_struct *pos;

	/* From the tail: equal keys keep their order of arrival. */
	list_for_each_entry_reverse(pos, &srq->head, saakm.node.list) {
		if (srq->order(p, pos) >= 0)
			break;
	}
	list_add(&p->saakm.node.list, &pos->saakm.node.list);
}

static noinline void saakm_rbtree_link(struct saakm_rq *srq, struct task_struct *p)
{
	struct rb_node **link = &srq->root.rb_root.rb_node, *parent = NULL;
	bool leftmost = true;

	while (*link) {
		parent = *link;
		if (srq->order(p, __node_2_task(parent)) < 0) {
			link = &parent->rb_left;
		} else {
			link = &parent->rb_right;
			leftmost = false;
		}
	}
	rb_link_node(&p->saakm.node.rb, parent, link);
	rb_insert_color_cached(&p->saakm.node.rb, &srq->root, leftmost);
}

static __always_inline void saakm_rq_link(struct saakm_rq *srq, struct task_struct *p)
{
	p->saakm.rq = srq;
	WRITE_ONCE(srq->nr_tasks, srq->nr_tasks + 1);
	if (likely(srq->type == SAAKM_RQ_FIFO))
		list_add_tail(&p->saakm.node.list, &srq->head);
	else if (srq->type == SAAKM_RQ_LIST)
		saakm_list_link(srq, p);
	else
		saakm_rbtree_link(srq, p);
}

static noinline void saakm_rbtree_unlink(struct saakm_rq *srq, struct task_struct *p)
{
	rb_erase_cached(&p->saakm.node.rb, &srq->root);
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

	if (srq->type == SAAKM_RQ_FIFO || saakm_exit_kind(p->saakm.policy))
		return;
	prev = saakm_rq_prev(srq, p);
	next = saakm_rq_next(srq, p);
	if ((!prev || srq->order(prev, p) <= 0) && (!next || srq->order(p, next) <= 0))
		return;
	saakm_rq_unlink(p);
	saakm_rq_link(srq, p);
}
