/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Small things that everybody uses: sizes of arrays, least and greatest, container_of(), conversion
 * of text to numbers. Stands for linux/kernel.h, minmax.h, math.h, align.h, container_of.h,
 * build_bug.h, array_size.h, overflow.h and kstrtox.h.
 */
#ifndef _LINUX_KERNEL_H
#define _LINUX_KERNEL_H

#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/types.h>

/* Checks of the compiler */
#define BUILD_BUG_ON(condition)		_Static_assert(!(condition), #condition)
#define BUILD_BUG_ON_ZERO(condition)	((int)sizeof(struct { int : -!!(condition); }))
#define static_assert(condition, ...)	__static_assert(condition, ##__VA_ARGS__, #condition)
#define __static_assert(condition, message, ...) _Static_assert(condition, message)

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]) + \
				 BUILD_BUG_ON_ZERO(__same_type((array), &(array)[0])))
#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

/* Without the kernel's checks of signedness: policies are compiled for a kernel, too. */
#define __sim_of_two(a, op, b) ({				\
	__auto_type __first = (a);				\
	__auto_type __second = (b);				\
	__first op __second ? __first : __second;		\
})
#define min(a, b)		__sim_of_two(a, <, b)
#define max(a, b)		__sim_of_two(a, >, b)
#define min3(a, b, c)		min(min(a, b), c)
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define clamp(value, low, high)	min(max(value, low), high)
#define clamp_t(type, value, low, high) clamp((type)(value), (type)(low), (type)(high))
#define min_not_zero(a, b) ({					\
	__auto_type __one = (a);				\
	__auto_type __other = (b);				\
	!__one ? __other : !__other ? __one : min(__one, __other); \
})
#define swap(a, b) do {						\
	__typeof__(a) __kept = (a);				\
	(a) = (b);						\
	(b) = __kept;						\
} while (0)
#define abs(x) ({ __auto_type __signed = (x); __signed < 0 ? -__signed : __signed; })

#define ALIGN(x, to)		(((x) + ((__typeof__(x))(to) - 1)) & ~((__typeof__(x))(to) - 1))
#define ALIGN_DOWN(x, to)	((x) & ~((__typeof__(x))(to) - 1))
#define IS_ALIGNED(x, to)	(((x) & ((__typeof__(x))(to) - 1)) == 0)
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define DIV_ROUND_CLOSEST_ULL(n, d) (((unsigned long long)(n) + (d) / 2) / (d))
#define roundup(x, to)		((((x) + ((to) - 1)) / (to)) * (to))
#define round_up(x, to)		ALIGN(x, to)
#define round_down(x, to)	ALIGN_DOWN(x, to)

#define struct_size(pointer, member, n) \
	(sizeof(*(pointer)) + sizeof((pointer)->member[0]) * (size_t)(n))
#define check_mul_overflow(a, b, result) __builtin_mul_overflow(a, b, result)

int __must_check kstrtoint(const char *text, unsigned int base, int *result);
int __must_check kstrtouint(const char *text, unsigned int base, unsigned int *result);
int __must_check kstrtol(const char *text, unsigned int base, long *result);
int __must_check kstrtoul(const char *text, unsigned int base, unsigned long *result);
int __must_check kstrtoll(const char *text, unsigned int base, long long *result);
int __must_check kstrtoull(const char *text, unsigned int base, unsigned long long *result);
int __must_check kstrtobool(const char *text, bool *result);

#include <linux/panic.h>
#include <linux/sprintf.h>
#include <linux/printk.h>

#endif /* _LINUX_KERNEL_H */
