/* SPDX-License-Identifier: GPL-2.0 */
/* Errors in pointers. Stands for linux/err.h. */
#ifndef _LINUX_ERR_H
#define _LINUX_ERR_H

#include <linux/errno.h>
#include <linux/types.h>

#define MAX_ERRNO		4095
#define IS_ERR_VALUE(x)		unlikely((unsigned long)(x) >= (unsigned long)-MAX_ERRNO)

static inline void *ERR_PTR(long error)
{
	return (void *)error;
}

static inline long PTR_ERR(const void *pointer)
{
	return (long)pointer;
}

static inline bool IS_ERR(const void *pointer)
{
	return IS_ERR_VALUE(pointer);
}

static inline bool IS_ERR_OR_NULL(const void *pointer)
{
	return !pointer || IS_ERR(pointer);
}

static inline void *ERR_CAST(const void *pointer)
{
	return (void *)pointer;
}

static inline int PTR_ERR_OR_ZERO(const void *pointer)
{
	return IS_ERR(pointer) ? PTR_ERR(pointer) : 0;
}

#endif /* _LINUX_ERR_H */
