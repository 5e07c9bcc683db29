// SPDX-License-Identifier: GPL-2.0
/*
 * Where the kernel has what sim/replay/fields.h names. Compiled with its own flags and headers; not
 * linked, and not run: the section .replay of the object is read.
 */
#include <linux/mmu_context.h>
#include "kernel/sched/sched.h"
#include "kernel/sched/saakm/internal.h"
#include "entry.h"

#define POINTED_TO 256	/* as the size */

#define rq_type		struct rq
#define task_type	struct task_struct
#define core_type	struct saakm_core
#define FIELD(kind, object, name, member)					\
	AT(#object, #name, kind, offsetof(object##_type, member),		\
	   sizeof(((object##_type *)0)->member)),

/* Of a mask: its first word. The bit fields of the server stand behind its flags. */
const struct replay_field replay_fields[] __section(".replay") __used = {
#include "fields.h"
	AT("rq", "server_bits", BOTH, offsetof(struct rq, saakm.server.flags) + 4, 4),
#ifdef CONFIG_SMP
	AT("rq", "ttwu_pending", GIVEN, offsetof(struct rq, ttwu_pending), 4),
#endif
	AT("task", "cpu", BOTH, offsetof(struct task_struct, thread_info.cpu), 4),
	AT("task", "thread_flags", GIVEN, offsetof(struct task_struct, thread_info.flags), 8),
	AT("rq", "kick_at", GIVEN, offsetof(struct rq, saakm.kick), 0),
	AT("rq", "slice_kick_at", GIVEN, offsetof(struct rq, saakm.slice_kick), 0),
	AT("rq", "slice_timer_at", GIVEN, offsetof(struct rq, saakm.slice_timer), 0),
	AT("rq", "server_at", GIVEN, offsetof(struct rq, saakm.server), 0),
	AT("rq", "probe_at", GIVEN, offsetof(struct rq, saakm.probe), 0),
	AT("rq", "wake_at", GIVEN, offsetof(struct rq, saakm.wake), 0),
	/* The first word of what a policy has of a thread or core. */
	AT("task", "data", OWN, offsetof(struct task_struct, saakm.event.data), POINTED_TO),
	AT("core", "data", OWN, offsetof(struct saakm_core, event.data), POINTED_TO),
	AT("policy", "cores", OWN, offsetof(struct saakm_policy, cores), 8),
	AT("hot", "current", GIVEN, offsetof(struct pcpu_hot, current_task), 8),
	AT("hot", "preempt_count", GIVEN, offsetof(struct pcpu_hot, preempt_count), 4),
	AT("hot", "regs_cs", GIVEN, offsetof(struct pt_regs, cs), 8),
	AT("hot", "core_event", GIVEN, offsetof(struct saakm_core, event), 8),
};
