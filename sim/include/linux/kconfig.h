/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the simulated kernel is configured as, and IS_ENABLED(). Stands for include/linux/kconfig.h
 * and the generated autoconf.h. Only options that the class, policies or our model ask for.
 */
#ifndef _LINUX_KCONFIG_H
#define _LINUX_KCONFIG_H

#define CONFIG_64BIT 1
#define CONFIG_SMP 1
#define CONFIG_SCHED_CLASS_SAAKM 1
#define CONFIG_PREEMPTION 1
#define CONFIG_PREEMPT_RCU 1
#define CONFIG_SCHED_SMT 1
#define CONFIG_SCHED_CLUSTER 1
#define CONFIG_SCHED_MC 1
#define CONFIG_NUMA 1
#define CONFIG_NO_HZ_COMMON 1
#define CONFIG_NO_HZ_IDLE 1
#define CONFIG_TICK_ONESHOT 1
#define CONFIG_HIGH_RES_TIMERS 1
#define CONFIG_HOTPLUG_CPU 1
#define CONFIG_CGROUPS 1
#define CONFIG_CGROUP_SCHED 1
#define CONFIG_FAIR_GROUP_SCHED 1

#ifndef CONFIG_HZ
#define CONFIG_HZ 250
#endif
#ifndef NR_CPUS
#define NR_CPUS 64
#endif
#define CONFIG_NR_CPUS NR_CPUS

/* 1 for an option that is defined as 1, else 0: the third argument is 1 only behind a comma. */
#define __SIM_COMMA_1			0,
#define __SIM_SECOND(first, second, ...) second
#define __SIM_IS_1(junk)		__SIM_SECOND(junk 1, 0)
#define __SIM_DEFINED(value)		__SIM_IS_1(__SIM_COMMA_##value)
#define __SIM_EXPAND(option)		__SIM_DEFINED(option)
#define IS_ENABLED(option)		__SIM_EXPAND(option)
#define IS_BUILTIN(option)		IS_ENABLED(option)

#endif /* _LINUX_KCONFIG_H */
