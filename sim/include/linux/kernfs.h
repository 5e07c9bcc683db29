/* SPDX-License-Identifier: GPL-2.0 */
/* Part of <linux/cgroup.h> here. */
#include <linux/cgroup.h>
