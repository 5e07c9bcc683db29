/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RCU. Stands for linux/rcupdate.h. Sections are counted, and a pointer that is read outside of one
 * is a WARN, as with CONFIG_PROVE_RCU. What call_rcu() and kfree_rcu() are given is kept until
 * every section that had begun is over (sim_quiet_mark()), and at least to the end of the event.
 */
#ifndef _LINUX_RCUPDATE_H
#define _LINUX_RCUPDATE_H

#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>

static __always_inline void rcu_read_lock(void)
{
	sim_context.rcu++;
	barrier();
}

static __always_inline void rcu_read_unlock(void)
{
	barrier();
	sim_context.rcu--;
}

#define rcu_read_lock_sched()		preempt_disable()
#define rcu_read_unlock_sched()		preempt_enable()
#define rcu_read_lock_held()		(sim_context.rcu != 0)
#define rcu_read_lock_sched_held()	(!preemptible())
#define rcu_read_lock_any_held()	(sim_context.rcu || !preemptible())

#define __sim_rcu_check(condition)						\
	((void)WARN_ONCE(!(condition), "suspicious RCU usage: outside of a section"))

#define rcu_dereference_raw(p)		READ_ONCE(p)
#define rcu_dereference_check(p, condition) \
	({ __sim_rcu_check(rcu_read_lock_held() || (condition)); READ_ONCE(p); })
#define rcu_dereference(p)		rcu_dereference_check(p, false)
#define rcu_dereference_sched(p)	\
	({ __sim_rcu_check(rcu_read_lock_sched_held()); READ_ONCE(p); })
#define rcu_dereference_protected(p, condition) \
	({ __sim_rcu_check(condition); (p); })
#define rcu_access_pointer(p)		READ_ONCE(p)
#define rcu_assign_pointer(p, value)	WRITE_ONCE(p, value)
#define RCU_INIT_POINTER(p, value)	WRITE_ONCE(p, value)
#define rcu_replace_pointer(p, value, condition) ({				\
	__typeof__(p) __before = rcu_dereference_protected(p, condition);	\
	rcu_assign_pointer(p, value);						\
	__before;								\
})

void call_rcu(struct rcu_head *head, rcu_callback_t function);
void synchronize_rcu(void);
void rcu_barrier(void);

/* As call_rcu() with a function that frees @object, of which @head is a part. */
void sim_kfree_rcu(struct rcu_head *head, void *object);
void kvfree_rcu_mightsleep(void *object);
#define kfree_rcu(object, member)	do {					\
	__auto_type __object = (object);					\
	if (__object)								\
		sim_kfree_rcu(&__object->member, __object);			\
} while (0)
#define kfree_rcu_mightsleep(object)	kvfree_rcu_mightsleep(object)

DEFINE_LOCK_GUARD_0(rcu, rcu_read_lock(), rcu_read_unlock())

#endif /* _LINUX_RCUPDATE_H */
