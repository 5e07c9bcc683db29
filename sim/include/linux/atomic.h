/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Atomic numbers, and reference counts. Stands for linux/atomic.h, asm/cmpxchg.h, asm/barrier.h and
 * linux/refcount.h. One host thread runs all simulated CPUs and changes between them in functions
 * only, so that plain accesses are atomic, and barriers need to hold back the compiler. Under
 * ThreadSanitizer there are more threads, for whom the barriers are real; the rest is not for them.
 */
#ifndef _LINUX_ATOMIC_H
#define _LINUX_ATOMIC_H

#include <linux/bug.h>
#include <linux/limits.h>
#include <linux/types.h>

#ifdef __SANITIZE_THREAD__
#define smp_mb()			__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, value)	__atomic_store_n(p, value, __ATOMIC_RELEASE)
#else
#define smp_mb()			barrier()
#define smp_load_acquire(p)		READ_ONCE(*(p))
#define smp_store_release(p, value)	WRITE_ONCE(*(p), value)
#endif
#define smp_rmb()			barrier()
#define smp_wmb()			barrier()
#define smp_mb__before_atomic()		barrier()
#define smp_mb__after_atomic()		barrier()
#define smp_mb__after_spinlock()	barrier()
#define smp_store_mb(var, value)	WRITE_ONCE(var, value)

#define xchg(p, value) ({			\
	__typeof__(p) __p = (p);		\
	__auto_type __old = *__p;		\
	*__p = (value);				\
	__old;					\
})
#define cmpxchg(p, old, new) ({			\
	__typeof__(p) __p = (p);		\
	__auto_type __was = *__p;		\
	if (__was == (old))			\
		*__p = (new);			\
	__was;					\
})
#define try_cmpxchg(p, old, new) ({		\
	__typeof__(p) __p = (p);		\
	__typeof__(old) __o = (old);		\
	bool __same = *__p == *__o;		\
	if (__same)				\
		*__p = (new);			\
	else					\
		*__o = *__p;			\
	__same;					\
})

/* For atomic_t, atomic64_t and atomic_long_t alike. Numbers wrap around, as there. */
#define __SIM_ATOMIC(prefix, value_t)							\
static __always_inline value_t prefix##_read(const prefix##_t *v)			\
{ return READ_ONCE(v->counter); }							\
static __always_inline void prefix##_set(prefix##_t *v, value_t i)			\
{ WRITE_ONCE(v->counter, i); }								\
static __always_inline value_t prefix##_add_return(value_t i, prefix##_t *v)		\
{ return v->counter = (unsigned long long)v->counter + (unsigned long long)i; }		\
static __always_inline value_t prefix##_sub_return(value_t i, prefix##_t *v)		\
{ return v->counter = (unsigned long long)v->counter - (unsigned long long)i; }		\
static __always_inline value_t prefix##_fetch_add(value_t i, prefix##_t *v)		\
{ value_t old = v->counter; prefix##_add_return(i, v); return old; }			\
static __always_inline value_t prefix##_fetch_sub(value_t i, prefix##_t *v)		\
{ value_t old = v->counter; prefix##_sub_return(i, v); return old; }			\
static __always_inline value_t prefix##_fetch_or(value_t i, prefix##_t *v)		\
{ value_t old = v->counter; v->counter |= i; return old; }				\
static __always_inline value_t prefix##_fetch_andnot(value_t i, prefix##_t *v)		\
{ value_t old = v->counter; v->counter &= ~i; return old; }				\
static __always_inline value_t prefix##_xchg(prefix##_t *v, value_t i)			\
{ return xchg(&v->counter, i); }							\
static __always_inline value_t prefix##_cmpxchg(prefix##_t *v, value_t old, value_t new)	\
{ return cmpxchg(&v->counter, old, new); }						\
static __always_inline bool prefix##_try_cmpxchg(prefix##_t *v, value_t *old, value_t new)	\
{ return try_cmpxchg(&v->counter, old, new); }						\
static __always_inline void prefix##_add(value_t i, prefix##_t *v)			\
{ prefix##_add_return(i, v); }								\
static __always_inline void prefix##_sub(value_t i, prefix##_t *v)			\
{ prefix##_sub_return(i, v); }								\
static __always_inline void prefix##_or(value_t i, prefix##_t *v)			\
{ v->counter |= i; }									\
static __always_inline void prefix##_and(value_t i, prefix##_t *v)			\
{ v->counter &= i; }									\
static __always_inline void prefix##_andnot(value_t i, prefix##_t *v)			\
{ v->counter &= ~i; }									\
static __always_inline value_t prefix##_inc_return(prefix##_t *v)			\
{ return prefix##_add_return(1, v); }							\
static __always_inline value_t prefix##_dec_return(prefix##_t *v)			\
{ return prefix##_sub_return(1, v); }							\
static __always_inline value_t prefix##_fetch_inc(prefix##_t *v)			\
{ return prefix##_fetch_add(1, v); }							\
static __always_inline value_t prefix##_fetch_dec(prefix##_t *v)			\
{ return prefix##_fetch_sub(1, v); }							\
static __always_inline void prefix##_inc(prefix##_t *v)					\
{ prefix##_add_return(1, v); }								\
static __always_inline void prefix##_dec(prefix##_t *v)					\
{ prefix##_sub_return(1, v); }								\
static __always_inline bool prefix##_inc_and_test(prefix##_t *v)			\
{ return !prefix##_add_return(1, v); }							\
static __always_inline bool prefix##_dec_and_test(prefix##_t *v)			\
{ return !prefix##_sub_return(1, v); }							\
static __always_inline bool prefix##_sub_and_test(value_t i, prefix##_t *v)		\
{ return !prefix##_sub_return(i, v); }							\
static __always_inline bool prefix##_add_unless(prefix##_t *v, value_t i, value_t unless)	\
{ return v->counter != unless ? prefix##_add_return(i, v), true : false; }		\
static __always_inline bool prefix##_inc_not_zero(prefix##_t *v)			\
{ return prefix##_add_unless(v, 1, 0); }						\
static __always_inline value_t prefix##_dec_if_positive(prefix##_t *v)			\
{ value_t new = v->counter - 1; if (new >= 0) v->counter = new; return new; }

__SIM_ATOMIC(atomic, int)
__SIM_ATOMIC(atomic64, s64)
__SIM_ATOMIC(atomic_long, long)

/* Reference counts: one that comes back from 0, or falls below, is a WARN. */
typedef struct {
	atomic_t refs;
} refcount_t;

#define REFCOUNT_INIT(n)	{ .refs = ATOMIC_INIT(n) }

static inline void refcount_set(refcount_t *r, int n)
{
	atomic_set(&r->refs, n);
}

static inline unsigned int refcount_read(const refcount_t *r)
{
	return atomic_read(&r->refs);
}

static inline void refcount_inc(refcount_t *r)
{
	WARN_ONCE(atomic_fetch_inc(&r->refs) <= 0, "refcount: addition on 0, use after free");
}

static inline bool __must_check refcount_inc_not_zero(refcount_t *r)
{
	return atomic_inc_not_zero(&r->refs);
}

static inline bool __must_check refcount_dec_and_test(refcount_t *r)
{
	int left = atomic_dec_return(&r->refs);

	WARN_ONCE(left < 0, "refcount: underflow, use after free");
	return !left;
}

static inline void refcount_dec(refcount_t *r)
{
	WARN_ONCE(refcount_dec_and_test(r), "refcount: decrement to 0, leaking memory");
}

#endif /* _LINUX_ATOMIC_H */
