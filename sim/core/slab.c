// SPDX-License-Identifier: GPL-2.0
/* Memory: <linux/slab.h>, upon the host's. */
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "load.h"
#include "machine.h"

/* task_struct, what the class and a policy keep of it, its state as a thread of a workload. */
#define THREAD_BYTES	(16ULL << 10)

sim_u64 sim_core_thread_bytes(void)
{
	return load_alive * THREAD_BYTES;
}

static void *allocate(size_t size, gfp_t gfp)
{
	might_sleep_if(gfp & ___GFP_MAY_SLEEP);
	if (gfp & __GFP_NOFAIL)
		return sim_kmalloc_surely(size, gfp & __GFP_ZERO);
	return sim_kmalloc(size, gfp & __GFP_ZERO);
}

void *kmalloc(size_t size, gfp_t gfp)
{
	if (size > KMALLOC_MAX_SIZE) {
		WARN_ONCE(!(gfp & __GFP_NOWARN), "kmalloc() of %zu bytes", size);
		return NULL;
	}
	return allocate(size, gfp);
}

void *krealloc(const void *memory, size_t size, gfp_t gfp)
{
	void *larger = kmalloc(size, gfp);

	if (larger && memory) {
		memcpy(larger, memory, min(ksize(memory), size));
		kfree(memory);
	}
	return larger;
}

size_t ksize(const void *memory)
{
	return memory ? sim_ksize(memory) : 0;
}

void kfree(const void *memory)
{
	sim_free((void *)memory);
}

void *kvmalloc(size_t size, gfp_t gfp)
{
	return allocate(size, gfp);
}

void kvfree(const void *memory)
{
	sim_free((void *)memory);
}

void *kvmemdup(const void *from, size_t size, gfp_t gfp)
{
	void *copy = kvmalloc(size, gfp);

	return copy ? memcpy(copy, from, size) : NULL;
}

void *vmemdup_user(const void __user *from, size_t size)
{
	return kvmemdup(from, size, GFP_KERNEL) ?: ERR_PTR(-ENOMEM);
}

void *vmalloc(unsigned long size)
{
	return allocate(size, GFP_KERNEL);
}

void *vzalloc(unsigned long size)
{
	return allocate(size, GFP_KERNEL | __GFP_ZERO);
}

void *vmalloc_user(unsigned long size)
{
	return sim_agents_elsewhere ? sim_shared_alloc(size) : vzalloc(size);
}

void vfree(const void *memory)
{
	might_sleep();
	sim_free((void *)memory);
}

void *__alloc_percpu(size_t size, size_t align)
{
	void *memory;

	might_sleep();
	if (size > PCPU_MIN_UNIT_SIZE || align > PAGE_SIZE) {
		WARN(1, "alloc_percpu() of %zu bytes, aligned to %zu", size, align);
		return NULL;
	}
	/* The option fail= applies: an allocation that is of no use but for that. */
	memory = sim_kmalloc(1, false);
	if (!memory)
		return NULL;
	sim_free(memory);
	return sim_percpu_alloc(size, align);
}

void free_percpu(void *memory)
{
	if (memory)
		WARN(!sim_percpu_free(memory),
		     "free_percpu() of what was not allocated, or is freed");
}
