// SPDX-License-Identifier: GPL-2.0
/*
 * rr: one queue per CPU, a time slice, and balancing. A thread starts and wakes
 * on an idle CPU near its last one, which is the class's own choice; a CPU that
 * runs dry takes a waiting thread from the nearest queue that has one, and every
 * CPU looks around from time to time, so that none sleeps through a wakeup elsewhere.
 */
#include <linux/saakm.h>

SAAKM_POLICY(rr,
	     .slice_us			= 4000,
	     .newly_idle		= saakm_pull_idle,
	     .balancing_select		= saakm_pull_busier,
	     .balance_interval_ms	= 16);
MODULE_INFO(saakm_promises, "work-conservation, no-starvation, fairness");
