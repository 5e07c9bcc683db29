/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Per-CPU data. Stands for linux/percpu*.h, smp.h and asm/percpu.h. As in the kernel a per-CPU
 * variable is an address to which the offset of a CPU is added, whether it is static (section
 * "sim_percpu", of which each CPU gets a copy at start) or from alloc_percpu(): that is the least
 * that per_cpu_ptr() can cost, and it need not know which of the two it has. The room of each CPU
 * is one region, in which the host poisons what lies between the allocations for ASan.
 */
#ifndef _LINUX_PERCPU_H
#define _LINUX_PERCPU_H

#include <linux/cpumask.h>
#include <linux/preempt.h>

#define PER_CPU_ATTRIBUTES		__section("sim_percpu")
#define DEFINE_PER_CPU(type, name)	PER_CPU_ATTRIBUTES __typeof__(type) name
#define DECLARE_PER_CPU(type, name)	extern PER_CPU_ATTRIBUTES __typeof__(type) name
#define DEFINE_PER_CPU_ALIGNED(type, name) DEFINE_PER_CPU(type, name) __aligned(64)
#define DECLARE_PER_CPU_ALIGNED(type, name) DECLARE_PER_CPU(type, name) __aligned(64)
#define DEFINE_PER_CPU_SHARED_ALIGNED	DEFINE_PER_CPU_ALIGNED
#define DECLARE_PER_CPU_SHARED_ALIGNED	DECLARE_PER_CPU_ALIGNED

#define per_cpu_offset(cpu)	(sim_percpu_offset[cpumask_check(cpu)])
#define per_cpu_ptr(pointer, cpu) RELOC_HIDE(pointer, per_cpu_offset(cpu))
#define per_cpu(variable, cpu)	(*per_cpu_ptr(&(variable), cpu))

/* "You may be elsewhere in a moment": as with CONFIG_DEBUG_PREEMPT. */
__cold void sim_preemptible(const char *file, int line);

#define __sim_check_preemption() do {						\
	if (unlikely(preemptible()))						\
		sim_preemptible(__FILE__, __LINE__);				\
} while (0)

#define raw_smp_processor_id()	(sim_context.cpu)
#define smp_processor_id()	({ __sim_check_preemption(); sim_context.cpu; })
#define get_cpu()		({ preempt_disable(); sim_context.cpu; })
#define put_cpu()		preempt_enable()

#define raw_cpu_ptr(pointer)	RELOC_HIDE(pointer, sim_context.offset)
#define this_cpu_ptr(pointer)	({ __sim_check_preemption(); raw_cpu_ptr(pointer); })
#define get_cpu_var(variable)	(*({ preempt_disable(); raw_cpu_ptr(&(variable)); }))
#define put_cpu_var(variable)	preempt_enable()

#define raw_cpu_read(variable)		(*raw_cpu_ptr(&(variable)))
#define raw_cpu_write(variable, value)	((void)(*raw_cpu_ptr(&(variable)) = (value)))
#define raw_cpu_add(variable, value)	((void)(*raw_cpu_ptr(&(variable)) += (value)))

/* These are safe with preemption on; with "__" in front they are not. */
#define this_cpu_read(variable)		raw_cpu_read(variable)
#define this_cpu_write(variable, value)	raw_cpu_write(variable, value)
#define this_cpu_add(variable, value)	raw_cpu_add(variable, value)
#define this_cpu_sub(variable, value)	raw_cpu_add(variable, -(__typeof__(variable))(value))
#define this_cpu_inc(variable)		raw_cpu_add(variable, 1)
#define this_cpu_dec(variable)		this_cpu_sub(variable, 1)
#define this_cpu_add_return(variable, value) (*raw_cpu_ptr(&(variable)) += (value))
#define this_cpu_inc_return(variable)	this_cpu_add_return(variable, 1)
#define this_cpu_dec_return(variable)	this_cpu_add_return(variable, -1)

#define __sim_if_sanitized()	do { if (SIM_SANITIZED) __sim_check_preemption(); } while (0)
#define __this_cpu_read(variable)	({ __sim_if_sanitized(); raw_cpu_read(variable); })
#define __this_cpu_write(variable, value) \
	({ __sim_if_sanitized(); raw_cpu_write(variable, value); })
#define __this_cpu_add(variable, value)	({ __sim_if_sanitized(); raw_cpu_add(variable, value); })
#define __this_cpu_inc(variable)	__this_cpu_add(variable, 1)
#define __this_cpu_dec(variable)	__this_cpu_add(variable, -1)

/* The kernel's limit; zeroed, NULL if there is no memory. May sleep. */
#define PCPU_MIN_UNIT_SIZE		(32UL << 10)
void *__alloc_percpu(size_t size, size_t align);
void free_percpu(void *pointer);
#define alloc_percpu(type) \
	((__typeof__(type) __percpu *)__alloc_percpu(sizeof(type), __alignof__(type)))

/* Calls on other CPUs; waiting for them is modelled as in sim/core/. */
typedef void (*smp_call_func_t)(void *info);
int smp_call_function_single(int cpu, smp_call_func_t function, void *info, int wait);
void on_each_cpu(smp_call_func_t function, void *info, int wait);

#endif /* _LINUX_PERCPU_H */
