/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of CPUs. Stands for linux/cpumask.h and linux/threads.h. A mask has room for NR_CPUS, but
 * only its words below nr_cpu_ids are ever read or written, so that a large NR_CPUS costs memory
 * alone. In a sanitized build a number that is no CPU's is a WARN.
 */
#ifndef _LINUX_CPUMASK_H
#define _LINUX_CPUMASK_H

#include <linux/bitmap.h>
#include <linux/bug.h>
#include <linux/preempt.h>

struct cpumask {
	DECLARE_BITMAP(bits, NR_CPUS);
};
typedef struct cpumask cpumask_t;
typedef struct cpumask cpumask_var_t[1];

/* CPUs of this run */
extern unsigned int nr_cpu_ids;

extern struct cpumask __cpu_possible_mask, __cpu_present_mask, __cpu_online_mask, __cpu_active_mask;
#define cpu_possible_mask	((const struct cpumask *)&__cpu_possible_mask)
#define cpu_present_mask	((const struct cpumask *)&__cpu_present_mask)
#define cpu_online_mask		((const struct cpumask *)&__cpu_online_mask)
#define cpu_active_mask		((const struct cpumask *)&__cpu_active_mask)

#define cpumask_size()		(BITS_TO_LONGS(nr_cpu_ids) * sizeof(long))
#define cpumask_bits(mask)	((mask)->bits)
#define cpumask_pr_args(mask)	(int)nr_cpu_ids, cpumask_bits(mask)

/* With few CPUs a constant, and loops over words are none. */
#define __sim_mask_words \
	(NR_CPUS <= BITS_PER_LONG ? 1U : (unsigned int)BITS_TO_LONGS(nr_cpu_ids))

static __always_inline unsigned int cpumask_check(unsigned int cpu)
{
	if (SIM_SANITIZED)
		WARN_ONCE(cpu >= nr_cpu_ids, "%u is no CPU", cpu);
	return cpu;
}

static __always_inline bool cpumask_test_cpu(int cpu, const struct cpumask *mask)
{
	return test_bit(cpumask_check(cpu), mask->bits);
}

static __always_inline void cpumask_set_cpu(unsigned int cpu, struct cpumask *mask)
{
	__set_bit(cpumask_check(cpu), mask->bits);
}

static __always_inline void cpumask_clear_cpu(int cpu, struct cpumask *mask)
{
	__clear_bit(cpumask_check(cpu), mask->bits);
}

#define __cpumask_set_cpu	cpumask_set_cpu
#define __cpumask_clear_cpu	cpumask_clear_cpu

static __always_inline bool cpumask_test_and_set_cpu(int cpu, struct cpumask *mask)
{
	return __test_and_set_bit(cpumask_check(cpu), mask->bits);
}

static __always_inline bool cpumask_test_and_clear_cpu(int cpu, struct cpumask *mask)
{
	return __test_and_clear_bit(cpumask_check(cpu), mask->bits);
}

static inline void cpumask_setall(struct cpumask *to)
{
	unsigned int last = __sim_mask_words - 1;

	for (unsigned int i = 0; i < last; i++)
		to->bits[i] = ~0UL;
	to->bits[last] = __sim_last_word(nr_cpu_ids);
}

/* Word by word: what becomes of @to, and whether anything is left. */
#define __SIM_MASK_SET(_name, _word, _params...)				\
static inline bool _name(struct cpumask *to, ##_params)				\
{										\
	unsigned long any = 0;							\
										\
	for (unsigned int i = 0; i < __sim_mask_words; i++)			\
		any |= to->bits[i] = (_word);					\
	return any;								\
}
/* Does it hold of each word? */
#define __SIM_MASK_TEST(_name, _holds, _params...)				\
static inline bool _name(_params)						\
{										\
	for (unsigned int i = 0; i < __sim_mask_words; i++) {			\
		if (!(_holds))							\
			return false;						\
	}									\
	return true;								\
}
#define __SIM_MASK_WEIGHT(_name, _word, _params...)				\
static inline unsigned int _name(_params)					\
{										\
	unsigned int weight = 0;						\
										\
	for (unsigned int i = 0; i < __sim_mask_words; i++)			\
		weight += hweight_long(_word);					\
	return weight;								\
}
#define __SIM_1		const struct cpumask *a
#define __SIM_2		const struct cpumask *a, const struct cpumask *b

__SIM_MASK_SET(cpumask_clear, 0UL)
__SIM_MASK_SET(cpumask_copy, a->bits[i], __SIM_1)
__SIM_MASK_SET(cpumask_and, a->bits[i] & b->bits[i], __SIM_2)
__SIM_MASK_SET(cpumask_andnot, a->bits[i] & ~b->bits[i], __SIM_2)
__SIM_MASK_SET(cpumask_or, a->bits[i] | b->bits[i], __SIM_2)
__SIM_MASK_SET(cpumask_xor, a->bits[i] ^ b->bits[i], __SIM_2)
__SIM_MASK_TEST(cpumask_empty, !a->bits[i], __SIM_1)
__SIM_MASK_TEST(cpumask_equal, a->bits[i] == b->bits[i], __SIM_2)
__SIM_MASK_TEST(cpumask_subset, !(a->bits[i] & ~b->bits[i]), __SIM_2)
__SIM_MASK_TEST(__sim_mask_disjoint, !(a->bits[i] & b->bits[i]), __SIM_2)
__SIM_MASK_WEIGHT(cpumask_weight, a->bits[i], __SIM_1)
__SIM_MASK_WEIGHT(cpumask_weight_and, a->bits[i] & b->bits[i], __SIM_2)
#define cpumask_intersects(a, b)	(!__sim_mask_disjoint(a, b))

static inline bool cpumask_full(const struct cpumask *mask)
{
	return cpumask_weight(mask) == nr_cpu_ids;
}

static __always_inline unsigned int __sim_next_cpu(unsigned int from, const struct cpumask *a,
						   const struct cpumask *b, unsigned long flip_b)
{
	return __sim_find(a->bits, b ? b->bits : NULL, flip_b, 0, nr_cpu_ids, __sim_mask_words,
			  from);
}

#define cpumask_first(mask)		__sim_next_cpu(0, mask, NULL, 0)
#define small_cpumask_bits		nr_cpu_ids
#define cpumask_next(cpu, mask)		__sim_next_cpu((int)(cpu) + 1, mask, NULL, 0)
#define cpumask_first_and(a, b)		__sim_next_cpu(0, a, b, 0)
#define cpumask_next_and(cpu, a, b)	__sim_next_cpu((int)(cpu) + 1, a, b, 0)
static inline unsigned int cpumask_last(const struct cpumask *mask)
{
	unsigned int cpu = nr_cpu_ids;

	while (cpu-- && !cpumask_test_cpu(cpu, mask))
		;
	return min(cpu, nr_cpu_ids);
}

#define cpumask_any(mask)		cpumask_first(mask)
#define cpumask_any_and(a, b)		cpumask_first_and(a, b)

static inline unsigned int cpumask_any_but(const struct cpumask *mask, unsigned int but)
{
	unsigned int cpu = cpumask_first(mask);

	return cpu == but ? cpumask_next(cpu, mask) : cpu;
}

static inline unsigned int cpumask_nth(unsigned int n, const struct cpumask *mask)
{
	unsigned int cpu = cpumask_first(mask);

	while (n-- && cpu < nr_cpu_ids)
		cpu = cpumask_next(cpu, mask);
	return cpu;
}

#define for_each_cpu(cpu, mask)							\
	for ((cpu) = 0; (cpu) = __sim_next_cpu(cpu, mask, NULL, 0), (cpu) < nr_cpu_ids; (cpu)++)
#define for_each_cpu_and(cpu, a, b)						\
	for ((cpu) = 0; (cpu) = __sim_next_cpu(cpu, a, b, 0), (cpu) < nr_cpu_ids; (cpu)++)
#define for_each_cpu_andnot(cpu, a, b)						\
	for ((cpu) = 0; (cpu) = __sim_next_cpu(cpu, a, b, ~0UL), (cpu) < nr_cpu_ids; (cpu)++)

/*
 * Behind the last CPU: go on with the first, up to @start, unless that has been done. At the end @n
 * is no CPU, as in the kernel.
 */
static __always_inline bool __sim_wraps(unsigned int *n, unsigned int *end,
					const struct cpumask *mask, unsigned int start)
{
	if (*end != start) {
		*end = start;
		*n = __sim_next_cpu(0, mask, NULL, 0);
		if (*n < start)
			return true;
	}
	*n = nr_cpu_ids;
	return false;
}

/* From @start to the last, then from the first up to @start. */
#define for_each_cpu_wrap(cpu, mask, start)					\
	for (unsigned int __from = (unsigned int)(start) % nr_cpu_ids,		\
	     __n = __from, __end = nr_cpu_ids;					\
	     __n = __sim_next_cpu(__n, mask, NULL, 0),				\
	     __n = __n < __end || __sim_wraps(&__n, &__end, mask, __from) ?	\
		   __n : nr_cpu_ids,						\
	     ((cpu) = __n) < nr_cpu_ids;					\
	     __n++)

#define for_each_possible_cpu(cpu)	for_each_cpu(cpu, cpu_possible_mask)
#define for_each_online_cpu(cpu)	for_each_cpu(cpu, cpu_online_mask)
#define cpu_possible(cpu)		cpumask_test_cpu(cpu, cpu_possible_mask)
#define cpu_online(cpu)			cpumask_test_cpu(cpu, cpu_online_mask)
#define cpu_active(cpu)			cpumask_test_cpu(cpu, cpu_active_mask)
#define cpu_is_offline(cpu)		unlikely(!cpu_online(cpu))
#define num_possible_cpus()		cpumask_weight(cpu_possible_mask)
#define num_online_cpus()		cpumask_weight(cpu_online_mask)
#define num_active_cpus()		cpumask_weight(cpu_active_mask)

/* A constant mask of one CPU for each, made at boot. */
const struct cpumask *cpumask_of(unsigned int cpu);
int cpulist_parse(const char *text, struct cpumask *mask);

#endif /* _LINUX_CPUMASK_H */
