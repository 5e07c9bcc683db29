/* SPDX-License-Identifier: GPL-2.0 */
/* Pointers that are none, in what was taken out of a list. Stands for linux/poison.h. */
#ifndef _LINUX_POISON_H
#define _LINUX_POISON_H

#define LIST_POISON1	((void *)0xdead000000000100UL)
#define LIST_POISON2	((void *)0xdead000000000122UL)

#endif /* _LINUX_POISON_H */
