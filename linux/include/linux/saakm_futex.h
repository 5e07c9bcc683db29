/* SPDX-License-Identifier: GPL-2.0 */
/* What the system calls of futexes tell SaaKM: kernel/futex/. No API of policies. */
#ifndef _LINUX_SAAKM_FUTEX_H
#define _LINUX_SAAKM_FUTEX_H

/* private: */
#ifdef CONFIG_SCHED_CLASS_SAAKM
#include <linux/jump_label.h>

/* On while a policy with SAAKM_POLICY_LOCKS is in use. */
DECLARE_STATIC_KEY_FALSE(saakm_noting_locks);

void saakm_note_lock(bool holds);

/* The current thread has waited for a futex with success, or got a lock. */
static inline void saakm_got_lock(void)
{
	if (static_branch_unlikely(&saakm_noting_locks))
		saakm_note_lock(true);
}

/* It wakes whoever waits, if anybody does, or unlocks. */
static inline void saakm_released_lock(void)
{
	if (static_branch_unlikely(&saakm_noting_locks))
		saakm_note_lock(false);
}
#else
static inline void saakm_got_lock(void) { }
static inline void saakm_released_lock(void) { }
#endif

/* public: */

#endif /* _LINUX_SAAKM_FUTEX_H */
