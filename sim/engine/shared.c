// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that an agent in another process maps: each allocation is a file of its own, without a
 * name, which that process finds among the descriptors of this one.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine.h"

_Bool sim_agents_elsewhere;

static struct block {
	void		*memory;
	unsigned long	size;
	int		fd;
} *blocks;
static unsigned int nr_blocks;

static struct block *find(const void *memory)
{
	unsigned int i;

	for (i = 0; i < nr_blocks; i++)
		if (blocks[i].memory == memory)
			return &blocks[i];
	return NULL;
}

void *sim_shared_alloc(unsigned long size)
{
	struct block block = { .size = size, .fd = memfd_create("sim", MFD_CLOEXEC) };

	if (block.fd < 0 || ftruncate(block.fd, (off_t)size))
		sim_out_of_memory();
	block.memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, block.fd, 0);
	blocks = realloc(blocks, (nr_blocks + 1) * sizeof(*blocks));
	if (block.memory == MAP_FAILED || !blocks)
		sim_out_of_memory();
	blocks[nr_blocks++] = block;
	return block.memory;
}

int sim_shared_fd(const void *memory)
{
	const struct block *block = find(memory);

	return block ? block->fd : -1;
}

_Bool sim_shared_free(void *memory)
{
	struct block *block = nr_blocks ? find(memory) : NULL;

	if (!block)
		return 0;
	munmap(block->memory, block->size);
	close(block->fd);
	*block = blocks[--nr_blocks];
	return 1;
}
