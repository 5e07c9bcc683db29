/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/fs.h> here. */
#include <linux/fs.h>
