// SPDX-License-Identifier: GPL-2.0
/* What the fields of the plan are here, and how a value there is compared with one here. */
#include "saakm/safety.h"
#include "members.h"

#define rq_type		struct rq
#define task_type	struct task_struct
#define core_type	struct saakm_core
#define rq_kind		REPLAY_RQ
#define task_kind	REPLAY_TASK
#define core_kind	REPLAY_CORE

#define MEMBER(object_, name_, whose_, how_, member)				\
	{ .name = name_, .kind = object_##_kind, .whose = whose_, .how = how_,	\
	  .offset = offsetof(object_##_type, member),				\
	  .size = sizeof(((object_##_type *)0)->member) },
#define FIELD(whose, object, name, member) MEMBER(object, #name, whose, HOW_NUMBER, member)

/* These replace, and add to, what fields.h has. */
static const struct replay_member special[] = {
	MEMBER(rq, "curr", GIVEN, HOW_TASK, curr)
	MEMBER(rq, "donor", NEITHER, HOW_NUMBER, curr)
	MEMBER(rq, "idle", NEITHER, HOW_TASK, idle)
	MEMBER(rq, "first", OWN, HOW_POLICY, saakm.first)
	MEMBER(rq, "fair_server", GIVEN, HOW_NODE, fair_server.rb_node)
	MEMBER(rq, "server_queued", GIVEN, HOW_NODE, saakm.server.rb_node)
	MEMBER(rq, "server_bits", BOTH, HOW_SERVER_BITS, saakm.server)
	MEMBER(rq, "clock_flags", GIVEN, HOW_CLOCK_FLAGS, clock_update_flags)
	MEMBER(rq, "ttwu_pending", GIVEN, HOW_NOTHING, cpu)
	MEMBER(task, "class", GIVEN, HOW_CLASS, sched_class)
	MEMBER(task, "saakm_policy", OWN, HOW_POLICY, saakm.policy)
	MEMBER(task, "queued_in", OWN, HOW_IS_SET, saakm.rq)
	MEMBER(task, "cpus_mask", GIVEN, HOW_NUMBER, cpus_mask)
	MEMBER(task, "data", OWN, HOW_POINTED, saakm.event.data)
	MEMBER(core, "data", OWN, HOW_POINTED, event.data)
	MEMBER(task, "cpu", BOTH, HOW_NUMBER, cpu)
	MEMBER(task, "thread_flags", GIVEN, HOW_THREAD_FLAGS, need_resched)
};

/*
 * What joining a policy for the first time changes while it sleeps now and then: given
 * meanwhile.
 */
#define VARIABLE(name_, whose_, how_)							\
	{ .name = #name_, .kind = REPLAY_GLOBAL, .whose = whose_, .how = how_,		\
	  .variable = &name_ },

static const struct replay_member variables[] = {
	VARIABLE(__saakm_enabled, BOTH, HOW_KEY)
	VARIABLE(saakm_charging, BOTH, HOW_KEY)
	VARIABLE(saakm_refilling, BOTH, HOW_KEY)
	VARIABLE(saakm_observed, BOTH, HOW_KEY)
	VARIABLE(saakm_next_sample, OWN, HOW_VARIABLE)
	VARIABLE(saakm_keeping_masks, BOTH, HOW_VARIABLE)
	VARIABLE(saakm_pulling, BOTH, HOW_VARIABLE)
	VARIABLE(saakm_refillers, BOTH, HOW_VARIABLE)
	VARIABLE(saakm_watching_idle, BOTH, HOW_VARIABLE)
	VARIABLE(saakm_idle_cpus, OWN, HOW_VARIABLE)
};

static const struct replay_member plain[] = {
#include "fields.h"
};

const struct replay_member *replay_member(enum replay_kind kind, const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(special); i++)
		if (special[i].kind == kind && !strcmp(special[i].name, name))
			return &special[i];
	for (i = 0; i < ARRAY_SIZE(variables); i++)
		if (variables[i].kind == kind && !strcmp(variables[i].name, name))
			return &variables[i];
	for (i = 0; i < ARRAY_SIZE(plain); i++)
		if (plain[i].kind == kind && !strcmp(plain[i].name, name))
			return &plain[i];
	return NULL;
}

static unsigned int bits_of(const struct sched_dl_entity *se)
{
	return se->dl_throttled | se->dl_yielded << 1 | se->dl_non_contending << 2 |
	       se->dl_overrun << 3 | se->dl_server << 4 | se->dl_server_active << 5 |
	       se->dl_defer << 6 | se->dl_defer_armed << 7 | se->dl_defer_running << 8;
}

static void set_bits(struct sched_dl_entity *se, unsigned int bits)
{
	se->dl_throttled = bits;
	se->dl_yielded = bits >> 1;
	se->dl_non_contending = bits >> 2;
	se->dl_overrun = bits >> 3;
	se->dl_server = bits >> 4;
	se->dl_server_active = bits >> 5;
	se->dl_defer = bits >> 6;
	se->dl_defer_armed = bits >> 7;
	se->dl_defer_running = bits >> 8;
}

static u64 raw(const struct replay_member *m, const void *here)
{
	u64 value = 0;

	memcpy(&value, here + m->offset, min_t(size_t, m->size, sizeof(value)));
	return value;
}

/* In the terms of here: threads are pid and policies their number. */
u64 replay_here(const struct replay_member *m, const void *here)
{
	const void *at = here + m->offset;

	switch (m->how) {
	case HOW_TASK:
	case HOW_CLASS:
	case HOW_NUMBER:
		return raw(m, here);
	case HOW_POLICY:
		return raw(m, here) ? (*(struct saakm_policy **)at)->own->id : 0;
	case HOW_NODE:
		return !RB_EMPTY_NODE((struct rb_node *)at);
	case HOW_SERVER_BITS:
		return bits_of(at);
	case HOW_POINTED:
		return raw(m, here) ? **(u64 **)at : 0;
	case HOW_VARIABLE:
		return *(u64 *)m->variable;
	case HOW_KEY:
		return static_key_enabled((struct static_key_false *)m->variable);
	case HOW_IS_SET:
		return raw(m, here) != 0;
	case HOW_THREAD_FLAGS:
		return raw(m, here);
	case HOW_CLOCK_FLAGS:
	case HOW_NOTHING:
		return 0;
	}
	return 0;
}

#define KERNEL_NEED_RESCHED	BIT(3)	/* _TIF_NEED_RESCHED of x86 */
#define KERNEL_SERVER_BITS	0x1ff

/* @value as it is there, in the terms of here. */
u64 replay_translate(const struct replay_member *m, const struct replay_object *object,
		     unsigned int field, u64 value)
{
	switch (m->how) {
	case HOW_TASK:
		return value ? (unsigned long)replay_task(value) : 0;
	case HOW_CLASS:
		return (unsigned long)replay_class(value);
	case HOW_POLICY:
		return replay_policy_id(value);
	case HOW_NODE:
		return value != object->address + replay_fields[object->kind][field].there;
	case HOW_SERVER_BITS:
		return value & KERNEL_SERVER_BITS;
	case HOW_IS_SET:
		return value != 0;
	case HOW_THREAD_FLAGS:
		return !!(value & KERNEL_NEED_RESCHED);
	case HOW_CLOCK_FLAGS:
	case HOW_NOTHING:
		return 0;
	case HOW_KEY:		/* negative: its code is being patched */
		return (int)value > 0 || ((int)value < 0 && object->patched & BIT_ULL(field));
	case HOW_NUMBER:
	case HOW_POINTED:
	case HOW_VARIABLE:
		return value;
	}
	return value;
}

void replay_set(const struct replay_member *m, void *here, u64 value)
{
	void *at = here + m->offset;

	switch (m->how) {
	case HOW_NODE:
		if (value)
			((struct rb_node *)at)->__rb_parent_color = 0;
		else
			RB_CLEAR_NODE((struct rb_node *)at);
		break;
	case HOW_SERVER_BITS:
		set_bits(at, value);
		break;
	case HOW_CLOCK_FLAGS:
		*(unsigned int *)at |= RQCF_UPDATED;
		break;
	case HOW_VARIABLE:
		*(u64 *)m->variable = value;
		break;
	case HOW_KEY:
		((struct static_key_false *)m->variable)->key.enabled = value;
		break;
	case HOW_POLICY:
	case HOW_POINTED:
	case HOW_IS_SET:
	case HOW_NOTHING:
		break;
	default:
		memcpy(at, &value, min_t(size_t, m->size, sizeof(value)));
	}
}
