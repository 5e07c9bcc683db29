/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bits of words, and in arrays of words. Stands for linux/bits.h, bitops.h and find.h; nothing
 * needs to be atomic here.
 */
#ifndef _LINUX_BITOPS_H
#define _LINUX_BITOPS_H

#include <linux/kernel.h>

#define BIT(n)			(1UL << (n))
#define BIT_ULL(n)		(1ULL << (n))
#define BIT_MASK(n)		(1UL << ((n) % BITS_PER_LONG))
#define BIT_WORD(n)		((n) / BITS_PER_LONG)
#define GENMASK(high, low)	((~0UL << (low)) & (~0UL >> (BITS_PER_LONG - 1 - (high))))

static __always_inline void __set_bit(long n, volatile unsigned long *bits)
{
	((unsigned long *)bits)[BIT_WORD(n)] |= BIT_MASK(n);
}

static __always_inline void __clear_bit(long n, volatile unsigned long *bits)
{
	((unsigned long *)bits)[BIT_WORD(n)] &= ~BIT_MASK(n);
}

static __always_inline bool test_bit(long n, const volatile unsigned long *bits)
{
	return bits[BIT_WORD(n)] >> (n % BITS_PER_LONG) & 1;
}

static __always_inline bool __test_and_set_bit(long n, volatile unsigned long *bits)
{
	bool old = test_bit(n, bits);

	__set_bit(n, bits);
	return old;
}

static __always_inline bool __test_and_clear_bit(long n, volatile unsigned long *bits)
{
	bool old = test_bit(n, bits);

	__clear_bit(n, bits);
	return old;
}

#define set_bit(n, bits)		__set_bit(n, bits)
#define assign_bit(n, bits, value)	__assign_bit(n, bits, value)
#define clear_bit(n, bits)		__clear_bit(n, bits)
#define test_and_set_bit(n, bits)	__test_and_set_bit(n, bits)
#define test_and_clear_bit(n, bits)	__test_and_clear_bit(n, bits)
#define __assign_bit(n, bits, value) \
	((value) ? __set_bit(n, bits) : __clear_bit(n, bits))

#define __ffs(word)	((unsigned long)__builtin_ctzl(word))
#define __fls(word)	((unsigned long)(BITS_PER_LONG - 1 - __builtin_clzl(word)))
#define ffs(x)		__builtin_ffs(x)
#define hweight64(x)	((unsigned int)__builtin_popcountl(x))
#define hweight_long(x)	hweight64(x)

static inline int fls(unsigned int x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

static inline int ilog2(u64 x)
{
	return fls64(x) - 1;
}

static inline bool is_power_of_2(unsigned long n)
{
	return n && !(n & (n - 1));
}

static inline unsigned long roundup_pow_of_two(unsigned long n)
{
	return n <= 1 ? 1 : 1UL << fls64(n - 1);
}

/*
 * All searches: the first bit at or after @from, below @size, in @words words, that is 1 in @a and
 * in @b (if it is not NULL), each after it was flipped; or @size. Inlined, most of it is constant.
 */
static __always_inline unsigned long
__sim_find(const unsigned long *a, const unsigned long *b, unsigned long flip_b,
	   unsigned long flip_a, unsigned long size, unsigned long words, unsigned long from)
{
	unsigned long i = BIT_WORD(from), word, found;

	if (unlikely(from >= size))
		return size;
	word = ((a[i] ^ flip_a) & (b ? b[i] ^ flip_b : ~0UL)) >> (from % BITS_PER_LONG);
	/* Most sets are dense. Who goes on behind @from then need not wait for the word. */
	if (word & 1)
		return from;
	if (word) {
		found = from + __ffs(word);
	} else {
		do {
			if (++i >= words)
				return size;
			word = (a[i] ^ flip_a) & (b ? b[i] ^ flip_b : ~0UL);
		} while (!word);
		found = i * BITS_PER_LONG + __ffs(word);
	}
	return found < size ? found : size;
}

#define __sim_search(a, flip_a, size, from) \
	__sim_find(a, NULL, 0, flip_a, size, BITS_TO_LONGS(size), from)
#define find_first_bit(a, size)			__sim_search(a, 0, size, 0)
#define find_next_bit(a, size, from)		__sim_search(a, 0, size, from)
#define find_first_zero_bit(a, size)		__sim_search(a, ~0UL, size, 0)
#define find_next_zero_bit(a, size, from)	__sim_search(a, ~0UL, size, from)

#define for_each_set_bit(bit, bits, size)				\
	for ((bit) = 0; (bit) = find_next_bit(bits, size, bit), (bit) < (size); (bit)++)

#endif /* _LINUX_BITOPS_H */
