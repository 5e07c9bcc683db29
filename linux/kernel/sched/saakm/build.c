// SPDX-License-Identifier: GPL-2.0
/* All of SaaKM in one translation unit, as in ../build_policy.c. */
#include <linux/cgroup.h>
#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/mmu_context.h>
#include <linux/percpu-rwsem.h>
#include <linux/rbtree_augmented.h>
#include <linux/sched/clock.h>
#include <linux/tick.h>
#include "../../time/tick-sched.h"

#include "internal.h"
#include "safety.h"

/* For all of them */
#include "names.c"
#include "error.c"

/* The class */
#include "runqueue.c"
#include "state.c"
#include "process.c"
#include "charge.c"
#include "futex.c"
#include "task.c"
#include "elect.c"
#include "delay.c"
#include "class.c"
#include "slice.c"
#include "idle.c"
#include "balance.c"
#include "shared.c"
#include "defaults.c"
#include "topology.c"
#include "policy.c"

/* Safety */
#include "history.c"
#include "violation.c"
#include "misuse.c"
#include "dump.c"
#include "eject.c"
#include "cgroup.c"
#include "services.c"
#include "replace.c"
#include "server.c"
#include "floor.c"
#include "watchdog.c"

/* What is seen of it */
#include "observe.c"
#include "procfs.c"
#include "sysfs.c"
#include "debugfs.c"
#include "oops.c"
