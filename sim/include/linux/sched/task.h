/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/sched.h> here. */
#include <linux/sched.h>
