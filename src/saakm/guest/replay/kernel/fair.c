// SPDX-License-Identifier: GPL-2.0
/*
 * Where the kernel has what a recording of fair's calls holds: as offsets.c, for any kernel of which
 * these names are true, with the class SaaKM or without it.
 */
#include <linux/mmu_context.h>
#include "kernel/sched/sched.h"
#include "entry.h"

#define RQ(name, member)	AT("rq", name, GIVEN, offsetof(struct rq, member),	\
				   sizeof(((struct rq *)0)->member))
#define TASK(name, member)	AT("task", name, GIVEN, offsetof(struct task_struct, member),	\
				   sizeof(((struct task_struct *)0)->member))

const struct replay_field replay_fields[] __section(".replay") __used = {
	RQ("curr", curr), RQ("idle", idle), RQ("nr_running", nr_running),
	RQ("clock", clock), RQ("clock_task", clock_task),
	RQ("fair_queued", cfs.nr_running), RQ("zero_vruntime", cfs.zero_vruntime),
	RQ("avg_vruntime", cfs.avg_vruntime), RQ("avg_load", cfs.avg_load),
	RQ("buddy", cfs.next),
	TASK("pid", pid), TASK("tgid", tgid), TASK("flags", flags), TASK("comm", comm),
	TASK("run_state", __state), TASK("on_rq", on_rq), TASK("on_cpu", on_cpu),
	TASK("prio", prio), TASK("static_prio", static_prio), TASK("normal_prio", normal_prio),
	TASK("rt_priority", rt_priority), TASK("policy", policy), TASK("class", sched_class),
	TASK("nr_cpus_allowed", nr_cpus_allowed), TASK("cpus_mask", cpus_mask),
	TASK("cpu", thread_info.cpu), TASK("thread_flags", thread_info.flags),
	TASK("vruntime", se.vruntime), TASK("deadline", se.deadline), TASK("vlag", se.vlag),
	TASK("slice", se.slice), TASK("weight", se.load.weight), TASK("queued", se.on_rq),
	TASK("delayed", se.sched_delayed), TASK("relative", se.rel_deadline),
	TASK("custom_slice", se.custom_slice),
	AT("hot", "entity", GIVEN, offsetof(struct task_struct, se), 8),
	AT("hot", "current", GIVEN, offsetof(struct pcpu_hot, current_task), 8),
	AT("hot", "preempt_count", GIVEN, offsetof(struct pcpu_hot, preempt_count), 4),
	AT("hot", "regs_cs", GIVEN, offsetof(struct pt_regs, cs), 8),
};
