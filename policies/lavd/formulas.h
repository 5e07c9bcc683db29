/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What lavd computes: how critical a thread's latency is, when it is due, for how long it runs.
 * Functions of their arguments alone, so that a test can ask them for any input. Rules and
 * constants are those of scx_lavd 1.1.4 (lat_cri.bpf.c, main.bpf.c, preempt.bpf.c, sys_stat.bpf.c).
 */
#ifndef _LAVD_FORMULAS_H
#define _LAVD_FORMULAS_H

#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#define LAVD_SHIFT		10	/* of fractions: 1 is LAVD_SCALE */
#define LAVD_SCALE		1024U

#define LAVD_INTERVAL_NS	(10 * NSEC_PER_MSEC)	/* between two looks at the whole system */
#define LAVD_LATENCY_NS		(10 * NSEC_PER_MSEC)	/* all that wait shall run within it */
#define LAVD_SLICE_BONUS_NS	(500 * NSEC_PER_USEC)
#define LAVD_SLICE_BOOST_MAX_NS	(500 * NSEC_PER_MSEC)
#define LAVD_RUNTIME_UNIT_NS	(500 * NSEC_PER_USEC)
#define LAVD_RUN_MAX_NS		(5 * NSEC_PER_MSEC)	/* of a run, what defers a deadline */
#define LAVD_LAG_MAX_NS		(500 * NSEC_PER_MSEC)	/* at weight 100 */
#define LAVD_WINDOW_NS		((300 * NSEC_PER_MSEC) >> 16)
#define LAVD_FREQUENCY_MAX	100000			/* per second: each 10 us */

/* What a thread adds to its weight, in hundreds; see lavd_weight_factor(). */
#define LAVD_BOOST_REGULAR	128
#define LAVD_BOOST_MEDIUM	256
#define LAVD_BOOST_HIGH		512
#define LAVD_BOOST_HIGHEST	1024

/* The circumstances in which a thread is queued. */
enum lavd_circumstance {
	LAVD_WOKEN		= 1 << 0,
	LAVD_WOKEN_SYNC		= 1 << 1,
	LAVD_WOKEN_BY_IRQ	= 1 << 2,
	LAVD_WOKEN_BY_SOFTIRQ	= 1 << 3,
	LAVD_WOKEN_BY_RT	= 1 << 4,	/* or by a deadline thread */
	LAVD_KTHREAD		= 1 << 5,
	LAVD_KSOFTIRQD		= 1 << 6,
	LAVD_KWORKER		= 1 << 7,	/* or a worker of io_uring */
	LAVD_AFFINE		= 1 << 8,	/* it may not use all CPUs */
	LAVD_PINNED		= 1 << 9,	/* to one, or migration is disabled */
	LAVD_LOCKED		= 1 << 10,	/* it held a lock when it ran last */
};

/* The number of bits of @v, at least 1. */
static inline u32 lavd_bits(u64 v)
{
	return v ? ilog2(v) + 1 : 1;
}

/* A moving average: 7/8 and 1/8; of small numbers, which would be cut off, halves. */
static inline u64 lavd_mean(u64 old, u64 new)
{
	if (old >= 8 && new >= 8)
		return old - (old >> 3) + (new >> 3);
	return old == 1 && !new ? 0 : old - (old >> 1) + (new >> 1);
}

/* One that rises fast, by 3/4 of @new, and falls slowly. */
static inline u64 lavd_rising_mean(u64 old, u64 new)
{
	if (old >= new)
		return lavd_mean(old, new);
	if (old >= 4 && new >= 4)
		return new - (new >> 2) + (old >> 2);
	return new == 1 && !old ? 0 : new - (new >> 1) + (old >> 1);
}

/* A frequency, per second, after another event that came @interval_ns after the last. */
static inline u64 lavd_frequency(u64 old, u64 interval_ns)
{
	return interval_ns ? lavd_mean(old, div64_u64(NSEC_PER_SEC, interval_ns)) : old;
}

/* @weight: as sched_ext's, 1 to 10000, 100 for nice 0. @how: enum lavd_circumstance */
static inline u64 lavd_weight_factor(unsigned int weight, unsigned int how)
{
	u64 boost = 1;

	boost += how & LAVD_WOKEN ? LAVD_BOOST_REGULAR : 0;
	boost += how & LAVD_WOKEN_SYNC ? LAVD_BOOST_REGULAR : 0;
	if (how & LAVD_WOKEN_BY_IRQ)
		boost += LAVD_BOOST_HIGHEST;
	else if (how & LAVD_WOKEN_BY_SOFTIRQ)
		boost += LAVD_BOOST_HIGH;
	boost += how & LAVD_WOKEN_BY_RT ? LAVD_BOOST_HIGH : 0;
	boost += how & LAVD_KTHREAD ? LAVD_BOOST_MEDIUM : 0;
	boost += how & LAVD_KSOFTIRQD ? LAVD_BOOST_HIGH : 0;
	boost += how & LAVD_KWORKER ? LAVD_BOOST_REGULAR : 0;
	boost += how & LAVD_AFFINE ? LAVD_BOOST_REGULAR : 0;
	boost += how & LAVD_PINNED ? LAVD_BOOST_MEDIUM : 0;
	boost += how & LAVD_LOCKED ? LAVD_BOOST_REGULAR : 0;
	return weight * boost + 1;
}

/*
 * How critical is it that a thread runs soon? The more often it waits and wakes others, the
 * shorter it runs, and the heavier it is. @runtime_ns: its average between two sleeps
 */
static inline u32 lavd_own_criticality(u64 wait_frequency, u64 wake_frequency, u64 runtime_ns,
				       u64 weight_factor)
{
	u64 wait = min_t(u64, wait_frequency, LAVD_FREQUENCY_MAX) + 1;
	u64 wake = min_t(u64, wake_frequency, LAVD_FREQUENCY_MAX) + 1;
	u64 runtime = 1;
	u32 bits;

	if (runtime_ns < NSEC_PER_SEC)
		runtime += (u32)(NSEC_PER_SEC - runtime_ns) / (u32)LAVD_RUNTIME_UNIT_NS;
	bits = lavd_bits(wait * wake) + lavd_bits(runtime * weight_factor);
	return bits * bits;
}

/* With what it inherits: @from_waker, and @from_wakees, the most critical whom it woke. */
static inline u32 lavd_criticality(u32 own, u32 from_waker, u32 from_wakees)
{
	u32 given = from_waker + from_wakees;

	return given > 2 * own ? own + min((given - 2 * own) >> 3, own >> 2) : own;
}

/* The most that a thread of @weight may be behind or ahead of the average, in ns of service. */
static inline s64 lavd_lag_max(unsigned int weight)
{
	return (u64)LAVD_LAG_MAX_NS * 100 / weight;
}

/* By how much is the deadline of a thread with @lag deferred? 1 to 2, in 1024ths */
static inline u32 lavd_penalty(s64 lag, s64 lag_max)
{
	lag = clamp(lag, -lag_max, lag_max);
	return LAVD_SCALE + (div64_u64((u64)(lag_max - lag) << LAVD_SHIFT, lag_max) >> 1);
}

/* When it is due, after the beginning of the window. @ran_ns: since it slept last */
static inline u64 lavd_deadline_delta(u64 ran_ns, u32 penalty, u32 criticality)
{
	u32 run = LAVD_RUN_MAX_NS + min_t(u64, ran_ns, LAVD_RUN_MAX_NS);

	return div_u64((u64)run * penalty, criticality) >> LAVD_SHIFT;
}

/* Who comes may go before who came that much earlier: less if more wait than there are CPUs. */
static inline u64 lavd_window(u64 nr_queued, u64 nr_cpus)
{
	return nr_queued > nr_cpus ? div64_u64(LAVD_WINDOW_NS * nr_cpus, nr_queued) :
				     LAVD_WINDOW_NS;
}

/* By how much does the logical clock go on when a thread runs that was due at @deadline? */
static inline u64 lavd_clock_step(u64 clock, u64 deadline, u64 nr_queued)
{
	s64 ahead = deadline - clock;

	if (ahead <= 0)
		return 0;
	return nr_queued <= 1 ? ahead : div64_u64(ahead, nr_queued);
}

/* The system's slice, by which its average is updated. */
static inline u64 lavd_system_slice(u64 nr_active, u64 nr_queued, u64 min_ns, u64 max_ns)
{
	if (!nr_queued)
		return max_ns;
	return clamp(div64_u64(LAVD_LATENCY_NS * nr_active, nr_queued), min_ns, max_ns);
}

/* What the slice of a thread depends on. */
struct lavd_slice_input {
	u64	system_ns;		/* the system's slice */
	u64	min_ns;			/* parameter slice_min_us */
	u64	pinned_ns;		/* parameter pinned_slice_us; 0: none */
	u64	runtime_ns;		/* the thread's average between two sleeps */
	u32	criticality, average;	/* the thread's; all threads' */
	bool	pinned_wait;		/* threads that may use no other CPU wait here */
	bool	light;			/* few enough wait, and CPUs have time left */
	bool	boosts;			/* parameter slice_boost */
};

/* Returns ns; *@boosted: the slice is longer than others'. */
static inline u64 lavd_slice(const struct lavd_slice_input *in, bool *boosted)
{
	u64 more;

	*boosted = false;
	if (in->pinned_wait)
		return in->pinned_ns ? min(in->pinned_ns, in->system_ns) : in->system_ns;
	if (!in->boosts || in->runtime_ns < in->system_ns)
		return in->system_ns;
	if (in->light) {
		*boosted = true;
		return clamp_t(u64, in->runtime_ns + LAVD_SLICE_BONUS_NS, in->min_ns,
			       LAVD_SLICE_BOOST_MAX_NS);
	}
	if (in->criticality <= in->average)
		return in->system_ns;
	*boosted = true;
	more = in->system_ns + div_u64(in->system_ns * in->criticality, in->average + 1);
	return max(min3(more, in->runtime_ns, 2 * in->system_ns), in->min_ns);
}

/* Who is at least so critical may take a CPU. @shift: parameter preempt_shift */
static inline u32 lavd_threshold(u32 max, u32 average, unsigned int shift)
{
	/* Averages of small numbers may cross. */
	return max <= average ? max : max - ((max - average) >> shift);
}

/* @criticality in 1024ths of the greatest. */
static inline u32 lavd_normalized(u32 criticality, u32 max)
{
	if (!max)
		return 0;
	return criticality >= max ? LAVD_SCALE : (criticality << LAVD_SHIFT) / max;
}

/* How much would it suffer from interrupts? In 16 steps of criticality, each of 16 of load */
static inline u32 lavd_vulnerability(u32 normalized, u32 utilisation)
{
	return normalized / 64 * 16 + utilisation / 64;
}

/* How many cores of @cores that share a cache shall share a queue? Of @least to @most each */
static inline unsigned int lavd_split(unsigned int cores, unsigned int least, unsigned int most)
{
	unsigned int size, best = least;

	if (cores <= least)
		return cores;
	for (size = least; size <= most; size++) {
		if (!(cores % size))
			return size;
		if (cores % size < cores % best)
			best = size;
	}
	return best;
}

/* In which part is the @nth of @cores? Those that are left over join the last. */
static inline unsigned int lavd_part(unsigned int nth, unsigned int cores, unsigned int size)
{
	return min(nth / size, cores / size - 1);
}

#endif /* _LAVD_FORMULAS_H */
