/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attributes, barriers of the compiler, READ_ONCE(). Stands for linux/compiler*.h. There is one
 * host thread: a barrier between CPUs needs to hold back the compiler alone. But under
 * ThreadSanitizer there are more, see tests/sim/user_ring/: it understands the compiler's atomics.
 */
#ifndef _LINUX_COMPILER_H
#define _LINUX_COMPILER_H

#include <linux/kconfig.h>

#ifndef __KERNEL__
#define __KERNEL__ 1
#endif

#define __always_inline		inline __attribute__((__always_inline__))
#define noinline		__attribute__((__noinline__))
#define __cold			__attribute__((__cold__))
#define __noreturn		__attribute__((__noreturn__))
#define __must_check		__attribute__((__warn_unused_result__))
#define __maybe_unused		__attribute__((__unused__))
#define __used			__attribute__((__used__))
#define __weak			__attribute__((__weak__))
#define __packed		__attribute__((__packed__))
#define __aligned(bytes)	__attribute__((__aligned__(bytes)))
#define __section(name)		__attribute__((__section__(name)))
#define __printf(format, first)	__attribute__((__format__(printf, format, first)))
#define __scanf(format, first)	__attribute__((__format__(scanf, format, first)))
#define __cleanup(function)	__attribute__((__cleanup__(function)))
#define fallthrough		__attribute__((__fallthrough__))
#define notrace
#define __sched
#define __read_mostly

/* What sparse looks at in a kernel. */
#define __percpu
#define __rcu
#define __user
#define __force

#define ____cacheline_aligned		__aligned(64)
#define ____cacheline_aligned_in_smp	__aligned(64)

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define barrier()		__asm__ __volatile__("" : : : "memory")

#ifdef SIM_REPLAY
/* What other CPUs write is read: here a call that races with theirs is cut in two, sim/replay/. */
extern _Bool replay_cutting;
void replay_count_read(void);
#define READ_ONCE(x)								\
	((void)(replay_cutting ? replay_count_read() : (void)0),		\
	 *(const volatile __typeof__(x) *)&(x))
#elif defined(__SANITIZE_THREAD__)
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#else
#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#endif
#ifdef __SANITIZE_THREAD__
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), value, __ATOMIC_RELAXED)
#else
#define WRITE_ONCE(x, value)	((void)(*(volatile __typeof__(x) *)&(x) = (value)))
#endif

/* Hides where a pointer comes from: one into a copy of an object is not one into the object. */
#define RELOC_HIDE(pointer, offset) ({				\
	unsigned long __reloc;					\
	__asm__("" : "=r"(__reloc) : "0"(pointer));		\
	(__typeof__(pointer))(__reloc + (offset));		\
})

#ifndef typeof
#define typeof			__typeof__
#endif
#define __same_type(a, b)	__builtin_types_compatible_p(__typeof__(a), __typeof__(b))
#define ___PASTE(a, b)		a##b
#define __PASTE(a, b)		___PASTE(a, b)
#define __UNIQUE_ID(prefix)	__PASTE(__PASTE(__UNIQUE_ID_, prefix), __COUNTER__)
#define __stringify_1(x...)	#x
#define __stringify(x...)	__stringify_1(x)
#define CONCATENATE(a, b)	__PASTE(a, b)
#define COUNT_ARGS(...)		__COUNT_ARGS(, ##__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define __COUNT_ARGS(_0, _1, _2, _3, _4, _5, _6, _7, _8, n, ...) n

#define _RET_IP_		((unsigned long)__builtin_return_address(0))

/* -Woverride-init and the like where somebody asks for it, for GCC alone as there. */
#define __sim_pragma(text)	_Pragma(#text)
#if defined(__GNUC__) && !defined(__clang__)
#define __diag_push()		__sim_pragma(GCC diagnostic push)
#define __diag_pop()		__sim_pragma(GCC diagnostic pop)
#define __diag_error(compiler, version, option, comment) __sim_pragma(GCC diagnostic error option)
#define __diag_ignore(compiler, version, option, comment) \
	__sim_pragma(GCC diagnostic ignored option)
#else
#define __diag_push()
#define __diag_pop()
#define __diag_error(compiler, version, option, comment)
#define __diag_ignore(compiler, version, option, comment)
#endif

#endif /* _LINUX_COMPILER_H */
