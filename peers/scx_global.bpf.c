// SPDX-License-Identifier: GPL-2.0
/*
 * What sched_ext does for a scheduler that says nothing but its name, as
 * docs/examples/global: one queue for all CPUs, a slice of 20 ms.
 */
#include "scx.bpf.h"

SCX_OPS_DEFINE(
	.name		= "scx_global");
