// SPDX-License-Identifier: GPL-2.0
/* What users read for the constants of the class. */

const char * const saakm_handler_names[SAAKM_NR_HANDLERS] = {
	[SAAKM_H_none]		= "none",
	[SAAKM_H_new_prepare]	= "new_prepare",
	[SAAKM_H_new_place]	= "new_place",
	[SAAKM_H_new_end]	= "new_end",
	[SAAKM_H_unblock_prepare]	= "unblock_prepare",
	[SAAKM_H_unblock_place]	= "unblock_place",
	[SAAKM_H_unblock_end]	= "unblock_end",
	[SAAKM_H_requeue]	= "requeue",
	[SAAKM_H_block]	= "block",
	[SAAKM_H_block_delay]	= "block_delay",
	[SAAKM_H_unblock_delayed]	= "unblock_delayed",
	[SAAKM_H_yield]	= "yield",
	[SAAKM_H_tick]		= "tick",
	[SAAKM_H_used]		= "used",
	[SAAKM_H_running]	= "running",
	[SAAKM_H_attr_changed]	= "attr_changed",
	[SAAKM_H_exec]		= "exec",
	[SAAKM_H_terminate]	= "terminate",
	[SAAKM_H_moved]		= "moved",
	[SAAKM_H_key]		= "key",
	[SAAKM_H_getparam_attr]	= "getparam_attr",
	[SAAKM_H_wakeup_preempt]	= "wakeup_preempt",
	[SAAKM_H_schedule]	= "schedule",
	[SAAKM_H_refill]	= "refill",
	[SAAKM_H_newly_idle]	= "newly_idle",
	[SAAKM_H_enter_idle]	= "enter_idle",
	[SAAKM_H_exit_idle]	= "exit_idle",
	[SAAKM_H_balancing_select]	= "balancing_select",
	[SAAKM_H_core_entry]	= "core_entry",
	[SAAKM_H_core_exit]	= "core_exit",
	[SAAKM_H_setparam_attr]	= "setparam_attr",
	[SAAKM_H_take_over]	= "take_over",
};

const char * const saakm_state_names[SAAKM_NR_STATES] = {
	[SAAKM_NOT_QUEUED]	= "NOT_QUEUED",
	[SAAKM_READY]		= "READY",
	[SAAKM_RUNNING]		= "RUNNING",
	[SAAKM_READY_TICK]	= "READY_TICK",
	[SAAKM_BLOCKED]		= "BLOCKED",
	[SAAKM_MIGRATING]	= "MIGRATING",
	[SAAKM_TERMINATED]	= "TERMINATED",
	[SAAKM_DELAYED]		= "DELAYED",
};

static const char * const saakm_topology_names[] = {
	[TOPOLOGY_SMT]		= "smt",
	[TOPOLOGY_CLUSTER]	= "cluster",
	[TOPOLOGY_CACHE]	= "cache",
	[TOPOLOGY_PACKAGE]	= "package",
	[TOPOLOGY_NUMA]		= "numa",
};

const char * const saakm_exit_names[SAAKM_NR_EXITS] = {
	[SAAKM_EXIT_NONE]		= "none",
	[SAAKM_EXIT_UNLOAD]		= "unload",
	[SAAKM_EXIT_REPLACED]		= "replaced",
	[SAAKM_EXIT_SYSRQ]		= "sysrq",
	[SAAKM_EXIT_USER]		= "user",
	[SAAKM_EXIT_POLICY_ERROR]	= "policy-error",
	[SAAKM_EXIT_STALL]		= "stall",
	[SAAKM_EXIT_OVERRUN]		= "overrun",
	[SAAKM_EXIT_SLEEP]		= "sleep",
	[SAAKM_EXIT_WRONG_TRANSITION]	= "wrong-transition",
	[SAAKM_EXIT_NOT_PLACED]		= "not-placed",
	[SAAKM_EXIT_REFUSED_PLACEMENT]	= "refused-placement",
	[SAAKM_EXIT_WRONG_ELECTION]	= "wrong-election",
	[SAAKM_EXIT_WRONG_MOVE]		= "wrong-move",
	[SAAKM_EXIT_LOST_QUEUE]		= "lost-queue",
	[SAAKM_EXIT_BAD_STATE]		= "bad-state",
	[SAAKM_EXIT_NO_LOCK]		= "no-lock",
	[SAAKM_EXIT_FOREIGN_QUEUE]	= "foreign-queue",
};

static const char * const saakm_reaction_names[] = {
	[SAAKM_REACT_DEFAULT]	= "default",
	[SAAKM_REACT_WARN]	= "warn",
	[SAAKM_REACT_EJECT]	= "eject",
	[SAAKM_REACT_PANIC]	= "panic",
};
