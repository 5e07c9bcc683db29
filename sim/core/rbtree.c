// SPDX-License-Identifier: GPL-2.0
/*
 * Red-black trees. Both mirror images of each case are one: sides are an argument. The rules: the
 * root is black, a red node has no red child, and all ways down meet as many black nodes. A missing
 * child counts as black.
 */
#include <linux/rbtree.h>

static __always_inline struct rb_node **rb_child(struct rb_node *node, bool left)
{
	return left ? &node->rb_left : &node->rb_right;
}

static __always_inline bool rb_red(const struct rb_node *node)
{
	return node && rb_is_red(node);
}

static __always_inline void rb_set_parent(struct rb_node *node, struct rb_node *parent)
{
	node->__rb_parent_color = (unsigned long)parent | rb_is_black(node);
}

static __always_inline void rb_set_color(struct rb_node *node, unsigned long color)
{
	node->__rb_parent_color = (unsigned long)rb_parent(node) | color;
}

/* Puts @new, or nobody, where @old is below its @parent. */
static __always_inline void rb_change_child(struct rb_node *old, struct rb_node *new,
					    struct rb_node *parent, struct rb_root *root)
{
	if (!parent)
		root->rb_node = new;
	else if (parent->rb_left == old)
		parent->rb_left = new;
	else
		parent->rb_right = new;
}

/* @node goes down to the @left; its other child, which is returned, comes up. Colours stay. */
static struct rb_node *rb_turn(struct rb_node *node, bool left, struct rb_root *root,
			       void (*rotate)(struct rb_node *old, struct rb_node *new))
{
	struct rb_node *up = *rb_child(node, !left), *inner = *rb_child(up, left);
	struct rb_node *parent = rb_parent(node);

	*rb_child(node, !left) = inner;
	if (inner)
		rb_set_parent(inner, node);
	*rb_child(up, left) = node;
	rb_set_parent(node, up);
	rb_set_parent(up, parent);
	rb_change_child(node, up, parent, root);
	if (rotate)
		rotate(node, up);
	return up;
}

/* @node is linked, as a red leaf: its parent may be red, too. */
void __rb_insert(struct rb_node *node, struct rb_root *root,
		 void (*rotate)(struct rb_node *old, struct rb_node *new))
{
	struct rb_node *parent, *grandparent, *uncle;
	bool left;

	while ((parent = rb_parent(node)) && rb_is_red(parent)) {
		grandparent = rb_parent(parent);
		left = parent == grandparent->rb_left;
		uncle = *rb_child(grandparent, !left);
		if (rb_red(uncle)) {
			rb_set_color(uncle, RB_BLACK);
			rb_set_color(parent, RB_BLACK);
			rb_set_color(grandparent, RB_RED);
			node = grandparent;
			continue;
		}
		if (node == *rb_child(parent, !left))
			parent = rb_turn(parent, left, root, rotate);
		rb_turn(grandparent, !left, root, rotate);
		rb_set_color(parent, RB_BLACK);
		rb_set_color(grandparent, RB_RED);
		return;
	}
	if (!parent)
		rb_set_color(node, RB_BLACK);
}

/* Ways through the @left child of @parent, which is black or none, meet a black node too few. */
static void rb_mend(struct rb_node *parent, bool left, struct rb_root *root,
		    void (*rotate)(struct rb_node *old, struct rb_node *new))
{
	struct rb_node *sibling, *node;

	for (;;) {
		sibling = *rb_child(parent, !left);
		if (rb_is_red(sibling)) {
			rb_turn(parent, left, root, rotate);
			rb_set_color(sibling, RB_BLACK);
			rb_set_color(parent, RB_RED);
			sibling = *rb_child(parent, !left);
		}
		if (rb_red(sibling->rb_left) || rb_red(sibling->rb_right))
			break;
		rb_set_color(sibling, RB_RED);
		node = parent;
		parent = rb_parent(node);
		if (rb_is_red(node) || !parent) {
			rb_set_color(node, RB_BLACK);
			return;
		}
		left = node == parent->rb_left;
	}
	if (!rb_red(*rb_child(sibling, !left))) {
		/* The near child is red: it becomes the sibling, and that its far child. */
		node = rb_turn(sibling, !left, root, rotate);
		rb_set_color(node, RB_BLACK);
		rb_set_color(sibling, RB_RED);
		sibling = node;
	}
	rb_turn(parent, left, root, rotate);
	rb_set_color(sibling, rb_is_black(parent));
	rb_set_color(parent, RB_BLACK);
	rb_set_color(*rb_child(sibling, !left), RB_BLACK);
}

/* The outermost on one side. */
static struct rb_node *rb_end(struct rb_node *node, bool left)
{
	if (!node)
		return NULL;
	while (*rb_child(node, left))
		node = *rb_child(node, left);
	return node;
}

/*
 * @node, which has two children, is replaced by @next, which has no left child. Says where that is
 * missing now: below whom, and on which side.
 */
static struct rb_node *rb_replace_by_next(struct rb_node *node, struct rb_root *root,
					  struct rb_node *next, bool *left,
					  const struct rb_augment_callbacks *augment)
{
	struct rb_node *parent = rb_parent(next);

	*left = parent != node;
	if (*left) {
		parent->rb_left = next->rb_right;
		if (next->rb_right)
			rb_set_parent(next->rb_right, parent);
		next->rb_right = node->rb_right;
		rb_set_parent(node->rb_right, next);
	} else {
		parent = next;
	}
	next->rb_left = node->rb_left;
	rb_set_parent(node->rb_left, next);
	rb_change_child(node, next, rb_parent(node), root);
	rb_set_parent(next, rb_parent(node));
	if (augment) {
		augment->copy(node, next);
		if (*left)
			augment->propagate(parent, next);
		augment->propagate(next, NULL);
	}
	return parent;
}

void __rb_erase(struct rb_node *node, struct rb_root *root,
		const struct rb_augment_callbacks *augment)
{
	struct rb_node *child = node->rb_left ?: node->rb_right, *parent = rb_parent(node);
	bool left = parent && parent->rb_left == node, black = rb_is_black(node);

	if (node->rb_left && node->rb_right) {
		struct rb_node *next = rb_end(node->rb_right, true);
		unsigned long color = black;

		/* What leaves its place is @next, with what @node was. */
		black = rb_is_black(next);
		child = next->rb_right;
		parent = rb_replace_by_next(node, root, next, &left, augment);
		rb_set_color(next, color);
	} else {
		if (child)
			rb_set_parent(child, parent);
		rb_change_child(node, child, parent, root);
		if (augment)
			augment->propagate(parent, NULL);
	}
	if (!black)
		return;
	if (child)
		rb_set_color(child, RB_BLACK);	/* an only child is red */
	else if (parent)
		rb_mend(parent, left, root, augment ? augment->rotate : NULL);
}

static struct rb_node *rb_neighbour(const struct rb_node *node, bool left)
{
	struct rb_node *parent, *child = (struct rb_node *)node;

	if (RB_EMPTY_NODE(node))
		return NULL;
	if (*rb_child(child, left))
		return rb_end(*rb_child(child, left), !left);
	while ((parent = rb_parent(child)) && child == *rb_child(parent, left))
		child = parent;
	return parent;
}

struct rb_node *rb_first(const struct rb_root *root)
{
	return rb_end(root->rb_node, true);
}

struct rb_node *rb_last(const struct rb_root *root)
{
	return rb_end(root->rb_node, false);
}

struct rb_node *rb_next(const struct rb_node *node)
{
	return rb_neighbour(node, false);
}

struct rb_node *rb_prev(const struct rb_node *node)
{
	return rb_neighbour(node, true);
}
