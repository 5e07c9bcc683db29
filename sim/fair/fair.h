/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The replayer of what the core of a kernel asked of fair: the same calls, with the same clock, are
 * made of the class SaaKM and a policy that decides as fair does, and their decisions are compared:
 * who is picked, who has to make way, who stays queued when he sleeps.
 *
 * The recording is what src/saakm/guest/replay/recorder.c writes, of the calls and fields of
 * src/saakm/lab/replay/plan.py, make_fair_plan(). It begins with the boot, so each thread is known
 * from its birth. What is not fair's, as clocks, states and CPUs of threads, is set here as it was
 * there; what is fair's own is only shown, where the two differ.
 */
#ifndef _SIM_FAIR_H
#define _SIM_FAIR_H

#include "../replay/replay.h"

/* A runqueue, a thread, or what is there once: as it is in the kernel, and here. */
struct fair_object {
	struct fair_object *next;
	enum replay_kind kind;
	u64	address;
	void	*here;			/* NULL: not known yet */
	bool	resched;		/* threads: asked to give way there, as of the last call */
	/* Of threads: what the policy has been told by sched_setattr(). */
	u64	told_policy, told_slice;
	u64	values[REPLAY_MOST_FIELDS];
};

/* The value of a field of @o in the kernel; @name is a literal. */
#define fair_there(o, name)							\
(*({										\
	static int __field = -1;						\
										\
	if (__field < 0)							\
		__field = replay_find_field((o)->kind, name);			\
	&(o)->values[__field];							\
}))

/* A call that has begun, and is made here where it ends. */
struct fair_call {
	struct replay_begin begin;
	struct replay_function *function;
	struct rq *rq;			/* that it is about */
	struct fair_object *task;	/* likewise, or NULL */
	struct task_struct *p;		/* the same here */
};

/* ---- objects.c ---- */
void fair_new_object(const struct replay_object_line *line);
/* True: it is the value of a variable of the kernel's that has changed. */
bool fair_set_field(const struct replay_field_line *line);
struct fair_object *fair_object_at(enum replay_kind kind, u64 address);
struct fair_object *fair_rq_object(int cpu);
struct rq *fair_rq(u64 address);
struct task_struct *fair_task(u64 address);
/* A variable of the kernel's; 0 if the recording has none of that name. */
u64 fair_variable(const char *name);
/* Each thread of which anything is known. */
void fair_for_each_thread(void (*fn)(struct fair_object *o, void *data), void *data);

/* ---- threads.c ---- */
extern struct saakm_policy *fair_policy_here;
/* What the kernel had when this call began is set here. */
void fair_set(struct fair_call *call);
/* Has the thread been asked to give way, there? */
bool fair_resched(const struct fair_object *o);
/* What the call has made of that: what is otherwise when the next one begins was not fair's doing. */
void fair_note_resched(struct fair_call *call);
/* current has a child. */
void fair_fork(struct fair_call *call);
/* It has left the CPU for ever. */
void fair_dead(struct fair_call *call);
/* The thread leaves fair, or comes to it, or has other parameters. */
void fair_follow(struct fair_call *call);

/* ---- calls.c ---- */
/* Makes it of the class. Returns what the class does. */
u64 fair_make(struct fair_call *call);
/* @fn runs on the CPU of the call, as in process context. */
void fair_on_cpu(struct fair_call *call, void (*fn)(struct fair_call *call));

/* ---- show.c ---- */
/* Both states, on standard error. */
void fair_show(struct fair_call *call, const char *what);

/* ---- features.c ---- */
/* "feature NAME PARAMETER VALUE", a line of the program: the next that changes. */
void fair_read_feature(const char *line);
/* A variable of the kernel's has changed. */
void fair_variable_changed(void);

#endif /* _SIM_FAIR_H */
