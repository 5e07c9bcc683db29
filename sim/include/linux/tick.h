/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tick. Stands for linux/tick.h and kernel/time/tick-sched.h. Idle CPUs have none; no CPU is
 * nohz_full.
 */
#ifndef _LINUX_TICK_H
#define _LINUX_TICK_H

#include <linux/bitops.h>
#include <linux/time.h>

#define TS_FLAG_NOHZ		BIT(4)
#define TS_FLAG_HIGHRES		BIT(5)

struct tick_sched {
	unsigned long	flags;
};

struct tick_sched *tick_get_tick_sched(int cpu);
bool tick_nohz_tick_stopped_cpu(int cpu);
bool tick_nohz_tick_stopped(void);

/* Counts the ticks that no CPU has counted. */
void tick_do_update_jiffies64(ktime_t now);

#define tick_nohz_full_cpu(cpu)		((void)(cpu), false)

#endif /* _LINUX_TICK_H */
