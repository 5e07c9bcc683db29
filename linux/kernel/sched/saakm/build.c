// SPDX-License-Identifier: GPL-2.0
/* All of SaaKM in one translation unit, as in ../build_policy.c. */
#include <linux/cgroup.h>
#include <linux/console.h>
#include <linux/ctype.h>
#include <linux/irq_work.h>
#include <linux/mmu_context.h>
#include <linux/percpu-rwsem.h>
#include <linux/sched/clock.h>
#include <linux/tick.h>
#include <asm/irq_regs.h>
#include "../../time/tick-sched.h"

#include "internal.h"
#include "safety.h"

/* The class */
#include "runqueue.c"
#include "state.c"
#include "task.c"
#include "class.c"
#include "balance.c"
#include "topology.c"
#include "policy.c"

/* Safety */
#include "eject.c"
#include "misuse.c"
#include "cgroup.c"
#include "replace.c"
#include "server.c"
#include "floor.c"
#include "watchdog.c"
#include "history.c"

#include "debug.c"
