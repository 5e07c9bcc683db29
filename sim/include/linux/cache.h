/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/compiler.h> here. */
#include <linux/compiler.h>
