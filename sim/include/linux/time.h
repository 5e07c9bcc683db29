/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Clocks. Stands for linux/time64.h, jiffies.h, ktime.h, timekeeping.h, sched/clock.h. All but
 * jiffies are the simulated time, to the ns; sched_clock_cpu() is off by the skew of its CPU.
 */
#ifndef _LINUX_TIME_H
#define _LINUX_TIME_H

#include <linux/math64.h>
#include <sim/host.h>

#define NSEC_PER_SEC		1000000000L
#define NSEC_PER_MSEC		1000000L
#define NSEC_PER_USEC		1000L
#define USEC_PER_SEC		1000000L
#define USEC_PER_MSEC		1000L
#define MSEC_PER_SEC		1000L

#define HZ			CONFIG_HZ
#define TICK_NSEC		((NSEC_PER_SEC + HZ / 2) / HZ)
#define INITIAL_JIFFIES		((unsigned long)(unsigned int)(-300 * HZ))
#define MAX_JIFFY_OFFSET	((LONG_MAX >> 1) - 1)

/* Counted by the ticks, by sim/core/tick.c. Overflows 32 bits after 300 s, as there. */
extern volatile unsigned long jiffies;

#define time_after(a, b)	((long)((b) - (a)) < 0)
#define time_before(a, b)	time_after(b, a)
#define time_after_eq(a, b)	((long)((a) - (b)) >= 0)
#define time_before_eq(a, b)	time_after_eq(b, a)

#define time_is_before_jiffies(a)	time_after(jiffies, a)
#define time_is_after_jiffies(a)	time_before(jiffies, a)

static inline unsigned long msecs_to_jiffies(unsigned int ms)
{
	return (int)ms < 0 ? MAX_JIFFY_OFFSET : DIV_ROUND_UP((unsigned long)ms * HZ, MSEC_PER_SEC);
}

static inline unsigned long usecs_to_jiffies(unsigned int us)
{
	return DIV_ROUND_UP((unsigned long)us * HZ, USEC_PER_SEC);
}

static inline unsigned int jiffies_to_msecs(unsigned long j)
{
	return j * MSEC_PER_SEC / HZ;
}

static inline unsigned int jiffies_to_usecs(unsigned long j)
{
	return j * USEC_PER_SEC / HZ;
}

typedef s64 ktime_t;

#define ktime_get()		((ktime_t)sim_now)
#define ktime_get_ns()		((u64)sim_now)
#define ktime_get_mono_fast_ns() ((u64)sim_now)
#define ns_to_ktime(ns)		((ktime_t)(ns))
#define ktime_to_ns(t)		((s64)(t))
#define us_to_ktime(us)		((ktime_t)(us) * NSEC_PER_USEC)
#define ms_to_ktime(ms)		((ktime_t)(ms) * NSEC_PER_MSEC)
#define ktime_add(a, b)		((a) + (b))
#define ktime_add_ns(t, ns)	((t) + (ktime_t)(ns))
#define ktime_sub(a, b)		((a) - (b))
#define ktime_before(a, b)	((a) < (b))

/* The clock of the scheduler: sim/core/clock.c */
u64 sched_clock_cpu(int cpu);
#define local_clock()		sched_clock_cpu(sim_context.cpu)
#define sched_clock()		local_clock()

#endif /* _LINUX_TIME_H */
