/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/string.h> here. */
#include <linux/string.h>
