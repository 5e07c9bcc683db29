/* SPDX-License-Identifier: GPL-2.0 */
/* So many of something in so much time. Stands for linux/ratelimit*.h. */
#ifndef _LINUX_RATELIMIT_H
#define _LINUX_RATELIMIT_H

#include <linux/types.h>

struct ratelimit_state {
	int		interval;	/* jiffies; 0: no limit */
	int		burst;
	int		printed;
	int		missed;
	unsigned long	begin;		/* jiffies; 0: not begun */
	const char	*name;
};

#define DEFAULT_RATELIMIT_INTERVAL	(5 * CONFIG_HZ)
#define DEFAULT_RATELIMIT_BURST		10

#define RATELIMIT_STATE_INIT(_name, _interval, _burst) \
	{ .interval = (_interval), .burst = (_burst), .name = #_name }
#define DEFINE_RATELIMIT_STATE(_name, _interval, _burst) \
	struct ratelimit_state _name = RATELIMIT_STATE_INIT(_name, _interval, _burst)

int ___ratelimit(struct ratelimit_state *state, const char *function);
#define __ratelimit(state)	___ratelimit(state, __func__)

#endif /* _LINUX_RATELIMIT_H */
