/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's integer types and the heads of its lists: those of x86-64. Stands for linux/types.h,
 * asm/types.h and what these include.
 */
#ifndef _LINUX_TYPES_H
#define _LINUX_TYPES_H

#include <linux/compiler.h>
#include <linux/stddef.h>

typedef unsigned char u8, __u8, uint8_t;
typedef unsigned short u16, __u16, uint16_t;
typedef unsigned int u32, __u32, uint32_t;
typedef unsigned long long u64, __u64;
typedef unsigned long uint64_t;
typedef signed char s8, __s8, int8_t;
typedef short s16, __s16, int16_t;
typedef int s32, __s32, int32_t;
typedef long long s64, __s64;
typedef long int64_t;

typedef unsigned long ulong, uintptr_t;
typedef unsigned int uint;
typedef unsigned short ushort;
typedef long ssize_t, intptr_t;
typedef long long loff_t;
typedef int pid_t;
typedef unsigned int gfp_t, fmode_t, uid_t, gid_t, __poll_t;
typedef unsigned short umode_t;
typedef unsigned int dev_t;
typedef long long time64_t;
typedef _Bool bool;

#define true 1
#define false 0

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

typedef struct {
	long counter;
} atomic_long_t;

#define ATOMIC_INIT(i)		{ (i) }
#define ATOMIC64_INIT(i)	{ (i) }

struct list_head {
	struct list_head *next, *prev;
};

struct callback_head {
	struct callback_head *next;
	void (*func)(struct callback_head *head);
};
#define rcu_head callback_head
typedef void (*rcu_callback_t)(struct rcu_head *head);

#define BITS_PER_LONG		64
#define BITS_TO_LONGS(bits)	(((bits) + BITS_PER_LONG - 1) / BITS_PER_LONG)
#define DECLARE_BITMAP(name, bits) unsigned long name[BITS_TO_LONGS(bits)]

#endif /* _LINUX_TYPES_H */
