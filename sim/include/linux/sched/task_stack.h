/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/uaccess.h> here. */
#include <linux/uaccess.h>
