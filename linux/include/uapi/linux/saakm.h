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

#endif /* _UAPI_LINUX_SAAKM_H */
