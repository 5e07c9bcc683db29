/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/mutex.h> here. */
#include <linux/mutex.h>
