/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/bitops.h> here. */
#include <linux/bitops.h>
