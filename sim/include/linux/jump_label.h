/* SPDX-License-Identifier: GPL-2.0 */
/* Static keys are counters here: no code is patched. Stands for linux/jump_label.h. */
#ifndef _LINUX_JUMP_LABEL_H
#define _LINUX_JUMP_LABEL_H

#include <linux/bug.h>

struct static_key {
	int	enabled;
};

/* Two types, as there, so that a key that begins true is declared as one. */
struct static_key_true {
	struct static_key key;
};

struct static_key_false {
	struct static_key key;
};

#define STATIC_KEY_TRUE_INIT	{ .key = { .enabled = 1 } }
#define STATIC_KEY_FALSE_INIT	{ .key = { .enabled = 0 } }
#define DEFINE_STATIC_KEY_TRUE(name)	struct static_key_true name = STATIC_KEY_TRUE_INIT
#define DEFINE_STATIC_KEY_FALSE(name)	struct static_key_false name = STATIC_KEY_FALSE_INIT
#define DECLARE_STATIC_KEY_TRUE(name)	extern struct static_key_true name
#define DECLARE_STATIC_KEY_FALSE(name)	extern struct static_key_false name

#define static_key_enabled(k)		((k)->key.enabled > 0)
#define static_branch_likely(k)		likely((k)->key.enabled)
#define static_branch_unlikely(k)	unlikely((k)->key.enabled)
#define static_branch_inc(k)		((void)(k)->key.enabled++)
#define static_branch_dec(k)		((void)WARN_ON_ONCE(--(k)->key.enabled < 0))
#define static_branch_enable(k)		((void)((k)->key.enabled = 1))
#define static_branch_disable(k)	((void)((k)->key.enabled = 0))

#endif /* _LINUX_JUMP_LABEL_H */
