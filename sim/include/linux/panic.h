/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The end, and stacks in the log. Stands for linux/panic.h. The stack is that of the simulated call
 * as far as the host can name functions.
 */
#ifndef _LINUX_PANIC_H
#define _LINUX_PANIC_H

#include <linux/types.h>

__printf(1, 2) __noreturn __cold
void panic(const char *fmt, ...);
__cold void dump_stack(void);

#endif /* _LINUX_PANIC_H */
