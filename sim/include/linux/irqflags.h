/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/preempt.h> here. */
#include <linux/preempt.h>
