/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/wait.h> here. */
#include <linux/wait.h>
