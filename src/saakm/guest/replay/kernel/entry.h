/* SPDX-License-Identifier: GPL-2.0 */
/* The form of what src/saakm/lab/replay/plan.py reads out of an object. */
#ifndef REPLAY_ENTRY_H
#define REPLAY_ENTRY_H

struct replay_field {
	char	object[8];
	char	name[32];
	u32	kind, offset, size, zero;
};

enum { GIVEN, OWN, BOTH };
#define AT(object_, name_, kind_, offset_, size_) \
	{ .object = object_, .name = name_, .kind = kind_, .offset = offset_, .size = size_ }

#endif
