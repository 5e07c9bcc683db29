/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The console has no lock here: a message is printed when it is made. Stands for linux/console.h.
 */
#ifndef _LINUX_CONSOLE_H
#define _LINUX_CONSOLE_H

#include <linux/preempt.h>

#define console_lock()		might_sleep()
#define console_unlock()	do { } while (0)

#endif /* _LINUX_CONSOLE_H */
