/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/kernel.h> here. */
#include <linux/kernel.h>
