/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For which part of the time was something busy lately? In 1024ths; what was a half-life ago
 * counts half. Time is cut into windows as long as the half-life: of 2^27 ns, which is 134 ms
 * (scx_lavd has 128 ms), so that nothing is divided.
 */
#ifndef _LAVD_LOAD_H
#define _LAVD_LOAD_H

#include <linux/minmax.h>
#include <linux/types.h>

#define LAVD_WINDOW_SHIFT	27

/**
 * struct lavd_load - of a thread, or a CPU
 * @at_ns: up to when it is known
 * @level: how busy it has been since then, 0 to 1024
 * @old: of the windows before that of @at_ns, the sum with each halved as often as it is old
 * @now: busy time of that window, in 1024ths of it
 */
struct lavd_load {
	u64	at_ns;
	u32	level, old, now;
};

static inline u32 lavd_load_part(u32 level, u64 ns)
{
	return (level * ns) >> LAVD_WINDOW_SHIFT;
}

/* From @now_ns on it is busy at @level. */
static inline void lavd_load_note(struct lavd_load *load, u32 level, u64 now_ns)
{
	const u64 mask = (1ULL << LAVD_WINDOW_SHIFT) - 1;
	u64 windows = (now_ns >> LAVD_WINDOW_SHIFT) - (load->at_ns >> LAVD_WINDOW_SHIFT);

	if ((s64)(now_ns - load->at_ns) <= 0) {	/* another CPU's clock is a little ahead */
		load->level = level;
		return;
	}
	if (windows) {
		windows = min(windows, 31);
		load->now += lavd_load_part(load->level, mask + 1 - (load->at_ns & mask));
		load->old = (load->old + load->now) >> windows;
		load->old += load->level - (load->level >> (windows - 1));
		load->now = lavd_load_part(load->level, now_ns & mask);
	} else {
		load->now += lavd_load_part(load->level, now_ns - load->at_ns);
	}
	load->at_ns = now_ns;
	load->level = level;
}

/* As of when it was noted last: between two windows' values, as far as the present one has come. */
static inline u32 lavd_load_read(const struct lavd_load *load)
{
	u32 passed = (load->at_ns >> (LAVD_WINDOW_SHIFT - 10)) & 1023;

	return load->old - ((load->old * passed) >> 11) + (load->now >> 1);
}

#endif /* _LAVD_LOAD_H */
