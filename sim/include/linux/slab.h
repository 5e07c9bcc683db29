/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory. Stands for linux/slab.h, vmalloc.h, gfp.h. Each allocation is one of the host's, so
 * that a sanitizer knows its ends. GFP_KERNEL may sleep, and says so; with the option fail= any but
 * __GFP_NOFAIL may fail.
 */
#ifndef _LINUX_SLAB_H
#define _LINUX_SLAB_H

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/kernel.h>

#define PAGE_SHIFT		12
#define PAGE_SIZE		(1UL << PAGE_SHIFT)
#define SMP_CACHE_BYTES		64
#define KMALLOC_MAX_SIZE	(4UL << 20)

#define ___GFP_MAY_SLEEP	0x01u
#define __GFP_HIGH		0x02u
#define __GFP_ZERO		0x04u
#define __GFP_NOFAIL		0x08u
#define __GFP_NOWARN		0x10u
#define __GFP_ACCOUNT		0x20u
#define GFP_KERNEL		___GFP_MAY_SLEEP
#define GFP_KERNEL_ACCOUNT	(GFP_KERNEL | __GFP_ACCOUNT)
#define GFP_ATOMIC		__GFP_HIGH

/* NULL: no memory, or larger than KMALLOC_MAX_SIZE */
void *kmalloc(size_t size, gfp_t gfp);
void *krealloc(const void *memory, size_t size, gfp_t gfp);
void kfree(const void *memory);
size_t ksize(const void *memory);
/* As large as there is memory; to be freed by kvfree() or vfree() respectively. */
void *kvmalloc(size_t size, gfp_t gfp);
void kvfree(const void *memory);
void *kvmemdup(const void *from, size_t size, gfp_t gfp);
void *vmalloc(unsigned long size);
void *vzalloc(unsigned long size);
/* Which a process maps: see <linux/mm.h>. */
void *vmalloc_user(unsigned long size);
void vfree(const void *memory);

static inline void *kzalloc(size_t size, gfp_t gfp)
{
	return kmalloc(size, gfp | __GFP_ZERO);
}

static inline void *kmalloc_array(size_t n, size_t size, gfp_t gfp)
{
	size_t bytes;

	return check_mul_overflow(n, size, &bytes) ? NULL : kmalloc(bytes, gfp);
}

static inline void *kcalloc(size_t n, size_t size, gfp_t gfp)
{
	return kmalloc_array(n, size, gfp | __GFP_ZERO);
}

static inline void *kvzalloc(size_t size, gfp_t gfp)
{
	return kvmalloc(size, gfp | __GFP_ZERO);
}

static inline void *kvmalloc_array(size_t n, size_t size, gfp_t gfp)
{
	size_t bytes;

	return check_mul_overflow(n, size, &bytes) ? NULL : kvmalloc(bytes, gfp);
}

static inline void *kvcalloc(size_t n, size_t size, gfp_t gfp)
{
	return kvmalloc_array(n, size, gfp | __GFP_ZERO);
}

/* Nodes have no memory of their own. */
#define kmalloc_node(size, gfp, node)	((void)(node), kmalloc(size, gfp))
#define kzalloc_node(size, gfp, node)	((void)(node), kzalloc(size, gfp))
#define kvzalloc_node(size, gfp, node)	((void)(node), kvzalloc(size, gfp))

DEFINE_FREE(kfree, void *, if (!IS_ERR_OR_NULL(_T)) kfree(_T))
DEFINE_FREE(kvfree, void *, if (!IS_ERR_OR_NULL(_T)) kvfree(_T))

#endif /* _LINUX_SLAB_H */
