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
#define static_branch_inc(k)		__sim_static_key_add(&(k)->key, 1)
#define static_branch_dec(k)		__sim_static_key_add(&(k)->key, -1)
#define static_branch_enable(k)		__sim_static_key_set(&(k)->key, 1)
#define static_branch_disable(k)	__sim_static_key_set(&(k)->key, 0)

void cpus_read_lock(void);
void cpus_read_unlock(void);

/* Where code is patched, CPUs may not come or go meanwhile: whoever changes a key may sleep. */
static inline void __sim_static_key_add(struct static_key *key, int count)
{
	cpus_read_lock();
	WARN_ON_ONCE((key->enabled += count) < 0);
	cpus_read_unlock();
}

static inline void __sim_static_key_set(struct static_key *key, int enabled)
{
	cpus_read_lock();
	key->enabled = enabled;
	cpus_read_unlock();
}

#endif /* _LINUX_JUMP_LABEL_H */
