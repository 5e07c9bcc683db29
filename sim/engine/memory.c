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

#ifdef HAVE_ASAN
/* Of <sanitizer/allocator_interface.h>, which gcc 12 leaves out. */
int __sanitizer_get_ownership(const volatile void *memory);
#endif

#define LINE		64		/* of a cache: larger objects begin at one */
#define POISON		0x5a		/* as SLUB's: not zeroed, but the same in every run */

/*
 * What may be in use before kmalloc() is one too many, beside what threads need: on 1,024 CPUs the
 * model and a policy have some 3 MiB. A host may have less; that is kmalloc()'s doing all the same
 * if there is so much.
 */
#define MAX_HELD	(2ULL << 30)
#define MUCH_HELD	(MAX_HELD / 32)
#define RESERVE		(1UL << 20)	/* for the report */

static struct sim_random fates;
static _Bool failing;
static sim_u64 held;
static void *reserve;

void sim_memory_init(void)
{
	sim_random_init(&fates, "fail", 0);
	reserve = malloc(RESERVE);
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

/* NULL: the host has none. */
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
	held += malloc_usable_size(memory);
	return memory;
}

__attribute__((cold, noreturn))
static void refuse(_Bool by_host)
{
	if (by_host && held < MUCH_HELD)
		sim_out_of_memory();
	free(reserve);
	sim_core_out_of_memory(held, by_host);
	sim_die();
}

void *sim_alloc(unsigned long size)
{
	void *memory = allocate(size);

	if (!memory)
		sim_out_of_memory();
	return memset(memory, 0, size);
}

/* free() shall be who finds that it is no memory. */
static unsigned long size_of(const void *memory)
{
#ifdef HAVE_ASAN
	if (!__sanitizer_get_ownership(memory))
		return 0;
#endif
	return malloc_usable_size((void *)memory);
}

void sim_free(void *memory)
{
	if (unlikely(sim_agents_elsewhere) && sim_shared_free(memory))
		return;
	held -= size_of(memory);
	free(memory);
}

void *sim_kmalloc_surely(unsigned long size, _Bool zero)
{
	void *memory;

	if (unlikely(held + size > MAX_HELD) && held + size > MAX_HELD + sim_core_thread_bytes())
		refuse(false);
	memory = allocate(size);
	if (!memory)
		refuse(true);
	return memset(memory, zero ? 0 : POISON, size);
}

void *sim_kmalloc(unsigned long size, _Bool zero)
{
	if (size > MAX_HELD)
		return NULL;
	if (unlikely(failing) && !sim_random_below(&fates, sim_options.fail))
		return NULL;
	return sim_kmalloc_surely(size, zero);
}

unsigned long sim_ksize(const void *memory)
{
	return malloc_usable_size((void *)memory);
}
