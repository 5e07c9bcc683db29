/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/cpumask.h> here. */
#include <linux/cpumask.h>
