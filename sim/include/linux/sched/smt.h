/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/topology.h> here. */
#include <linux/topology.h>
