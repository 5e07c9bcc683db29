// SPDX-License-Identifier: GPL-2.0
/* forger: a FIFO whose handler overwrites the flags of who has come from another policy. */
#include <linux/saakm.h>

static void forger_setparam_attr(struct process_event *event, const struct sched_attr *attr)
{
	event->flags = 0;
}

SAAKM_POLICY(forger, .setparam_attr = forger_setparam_attr);
