/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Red-black trees, plain and augmented. Stands for linux/rbtree.h and rbtree_augmented.h; the
 * balancing is in sim/core/rbtree.c.
 */
#ifndef _LINUX_RBTREE_H
#define _LINUX_RBTREE_H

#include <linux/kernel.h>
#include <linux/rbtree_types.h>

#define RB_RED		0
#define RB_BLACK	1

#define rb_parent(node)		((struct rb_node *)((node)->__rb_parent_color & ~3UL))
#define rb_is_black(node)	((node)->__rb_parent_color & RB_BLACK)
#define rb_is_red(node)		(!rb_is_black(node))

#define rb_entry(pointer, type, member)	container_of(pointer, type, member)

#define RB_EMPTY_NODE(node)	((node)->__rb_parent_color == (unsigned long)(node))
#define RB_CLEAR_NODE(node)	((node)->__rb_parent_color = (unsigned long)(node))

/* Keep what each node knows of those below it. */
struct rb_augment_callbacks {
	void (*propagate)(struct rb_node *node, struct rb_node *stop);
	void (*copy)(struct rb_node *old, struct rb_node *new);
	void (*rotate)(struct rb_node *old, struct rb_node *new);
};

void __rb_insert(struct rb_node *node, struct rb_root *root,
		 void (*rotate)(struct rb_node *old, struct rb_node *new));
void __rb_erase(struct rb_node *node, struct rb_root *root,
		const struct rb_augment_callbacks *augment);
struct rb_node *rb_first(const struct rb_root *root);
struct rb_node *rb_last(const struct rb_root *root);
struct rb_node *rb_next(const struct rb_node *node);
struct rb_node *rb_prev(const struct rb_node *node);

#define rb_insert_color(node, root)	__rb_insert(node, root, NULL)
#define rb_erase(node, root)		__rb_erase(node, root, NULL)
#define rb_first_cached(root)		((root)->rb_leftmost)

static inline void rb_link_node(struct rb_node *node, struct rb_node *parent,
				struct rb_node **link)
{
	node->__rb_parent_color = (unsigned long)parent;
	node->rb_left = NULL;
	node->rb_right = NULL;
	*link = node;
}

static inline void rb_insert_color_cached(struct rb_node *node, struct rb_root_cached *root,
					  bool leftmost)
{
	if (leftmost)
		root->rb_leftmost = node;
	rb_insert_color(node, &root->rb_root);
}

/* Returns the new leftmost, if it is another one. */
static inline struct rb_node *__rb_erase_cached(struct rb_node *node, struct rb_root_cached *root,
						const struct rb_augment_callbacks *augment)
{
	struct rb_node *leftmost = NULL;

	if (root->rb_leftmost == node)
		leftmost = root->rb_leftmost = rb_next(node);
	__rb_erase(node, &root->rb_root, augment);
	return leftmost;
}

#define rb_erase_cached(node, root)	__rb_erase_cached(node, root, NULL)

typedef bool (*rb_less_t)(struct rb_node *node, const struct rb_node *other);

/* Finds the place, behind equals, and links @node there. True: it is the leftmost. */
static __always_inline bool __rb_descend(struct rb_node *node, struct rb_root *root, rb_less_t less)
{
	struct rb_node **link = &root->rb_node, *parent = NULL;
	bool leftmost = true;

	while (*link) {
		parent = *link;
		if (less(node, parent)) {
			link = &parent->rb_left;
		} else {
			link = &parent->rb_right;
			leftmost = false;
		}
	}
	rb_link_node(node, parent, link);
	return leftmost;
}

static __always_inline void rb_add(struct rb_node *node, struct rb_root *root, rb_less_t less)
{
	__rb_descend(node, root, less);
	rb_insert_color(node, root);
}

static __always_inline struct rb_node *rb_add_cached(struct rb_node *node,
						     struct rb_root_cached *root, rb_less_t less)
{
	bool leftmost = __rb_descend(node, &root->rb_root, less);

	rb_insert_color_cached(node, root, leftmost);
	return leftmost ? node : NULL;
}

/* What @node knows of itself is set already. */
static __always_inline struct rb_node *
rb_add_augmented_cached(struct rb_node *node, struct rb_root_cached *root, rb_less_t less,
			const struct rb_augment_callbacks *augment)
{
	bool leftmost = __rb_descend(node, &root->rb_root, less);

	if (leftmost)
		root->rb_leftmost = node;
	augment->propagate(rb_parent(node), NULL);
	__rb_insert(node, &root->rb_root, augment->rotate);
	return leftmost ? node : NULL;
}

#define rb_erase_augmented_cached(node, root, augment) __rb_erase_cached(node, root, augment)

static __always_inline struct rb_node *rb_find(const void *key, const struct rb_root *root,
					       int (*compare)(const void *key,
							      const struct rb_node *node))
{
	struct rb_node *node = root->rb_node;
	int order;

	while (node) {
		order = compare(key, node);
		if (!order)
			break;
		node = order < 0 ? node->rb_left : node->rb_right;
	}
	return node;
}

/*
 * @_compute(object, stop) renews @_augmented of an object from itself and its children; with
 * @stop true it says whether nothing has changed.
 */
#define RB_DECLARE_CALLBACKS(_static, _name, _type, _member, _augmented, _compute)		\
static inline void _name##_propagate(struct rb_node *rb, struct rb_node *stop)			\
{												\
	for (; rb != stop; rb = rb_parent(rb)) {						\
		if (_compute(rb_entry(rb, _type, _member), true))				\
			break;									\
	}											\
}												\
static inline void _name##_copy(struct rb_node *old, struct rb_node *new)			\
{												\
	rb_entry(new, _type, _member)->_augmented = rb_entry(old, _type, _member)->_augmented;	\
}												\
static void _name##_rotate(struct rb_node *old, struct rb_node *new)				\
{												\
	_name##_copy(old, new);									\
	_compute(rb_entry(old, _type, _member), false);						\
}												\
_static const struct rb_augment_callbacks _name = {						\
	.propagate	= _name##_propagate,							\
	.copy		= _name##_copy,								\
	.rotate		= _name##_rotate,							\
}

#endif /* _LINUX_RBTREE_H */
