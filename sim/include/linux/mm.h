/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a process maps. Stands for linux/mm.h, and remap_vmalloc_range() of linux/vmalloc.h. There
 * is one address space: a mapping is the memory itself.
 */
#ifndef _LINUX_MM_H
#define _LINUX_MM_H

#include <linux/slab.h>

#define PAGE_ALIGN(bytes)	(((bytes) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1))

#define VM_SHARED	0x00000008UL
#define VM_DONTCOPY	0x00020000UL
#define VM_DONTEXPAND	0x00040000UL
#define VM_DONTDUMP	0x04000000UL

struct vm_area_struct {
	unsigned long	vm_flags;
	unsigned long	vm_pgoff;
	void		*mapped;	/* model: where it lies */
};

static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}

static inline int remap_vmalloc_range(struct vm_area_struct *vma, void *memory,
				      unsigned long page)
{
	vma->mapped = (char *)memory + page * PAGE_SIZE;
	return 0;
}

#endif /* _LINUX_MM_H */
