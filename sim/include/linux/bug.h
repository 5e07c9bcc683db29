/* SPDX-License-Identifier: GPL-2.0 */
/*
 * WARN(), BUG(), panic(), dump_stack(). Stands for linux/bug.h and linux/panic.h. A warning makes
 * the simulator's exit status 1, BUG() and panic() end the run as well.
 */
#ifndef _LINUX_BUG_H
#define _LINUX_BUG_H

#include <linux/kernel.h>

__printf(4, 5) __cold
void sim_warn(const char *file, int line, const char *condition, const char *fmt, ...);
__cold __noreturn
void sim_bug(const char *file, int line, const char *condition);

#define __SIM_WARN(condition, fmt...) ({				\
	bool __warns = !!(condition);					\
	if (unlikely(__warns))						\
		sim_warn(__FILE__, __LINE__, #condition, fmt);		\
	unlikely(__warns);						\
})
#define __SIM_WARN_ONCE(condition, fmt...) ({				\
	static bool __warned;						\
	bool __warns = !!(condition);					\
	if (unlikely(__warns && !__warned)) {				\
		__warned = true;					\
		sim_warn(__FILE__, __LINE__, #condition, fmt);		\
	}								\
	unlikely(__warns);						\
})
#define WARN(condition, fmt...)		__SIM_WARN(condition, fmt)
#define WARN_ON(condition)		__SIM_WARN(condition, " ")
#define WARN_ONCE(condition, fmt...)	__SIM_WARN_ONCE(condition, fmt)
#define WARN_ON_ONCE(condition)		__SIM_WARN_ONCE(condition, " ")
#define WARN_RATELIMIT(condition, fmt...) __SIM_WARN_ONCE(condition, fmt)

/* SCHED_WARN_ON() and lockdep's assertions are on. */
#define BUG_ON(condition) do {						\
	if (unlikely(condition))					\
		sim_bug(__FILE__, __LINE__, #condition);		\
} while (0)
#define BUG()				sim_bug(__FILE__, __LINE__, "BUG()")

#endif /* _LINUX_BUG_H */
