/* SPDX-License-Identifier: GPL-2.0 */
/* Nodes and roots of red-black trees, in the kernel's layout. Stands for linux/rbtree_types.h. */
#ifndef _LINUX_RBTREE_TYPES_H
#define _LINUX_RBTREE_TYPES_H

struct rb_node {
	unsigned long	__rb_parent_color;	/* the parent, and RB_BLACK in bit 0 */
	struct rb_node	*rb_right;
	struct rb_node	*rb_left;
} __attribute__((__aligned__(sizeof(long))));

struct rb_root {
	struct rb_node	*rb_node;
};

struct rb_root_cached {
	struct rb_root	rb_root;
	struct rb_node	*rb_leftmost;
};

#define RB_ROOT		(struct rb_root){ NULL, }
#define RB_ROOT_CACHED	(struct rb_root_cached){ { NULL, }, NULL }

#endif /* _LINUX_RBTREE_TYPES_H */
