/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/hrtimer.h> here. */
#include <linux/hrtimer.h>
