/* SPDX-License-Identifier: GPL-2.0 */
/* Kernel threads: of the fair class, on strands of their own. Stands for linux/kthread.h. */
#ifndef _LINUX_KTHREAD_H
#define _LINUX_KTHREAD_H

#include <linux/err.h>
#include <linux/sched.h>

/* They sleep until they are woken. */
__printf(4, 5)
struct task_struct *kthread_create_on_node(int (*threadfn)(void *data), void *data, int node,
					   const char namefmt[], ...);
/* @namefmt may have one %u, for the number of the CPU */
struct task_struct *kthread_create_on_cpu(int (*threadfn)(void *data), void *data,
					  unsigned int cpu, const char *namefmt);
void kthread_bind(struct task_struct *p, unsigned int cpu);
void kthread_bind_mask(struct task_struct *p, const struct cpumask *mask);
int kthread_stop(struct task_struct *p);
bool kthread_should_stop(void);
bool kthread_should_park(void);
void kthread_parkme(void);
int kthread_park(struct task_struct *p);
void kthread_unpark(struct task_struct *p);
void *kthread_data(struct task_struct *p);

#define NUMA_NO_NODE	(-1)
#define kthread_create(threadfn, data, namefmt, arg...) \
	kthread_create_on_node(threadfn, data, NUMA_NO_NODE, namefmt, ##arg)
#define __sim_run(create) ({						\
	struct task_struct *__new = (create);			\
									\
	if (!IS_ERR(__new))						\
		wake_up_process(__new);				\
	__new;							\
})
#define kthread_run(threadfn, data, namefmt, arg...) \
	__sim_run(kthread_create(threadfn, data, namefmt, ##arg))
#define kthread_run_on_cpu(threadfn, data, cpu, namefmt) \
	__sim_run(kthread_create_on_cpu(threadfn, data, cpu, namefmt))

#endif /* _LINUX_KTHREAD_H */
