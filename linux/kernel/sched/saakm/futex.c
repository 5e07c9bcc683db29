// SPDX-License-Identifier: GPL-2.0
/*
 * Who holds locks, as far as futex(2) shows it: a thread that waited for one has it when it
 * returns with success; one that wakes others has released it. Locks that nobody else wants are
 * taken and released without a system call.
 */
#include <linux/saakm_futex.h>

DEFINE_STATIC_KEY_FALSE(saakm_noting_locks);

/* Of the current thread, which its policy may ask about meanwhile. */
void saakm_note_lock(bool holds)
{
	if (holds != current->saakm.holds_lock)
		WRITE_ONCE(current->saakm.holds_lock, holds);
}
