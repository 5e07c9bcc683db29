/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/cpu.h> here. */
#include <linux/cpu.h>
