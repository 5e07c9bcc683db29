/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_REPLAY_MEMBERS_H
#define _SIM_REPLAY_MEMBERS_H

#include "replay.h"

/* Whose a field is: see fields.h. */
enum replay_whose { GIVEN, OWN, BOTH, NEITHER };

struct replay_member {
	const char *name;
	enum replay_kind kind;
	enum replay_whose whose;
	enum {
		HOW_NUMBER, HOW_TASK, HOW_POLICY, HOW_CLASS, HOW_NODE, HOW_SERVER_BITS,
		HOW_IS_SET, HOW_THREAD_FLAGS, HOW_CLOCK_FLAGS, HOW_NOTHING, HOW_VARIABLE,
		HOW_KEY, HOW_POINTED
	} how;
	unsigned int offset, size;
	void *variable;
};

u64 replay_here(const struct replay_member *m, const void *here);
u64 replay_translate(const struct replay_member *m, const struct replay_object *object,
		     unsigned int field, u64 value);
void replay_set(const struct replay_member *m, void *here, u64 value);
u64 replay_policy_id(u64 address);

#endif /* _SIM_REPLAY_MEMBERS_H */
