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

/*
 * Why a policy has lost its threads, and what a report is about. The numbers
 * stay as they are. What each means for an author is in
 * Documentation/scheduler/saakm.rst.
 */
enum saakm_exit_kind {
	SAAKM_EXIT_NONE,

	/* Somebody wished it. */
	SAAKM_EXIT_UNLOAD		= 1,
	SAAKM_EXIT_REPLACED		= 2,
	SAAKM_EXIT_SYSRQ		= 3,
	SAAKM_EXIT_USER			= 4,	/* /sys/kernel/saakm/eject */

	/* The policy is at fault. */
	SAAKM_EXIT_POLICY_ERROR		= 16,	/* it called saakm_eject() */
	SAAKM_EXIT_STALL		= 17,	/* a thread READY for too long */
	SAAKM_EXIT_OVERRUN		= 18,	/* a handler runs for too long */
	SAAKM_EXIT_SLEEP		= 19,	/* a handler slept */
	SAAKM_EXIT_WRONG_TRANSITION	= 20,	/* a refused change_state() */
	SAAKM_EXIT_NOT_PLACED		= 21,	/* a handler did not place its thread */
	SAAKM_EXIT_REFUSED_PLACEMENT	= 22,	/* *_prepare: a CPU that cannot be */
	SAAKM_EXIT_WRONG_ELECTION	= 23,	/* schedule: what cannot run here */
	SAAKM_EXIT_WRONG_MOVE		= 24,	/* a refused move or steal */
	SAAKM_EXIT_LOST_QUEUE		= 25,	/* a queue forgot its threads */
	SAAKM_EXIT_BAD_STATE		= 26,	/* check_transitions: not in the table */
	SAAKM_EXIT_NO_LOCK		= 27,	/* check_transitions: no runqueue lock */
	SAAKM_EXIT_FOREIGN_QUEUE	= 28,	/* check_transitions: other CPU's queue */
	SAAKM_NR_EXITS
};

#endif /* _UAPI_LINUX_SAAKM_H */
