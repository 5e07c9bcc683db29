/* SPDX-License-Identifier: GPL-2.0 */
/* Lists that many add to and one empties. Stands for linux/llist.h; nothing is atomic here. */
#ifndef _LINUX_LLIST_H
#define _LINUX_LLIST_H

#include <linux/kernel.h>

struct llist_node {
	struct llist_node *next;
};

struct llist_head {
	struct llist_node *first;
};

#define LLIST_HEAD_INIT(name)	{ NULL }
#define LLIST_HEAD(name)	struct llist_head name = LLIST_HEAD_INIT(name)
#define llist_entry(pointer, type, member) container_of(pointer, type, member)

static inline void init_llist_head(struct llist_head *list)
{
	list->first = NULL;
}

static inline bool llist_empty(const struct llist_head *list)
{
	return !READ_ONCE(list->first);
}

/* True: it was empty. */
static inline bool llist_add_batch(struct llist_node *first, struct llist_node *last,
				   struct llist_head *list)
{
	last->next = list->first;
	list->first = first;
	return !last->next;
}

static inline bool llist_add(struct llist_node *node, struct llist_head *list)
{
	return llist_add_batch(node, node, list);
}

static inline struct llist_node *llist_del_all(struct llist_head *list)
{
	struct llist_node *first = list->first;

	list->first = NULL;
	return first;
}

static inline struct llist_node *llist_reverse_order(struct llist_node *node)
{
	struct llist_node *reversed = NULL, *next;

	for (; node; node = next) {
		next = node->next;
		node->next = reversed;
		reversed = node;
	}
	return reversed;
}

#define __sim_llist_entry(pointer, type, member) ({			\
	struct llist_node *__node = (pointer);				\
	__node ? llist_entry(__node, type, member) : NULL;		\
})
#define llist_for_each_entry(pos, node, member)				\
	for (pos = __sim_llist_entry(node, __typeof__(*(pos)), member); pos; \
	     pos = __sim_llist_entry((pos)->member.next, __typeof__(*(pos)), member))
#define llist_for_each_entry_safe(pos, n, node, member)			\
	for (pos = __sim_llist_entry(node, __typeof__(*(pos)), member);	\
	     pos && ({ n = __sim_llist_entry((pos)->member.next, __typeof__(*(n)), member); 1; }); \
	     pos = n)

#endif /* _LINUX_LLIST_H */
