// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of the kernel's side: each kmalloc() is an allocation of libc of just that size, so that
 * AddressSanitizer sees an overrun by one byte, and a use after kfree().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <malloc.h>

#include "engine.h"

#define LINE		64		/* of a cache: larger objects begin at one */
#define POISON		0x5a		/* as SLUB's: not zeroed, but the same in every run */

static struct sim_random fates;
static _Bool failing;

void sim_memory_init(void)
{
	sim_random_init(&fates, "fail", 0);
}

void sim_failing(_Bool on)
{
	failing = on && sim_options.fail;
}

void sim_out_of_memory(void)
{
	fputs("sim: the host has no memory left\n", stderr);
	exit(2);
}

static void *allocate(unsigned long size)
{
	void *memory;

	/*
	 * kmalloc() of a size that is a power of two is aligned to it, but none promises more than
	 * 64.
	 */
	if (size < LINE)
		memory = malloc(size ? size : 1);
	else if (posix_memalign(&memory, LINE, size))
		memory = NULL;
	if (!memory)
		sim_out_of_memory();
	return memory;
}

void *sim_alloc(unsigned long size)
{
	return memset(allocate(size), 0, size);
}

void sim_free(void *memory)
{
	free(memory);
}

void *sim_kmalloc(unsigned long size, _Bool zero)
{
	if (unlikely(failing) && !sim_random_below(&fates, sim_options.fail))
		return NULL;
	return memset(allocate(size), zero ? 0 : POISON, size);
}

unsigned long sim_ksize(const void *memory)
{
	return malloc_usable_size((void *)memory);
}
