/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that may not be there: of users, or what a broken pointer points to. Stands for
 * linux/uaccess.h and sched/task_stack.h. Users are the model itself.
 */
#ifndef _LINUX_UACCESS_H
#define _LINUX_UACCESS_H

#include <linux/string.h>

/* -EFAULT: it is not readable. A freed object of which the sanitizer knows is not either. */
long copy_from_kernel_nofault(void *to, const void *from, size_t size);
#define get_kernel_nofault(value, from) \
	copy_from_kernel_nofault(&(value), from, sizeof(value))

static inline unsigned long __must_check copy_from_user(void *to, const void __user *from,
							unsigned long n)
{
	memcpy(to, from, n);
	return 0;
}

static inline unsigned long __must_check copy_to_user(void __user *to, const void *from,
						      unsigned long n)
{
	memcpy(to, from, n);
	return 0;
}

#define get_user(value, from)	({ (value) = *(from); 0; })
#define put_user(value, to)	({ *(to) = (value); 0; })

/* To be freed by kvfree(); ERR_PTR() */
void *vmemdup_user(const void __user *from, size_t size);

#define u64_to_user_ptr(number)	((void __user *)(unsigned long)(number))

/* On the stack of the strand that runs */
int object_is_on_stack(const void *object);

#endif /* _LINUX_UACCESS_H */
