// SPDX-License-Identifier: GPL-2.0
/*
 * Values by size: below 128 each has a slot, and above there are 128 slots from one power of two to
 * the next. A percentile is the middle of its slot.
 */
#include "schbench.h"

#define STEPS	(1u << HISTOGRAM_BITS)

static unsigned int slot_of(uint64_t value)
{
	unsigned int shift;

	if (value < STEPS)
		return value;
	shift = 63 - __builtin_clzll(value) - HISTOGRAM_BITS;
	return ((shift + 1) << HISTOGRAM_BITS) + ((value >> shift) & (STEPS - 1));
}

/* The middle of a slot. */
static double value_of(unsigned int slot)
{
	unsigned int shift;
	uint64_t least;

	if (slot < STEPS)
		return slot;
	shift = (slot >> HISTOGRAM_BITS) - 1;
	least = (uint64_t)(STEPS + (slot & (STEPS - 1))) << shift;
	return least + ((1ull << shift) - 1) / 2.0;
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
	if (!histogram->count || value < histogram->least)
		histogram->least = value;
	if (value > histogram->most)
		histogram->most = value;
	histogram->count++;
	histogram->slots[slot_of(value)]++;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	if (!from->count)
		return;
	if (!into->count || from->least < into->least)
		into->least = from->least;
	if (from->most > into->most)
		into->most = from->most;
	into->count += from->count;
	for (unsigned int i = 0; i < HISTOGRAM_SLOTS; i++)
		into->slots[i] += from->slots[i];
}

static double within(double value, double least, double most)
{
	return value < least ? least : value > most ? most : value;
}

/* The least value that so many per cent of all do not exceed; 0 of nothing. */
double histogram_percentile(const struct histogram *histogram, double percent)
{
	uint64_t seen = 0;

	for (unsigned int i = 0; i < HISTOGRAM_SLOTS; i++) {
		seen += histogram->slots[i];
		if (seen && seen * 100.0 >= histogram->count * percent)
			return within(value_of(i), histogram->least, histogram->most);
	}
	return 0;
}
