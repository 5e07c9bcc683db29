// SPDX-License-Identifier: GPL-2.0
/*
 * Per-CPU data. The linker collects the static variables in section "sim_percpu", which is the
 * template; each CPU gets a copy, and sim_percpu_offset[] is how far that is from the template.
 * What is allocated later comes from chunks, each of which has as much for each CPU, at the same
 * distances; they lie far behind the copies, so that the addresses which sim_percpu_alloc()
 * returns, as far behind the template, are nobody's: who forgets per_cpu_ptr() faults.
 *
 * With AddressSanitizer, and -fsanitize-sections=sim_percpu, the template has redzones between the
 * variables. The copies get the same, and the template is poisoned as a whole.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine.h"

#ifdef HAVE_ASAN
#include <sanitizer/asan_interface.h>
#define poison(start, size)	__asan_poison_memory_region((start), (size))
#define unpoison(start, size)	__asan_unpoison_memory_region((start), (size))
#else
#define poison(start, size)	((void)(start), (void)(size))
#define unpoison(start, size)	((void)(start), (void)(size))
#endif

#define CHUNK_DISTANCE	(2UL << 30)	/* of address space */
#define NR_CHUNKS	64		/* the copies of static variables are number 0 */
#define MIN_STRIDE	(40UL << 10)	/* so that PCPU_MIN_UNIT_SIZE can be allocated */
#define PAGE		4096UL
#define LINE		64UL
#define REDZONE		LINE

/* Weak: a program without per-CPU variables has no such section. */
extern char __start_sim_percpu[] __attribute__((weak));
extern char __stop_sim_percpu[] __attribute__((weak));

/* One that is in use, in order of chunk and offset. */
struct block {
	unsigned long	start, size;	/* start: behind the template */
	struct block	*next;
};

unsigned long *sim_percpu_offset;

static unsigned int nr_copies;
static unsigned long stride;		/* from the copy of a CPU to the next one's */
static unsigned int nr_chunks, max_chunks;
static char *copies;
static struct block *blocks;

/* memcpy() that may read redzones, and must not be turned into memcpy(), which may not. */
__attribute__((no_sanitize("address", "undefined")))
void sim_copy_poisoned(char *to, const volatile char *from, unsigned long size)
{
	unsigned long i;

	for (i = 0; i < size; i++)
		to[i] = from[i];
}

#ifdef HAVE_ASAN
static void copy_poison(char *to, char *from, unsigned long size)
{
	unsigned long i, end;

	for (i = 0; i < size; i = end) {
		_Bool poisoned = __asan_address_is_poisoned(from + i);

		for (end = i + 1; end < size; end++)
			if ((_Bool)__asan_address_is_poisoned(from + end) != poisoned)
				break;
		if (poisoned)
			poison(to + i, end - i);
	}
}
#else
static void copy_poison(char *to, char *from, unsigned long size)
{
	(void)to, (void)from, (void)size;
}
#endif

static void add_chunk(void)
{
	char *chunk = copies + nr_chunks++ * CHUNK_DISTANCE;
	unsigned long size = (nr_copies * stride + PAGE - 1) / PAGE * PAGE;

	if (mprotect(chunk, size, PROT_READ | PROT_WRITE))
		sim_out_of_memory();
	poison(chunk, size);
}

/* As many as the limit of address space (ulimit -v) leaves room for: few use more than two. */
static void reserve(void)
{
	for (max_chunks = NR_CHUNKS; max_chunks; max_chunks /= 2) {
		copies = mmap(NULL, max_chunks * CHUNK_DISTANCE, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (copies != MAP_FAILED)
			return;
	}
	sim_out_of_memory();
}

void sim_percpu_init(unsigned int cpus)
{
	unsigned long size = __stop_sim_percpu - __start_sim_percpu;
	unsigned int cpu;

	/*
	 * An odd number of lines, so that what CPUs have at one offset is not in one set of a
	 * cache.
	 */
	stride = ((size > MIN_STRIDE ? size : MIN_STRIDE) / LINE + 2) / 2 * 2 * LINE + LINE;
	nr_copies = cpus;
	reserve();
	add_chunk();
	sim_percpu_offset = sim_alloc(cpus * sizeof(*sim_percpu_offset));
	for (cpu = 0; cpu < cpus; cpu++) {
		char *copy = copies + cpu * stride;

		unpoison(copy, size);
		sim_copy_poisoned(copy, __start_sim_percpu, size);
		copy_poison(copy, __start_sim_percpu, size);
		sim_percpu_offset[cpu] = copy - __start_sim_percpu;
	}
	poison(__start_sim_percpu, size);
}

/* Where @size bytes fit in a chunk, behind *@link; 0: no more chunks. */
static unsigned long find_place(unsigned long size, unsigned long align, struct block ***link)
{
	unsigned long chunk, start;

	*link = &blocks;
	for (chunk = 1; chunk < max_chunks; chunk++) {
		unsigned long begin = chunk * CHUNK_DISTANCE, end = begin + stride;

		if (chunk == nr_chunks)
			add_chunk();
		for (start = begin; ; *link = &(**link)->next) {
			struct block *next = **link;
			unsigned long limit = next && next->start < end ? next->start : end;

			start = (start + align - 1) / align * align;
			if (start + size + REDZONE <= limit)
				return start;
			if (limit == end)
				break;
			start = next->start + next->size + REDZONE;
		}
	}
	return 0;
}

void *sim_percpu_alloc(unsigned long size, unsigned long align)
{
	struct block **link, *block;
	unsigned long start;
	unsigned int cpu;

	if (!size || size + REDZONE > stride || !align || align > LINE)
		return NULL;
	start = find_place(size, align, &link);
	if (!start)
		return NULL;
	block = sim_alloc(sizeof(*block));
	*block = (struct block){ start, size, *link };
	*link = block;
	for (cpu = 0; cpu < nr_copies; cpu++) {
		unpoison(copies + cpu * stride + start, size);
		memset(copies + cpu * stride + start, 0, size);
	}
	return __start_sim_percpu + start;
}

_Bool sim_percpu_free(void *memory)
{
	struct block **link = &blocks, *block;
	unsigned long start = (char *)memory - __start_sim_percpu;
	unsigned int cpu;

	while (*link && (*link)->start != start)
		link = &(*link)->next;
	block = *link;
	if (!block)
		return 0;
	for (cpu = 0; cpu < nr_copies; cpu++)
		poison(copies + cpu * stride + start, block->size);
	*link = block->next;
	sim_free(block);
	return 1;
}

const void *sim_percpu_template(const void *address, int *cpu)
{
	unsigned long size = __stop_sim_percpu - __start_sim_percpu;
	unsigned long distance = (const char *)address - copies;

	*cpu = distance / stride;
	if ((const char *)address < copies || distance >= nr_copies * stride ||
	    distance % stride >= size)
		return NULL;
	return __start_sim_percpu + distance % stride;
}

_Bool sim_percpu_is_template(const void *variable)
{
	return (const char *)variable >= __start_sim_percpu &&
	       (const char *)variable < __stop_sim_percpu;
}
