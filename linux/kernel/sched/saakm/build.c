// SPDX-License-Identifier: GPL-2.0
/* All of SaaKM in one translation unit, as in ../build_policy.c. */
#include <linux/irq_work.h>
#include <linux/mmu_context.h>
#include <linux/percpu-rwsem.h>
#include <linux/tick.h>

#include "internal.h"

#include "runqueue.c"
#include "state.c"
#include "server.c"
#include "task.c"
#include "class.c"
#include "balance.c"
#include "topology.c"
#include "policy.c"
#include "debug.c"
