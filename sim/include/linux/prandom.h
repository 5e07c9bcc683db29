/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/math64.h> here. */
#include <linux/math64.h>
