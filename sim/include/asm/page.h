/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/slab.h> here. */
#include <linux/slab.h>
