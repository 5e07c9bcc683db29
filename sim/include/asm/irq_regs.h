/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/interrupt.h> here. */
#include <linux/interrupt.h>
