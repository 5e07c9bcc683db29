/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/rbtree.h> here. */
#include <linux/rbtree.h>
