/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/kobject.h> here. */
#include <linux/kobject.h>
