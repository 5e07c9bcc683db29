/* SPDX-License-Identifier: GPL-2.0 */
/* Operations on arrays of bits. Stands for linux/bitmap.h. */
#ifndef _LINUX_BITMAP_H
#define _LINUX_BITMAP_H

#include <linux/bitops.h>
#include <linux/string.h>

#define __sim_bitmap_bytes(bits)	(BITS_TO_LONGS(bits) * sizeof(unsigned long))
#define __sim_last_word(bits)		(~0UL >> (-(bits) & (BITS_PER_LONG - 1)))

static inline void bitmap_zero(unsigned long *bits, unsigned int n)
{
	memset(bits, 0, __sim_bitmap_bytes(n));
}

static inline void bitmap_fill(unsigned long *bits, unsigned int n)
{
	memset(bits, 0xff, __sim_bitmap_bytes(n));
}

static inline void bitmap_copy(unsigned long *to, const unsigned long *from, unsigned int n)
{
	memcpy(to, from, __sim_bitmap_bytes(n));
}

static inline bool bitmap_empty(const unsigned long *bits, unsigned int n)
{
	return find_first_bit(bits, n) >= n;
}

static inline bool bitmap_full(const unsigned long *bits, unsigned int n)
{
	return find_first_zero_bit(bits, n) >= n;
}

static inline unsigned int bitmap_weight(const unsigned long *bits, unsigned int n)
{
	unsigned int i, weight = 0;

	for (i = 0; i < n / BITS_PER_LONG; i++)
		weight += hweight_long(bits[i]);
	if (n % BITS_PER_LONG)
		weight += hweight_long(bits[i] & __sim_last_word(n));
	return weight;
}

#endif /* _LINUX_BITMAP_H */
