/* SPDX-License-Identifier: GPL-2.0 */
/* What the rules of a core, main.c, and the dispatcher share. */
#ifndef SHINJUKU_H
#define SHINJUKU_H

#include <linux/saakm.h>

/* sched_saakm_param of a thread: 0, what threads have that say nothing, to 3, who go first. */
#define NR_CLASSES	4

/*
 * A key: the class, the highest first, and in it the time of coming, in ns. Who goes to the back
 * comes HEAD_START later, so that those who wake, each before its predecessor has run for a slice,
 * do not keep the others from the CPU for ever.
 */
#define CLASS_SHIFT	61
#define HEAD_START_NS	(10 * NSEC_PER_MSEC)

#define LATE_MAX_NS	((s64)NSEC_PER_MSEC)

struct shinjuku_core {
	struct saakm_rq		assigned;	/* whom the dispatcher has given this CPU */
	u64			late_ns;	/* from a slice's end until it is acted upon */
	bool			contended;	/* as long as the running thread has the CPU */
	/* Hints for the dispatcher, which looks without a lock: */
	u64			first_key;	/* of core->rq, while that is not empty */
	int			first_ran_on;	/* a CPU, of whoever is first */
	u64			since_ns;	/* that long has the running thread had the CPU */
	u64			given_ns;	/* when the dispatcher last gave it to somebody */
	u64			ours_ns;	/* then it idled, or ran whom it was given */
	bool			by_itself;	/* it has chosen whom it runs */
};

struct shinjuku_task {
	u64			place;
	u64			had_ns;		/* of its slice, before it lost the CPU */
	u64			slice_ns;	/* mode=distributed: of its next turn */
	int			ran_on;		/* its last CPU */
};

DECLARE_PER_CPU_SHARED_ALIGNED(struct shinjuku_core, shinjuku_cores);

static inline struct shinjuku_core *shinjuku_core(int cpu)
{
	return per_cpu_ptr(&shinjuku_cores, cpu);
}

static inline unsigned int shinjuku_class(const struct task_struct *task)
{
	return saakm_task_param(task);
}

/* Any key of a thread whose class is higher is less than this. */
static inline u64 shinjuku_key_above(int class)
{
	return (u64)(NR_CLASSES - 1 - class) << CLASS_SHIFT;
}

u64 shinjuku_key(const struct task_struct *task);
u64 shinjuku_slice_ns(int cpu);
bool shinjuku_slice_is_over(int cpu);
void shinjuku_note_late(struct shinjuku_core *own, s64 late_ns);

int shinjuku_start_dispatcher(struct saakm_policy *policy, int home);
void shinjuku_stop_dispatcher(void);
bool shinjuku_dispatched(void);
bool shinjuku_dispatches(int cpu);
int shinjuku_dispatcher_cpu(void);
void shinjuku_call_dispatcher(void);
bool shinjuku_assigns(void);
void shinjuku_dump_dispatcher(struct seq_buf *text);

#endif /* SHINJUKU_H */
