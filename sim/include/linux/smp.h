/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/percpu.h> here. */
#include <linux/percpu.h>
