/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/slab.h> here, and what is mapped of <linux/mm.h>. */
#include <linux/mm.h>
