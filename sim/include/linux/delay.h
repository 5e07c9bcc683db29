/* SPDX-License-Identifier: GPL-2.0 */
/* Time that passes, busy or asleep. Stands for linux/delay.h. A busy wait occupies the CPU. */
#ifndef _LINUX_DELAY_H
#define _LINUX_DELAY_H

#include <linux/sched.h>
#include <linux/time.h>

void ndelay(unsigned long ns);
void udelay(unsigned long us);
void mdelay(unsigned long ms);
void msleep(unsigned int ms);
unsigned long msleep_interruptible(unsigned int ms);
/* At least @min, at most @max: when, the seed says. */
void usleep_range_state(unsigned long min, unsigned long max, unsigned int state);
#define usleep_range(min, max)		usleep_range_state(min, max, TASK_UNINTERRUPTIBLE)

/* As the kernel chooses between them. */
static inline void fsleep(unsigned long us)
{
	if (us <= 10)
		udelay(us);
	else if (us <= 20000)
		usleep_range(us, us + us / 4);
	else
		msleep(DIV_ROUND_UP(us, USEC_PER_MSEC));
}

#endif /* _LINUX_DELAY_H */
