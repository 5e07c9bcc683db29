/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's log, which goes to standard error at once: deferred printing is not deferred. Stands
 * for linux/printk.h, kern_levels.h and console.h.
 */
#ifndef _LINUX_PRINTK_H
#define _LINUX_PRINTK_H

#include <linux/types.h>
#include <linux/stdarg.h>

/* printk() tells the level by the two bytes in front, as in the kernel. */
#define KERN_SOH	"\001"
#define KERN_ERR	KERN_SOH "3"
#define KERN_WARNING	KERN_SOH "4"
#define KERN_NOTICE	KERN_SOH "5"
#define KERN_INFO	KERN_SOH "6"
#define KERN_DEBUG	KERN_SOH "7"

struct va_format {
	const char	*fmt;
	va_list		*va;
};

#ifndef pr_fmt
#define pr_fmt(fmt)	fmt
#endif

__printf(1, 2) int _printk(const char *fmt, ...);
__printf(1, 0) int vprintk(const char *fmt, va_list args);

#define printk(fmt, ...)		_printk(fmt, ##__VA_ARGS__)
#define printk_deferred(fmt, ...)	_printk(fmt, ##__VA_ARGS__)
#define printk_deferred_enter()		do { } while (0)
#define printk_deferred_exit()		do { } while (0)
#define pr_err(fmt, ...)	printk(KERN_ERR pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warn(fmt, ...)	printk(KERN_WARNING pr_fmt(fmt), ##__VA_ARGS__)
#define pr_notice(fmt, ...)	printk(KERN_NOTICE pr_fmt(fmt), ##__VA_ARGS__)
#define pr_info(fmt, ...)	printk(KERN_INFO pr_fmt(fmt), ##__VA_ARGS__)
/* Compiled, never printed. */
#define pr_debug(fmt, ...) do {					\
	if (0)							\
		printk(KERN_DEBUG pr_fmt(fmt), ##__VA_ARGS__);	\
} while (0)

#define __sim_once(call) do {					\
	static bool __said;					\
	if (!__said) {						\
		__said = true;					\
		call;						\
	}							\
} while (0)
#define pr_warn_once(fmt, ...)	__sim_once(pr_warn(fmt, ##__VA_ARGS__))

/* Each place has a limit of its own, of simulated time. */
#define __sim_ratelimited(call) do {				\
	static DEFINE_RATELIMIT_STATE(__limit, DEFAULT_RATELIMIT_INTERVAL, \
				      DEFAULT_RATELIMIT_BURST);	\
	if (__ratelimit(&__limit))				\
		call;						\
} while (0)
#define pr_warn_ratelimited(fmt, ...)	__sim_ratelimited(pr_warn(fmt, ##__VA_ARGS__))

#include <linux/ratelimit.h>

#endif /* _LINUX_PRINTK_H */
