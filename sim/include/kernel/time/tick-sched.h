/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/tick.h> here. */
#include <linux/tick.h>
