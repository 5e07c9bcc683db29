/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
#ifndef _UAPI_LINUX_SAAKM_H
#define _UAPI_LINUX_SAAKM_H

/* Longest policy name, terminating NUL included. */
#define SAAKM_NAME_LEN	32

/*
 * State of a thread as /proc/<pid>/saakm and the tracepoints show it. The
 * arrows between the states are in Documentation/scheduler/saakm.rst.
 */
enum saakm_state {
	SAAKM_NOT_QUEUED,	/* joined a policy, not yet placed */
	SAAKM_READY,		/* waits in a runqueue */
	SAAKM_RUNNING,		/* has the CPU, in no runqueue */
	SAAKM_READY_TICK,	/* has the CPU, the policy wants it off */
	SAAKM_BLOCKED,		/* sleeps, or runs in a higher class */
	SAAKM_MIGRATING,	/* between two CPUs */
	SAAKM_TERMINATED,	/* died, or left the policy */
	SAAKM_NR_STATES
};

/* What a policy did wrong. Each kind is reported once for each thread state. */
enum saakm_wrong {
	SAAKM_WRONG_CHANGE,	/* a refused change_state() */
	SAAKM_WRONG_PLACEMENT,	/* a handler did not place its thread */
	SAAKM_WRONG_ELECTION,	/* schedule returned what cannot run here */
	SAAKM_WRONG_CPU,	/* *_prepare named no CPU */
	SAAKM_WRONG_MOVE,	/* a refused saakm_move_task() or saakm_steal() */
	SAAKM_WRONG_TRANSITION,	/* not in the table of states */
	SAAKM_WRONG_LOCK,	/* a transition without the runqueue lock */
	SAAKM_WRONG_QUEUE,	/* a thread in another CPU's queue */
	SAAKM_NR_WRONGS
};

#endif /* _UAPI_LINUX_SAAKM_H */
