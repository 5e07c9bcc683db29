// SPDX-License-Identifier: GPL-2.0
#include <linux/saakm.h>

/* Places by saakm_idle_cpu_near() alone: nobody is pulled. */
static int far_prepare(struct process_event *event)
{
	int cpu = saakm_idle_cpu_near(event->task, event->prev_cpu);

	return cpu >= 0 ? cpu : event->prev_cpu;
}
SAAKM_POLICY(far, .slice_us = 4000, .prepare = far_prepare);
