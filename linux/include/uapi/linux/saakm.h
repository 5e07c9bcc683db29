/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
#ifndef _UAPI_LINUX_SAAKM_H
#define _UAPI_LINUX_SAAKM_H

/**
 * SAAKM_NAME_LEN - bytes of the longest policy name, terminating NUL included
 */
#define SAAKM_NAME_LEN	32

/**
 * enum saakm_state - state of a thread
 * @SAAKM_NOT_QUEUED: joined a policy, not yet placed
 * @SAAKM_READY: waits in a runqueue
 * @SAAKM_RUNNING: has the CPU, in no runqueue
 * @SAAKM_READY_TICK: has the CPU, the policy wants it off
 * @SAAKM_BLOCKED: sleeps, or runs in a higher class
 * @SAAKM_MIGRATING: between two CPUs
 * @SAAKM_TERMINATED: died, or left the policy
 * @SAAKM_DELAYED: sleeps, but stays in a runqueue until it is elected
 *
 * As /proc/<pid>/saakm and the tracepoints show it. The arrows between the states
 * are in Documentation/scheduler/saakm.rst.
 */
enum saakm_state {
	SAAKM_NOT_QUEUED,
	SAAKM_READY,
	SAAKM_RUNNING,
	SAAKM_READY_TICK,
	SAAKM_BLOCKED,
	SAAKM_MIGRATING,
	SAAKM_TERMINATED,
	SAAKM_DELAYED,
	/* private: */
	SAAKM_NR_STATES
};

/**
 * enum saakm_exit_kind - why a policy has lost its threads, and what a report is about
 * @SAAKM_EXIT_NONE: it has not
 * @SAAKM_EXIT_UNLOAD: not used
 * @SAAKM_EXIT_REPLACED: another policy has taken its threads over
 * @SAAKM_EXIT_SYSRQ: somebody pressed SysRq-E
 * @SAAKM_EXIT_USER: somebody wrote its name to /sys/kernel/saakm/eject
 * @SAAKM_EXIT_POLICY_ERROR: it called saakm_eject(), or did what no other kind names
 * @SAAKM_EXIT_STALL: a thread was READY for too long
 * @SAAKM_EXIT_OVERRUN: a handler runs for too long
 * @SAAKM_EXIT_SLEEP: a handler slept
 * @SAAKM_EXIT_WRONG_TRANSITION: a refused change_state()
 * @SAAKM_EXIT_NOT_PLACED: a handler did not place its thread
 * @SAAKM_EXIT_REFUSED_PLACEMENT: ``*_prepare`` named a CPU that cannot be
 * @SAAKM_EXIT_WRONG_ELECTION: schedule returned what cannot run here
 * @SAAKM_EXIT_WRONG_MOVE: a refused move or steal
 * @SAAKM_EXIT_LOST_QUEUE: a queue forgot its threads
 * @SAAKM_EXIT_BAD_STATE: check_transitions: a transition that is not in the table
 * @SAAKM_EXIT_NO_LOCK: check_transitions: a transition without the runqueue lock
 * @SAAKM_EXIT_FOREIGN_QUEUE: check_transitions: a queue of another CPU
 *
 * The numbers stay as they are: below 16 somebody wished it, from 16 on the
 * policy is at fault. docs/reference/safety.md of the SaaKM project says what each
 * means for an author.
 */
enum saakm_exit_kind {
	SAAKM_EXIT_NONE,

	SAAKM_EXIT_UNLOAD		= 1,
	SAAKM_EXIT_REPLACED		= 2,
	SAAKM_EXIT_SYSRQ		= 3,
	SAAKM_EXIT_USER			= 4,

	SAAKM_EXIT_POLICY_ERROR		= 16,
	SAAKM_EXIT_STALL		= 17,
	SAAKM_EXIT_OVERRUN		= 18,
	SAAKM_EXIT_SLEEP		= 19,
	SAAKM_EXIT_WRONG_TRANSITION	= 20,
	SAAKM_EXIT_NOT_PLACED		= 21,
	SAAKM_EXIT_REFUSED_PLACEMENT	= 22,
	SAAKM_EXIT_WRONG_ELECTION	= 23,
	SAAKM_EXIT_WRONG_MOVE		= 24,
	SAAKM_EXIT_LOST_QUEUE		= 25,
	SAAKM_EXIT_BAD_STATE		= 26,
	SAAKM_EXIT_NO_LOCK		= 27,
	SAAKM_EXIT_FOREIGN_QUEUE	= 28,
	/* private: */
	SAAKM_NR_EXITS
};

#endif /* _UAPI_LINUX_SAAKM_H */
