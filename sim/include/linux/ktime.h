/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/time.h> here. */
#include <linux/time.h>
