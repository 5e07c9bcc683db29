/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/atomic.h> here. */
#include <linux/atomic.h>
