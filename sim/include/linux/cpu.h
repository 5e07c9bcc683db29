/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CPUs that come and go. Stands for linux/cpu.h, cpuhotplug.h, cpuhplock.h. Of the kernel's states
 * there are those that our modules name.
 */
#ifndef _LINUX_CPU_H
#define _LINUX_CPU_H

#include <linux/cpumask.h>
#include <linux/cleanup.h>

void cpus_read_lock(void);
int cpus_read_trylock(void);
void cpus_read_unlock(void);
void cpus_write_lock(void);
void cpus_write_unlock(void);
void lockdep_assert_cpus_held(void);

DEFINE_LOCK_GUARD_0(cpus_read_lock, cpus_read_lock(), cpus_read_unlock())

/* On the CPU itself, interrupts off, while it is offline; and in a thread of it, online. */
enum cpuhp_state {
	CPUHP_OFFLINE,
	CPUHP_AP_IRQ_GIC_STARTING,
	CPUHP_AP_ONLINE_DYN,
	CPUHP_ONLINE,
};

int cpuhp_setup_state_nocalls(enum cpuhp_state state, const char *name,
			      int (*startup)(unsigned int cpu), int (*teardown)(unsigned int cpu));
void cpuhp_remove_state_nocalls(enum cpuhp_state state);

#endif /* _LINUX_CPU_H */
