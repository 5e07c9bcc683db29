/* SPDX-License-Identifier: GPL-2.0 */
/* What the class calls of its safety, by file. */
#ifndef _KERNEL_SCHED_SAAKM_SAFETY_H
#define _KERNEL_SCHED_SAAKM_SAFETY_H

#include "internal.h"

/* misuse.c */
int saakm_validate(const struct saakm_policy *policy, struct saakm_policy **old);
bool saakm_may_touch(const struct saakm_policy *policy, const char *what, unsigned long ip);
void saakm_foreign_data(struct task_struct *p);
void saakm_misuse_init_rq(struct rq *rq);
void saakm_lost_queue(struct task_struct *p, struct saakm_rq *srq);
void saakm_not_placed(struct task_struct *p, enum saakm_handler handler);
void saakm_wrong_cpu(struct task_struct *p, enum saakm_handler handler, int cpu);
int saakm_refuse_change(struct task_struct *p, enum saakm_state next, int cpu,
			const struct saakm_rq *srq);
void saakm_wrong_election(struct rq *rq, struct saakm_policy *policy, struct task_struct *next);

/* @next would corrupt the runqueue unless it waits here. */
static inline bool saakm_electable(struct rq *rq, struct saakm_policy *policy,
				   struct task_struct *next)
{
	if (likely((next->saakm.state == SAAKM_READY || next->saakm.state == SAAKM_DELAYED) &&
		   next->saakm.policy == policy && task_cpu(next) == cpu_of(rq) &&
		   next->saakm.on_rq))
		return true;
	saakm_wrong_election(rq, policy, next);
	return false;
}

/* Shall @p, which its policy wants on @cpu, go there? */
static inline bool saakm_cpu_usable(struct task_struct *p, enum saakm_handler handler,
				    int cpu, int prev_cpu)
{
	if (likely((unsigned int)cpu < nr_cpu_ids && cpumask_test_cpu(cpu, p->cpus_ptr) &&
		   cpu_active(cpu)))
		return true;
	if (cpu != prev_cpu)
		saakm_wrong_cpu(p, handler, cpu);
	return false;
}

/* violation.c */
static inline enum saakm_exit_kind saakm_exit_kind(const struct saakm_policy *policy)
{
	/* Pairs with saakm_veject(): the rest of the exit is there. */
	return smp_load_acquire(&policy->exit.kind);
}

__printf(4, 5)
void saakm_violation(enum saakm_exit_kind kind, struct saakm_policy *policy,
		     const struct task_struct *p, const char *fmt, ...);
__printf(4, 5)
void __saakm_eject(struct saakm_policy *policy, enum saakm_exit_kind kind,
		   const struct task_struct *p, const char *fmt, ...);
void saakm_veject(struct saakm_policy *policy, enum saakm_exit_kind kind,
		  const struct task_struct *p, struct va_format *vaf);
struct saakm_policy *saakm_calling(void);

/* eject.c */
extern const struct saakm_module_routines saakm_fallback;
extern struct irq_work saakm_eject_kick;

struct task_struct *saakm_fallback_first(struct rq *rq, struct saakm_policy *policy);
void saakm_kick_holders(void);
void saakm_evict_all(struct saakm_policy *policy);
void saakm_eject_init_policy(struct saakm_policy *policy);
void saakm_settle_eject(struct saakm_policy *policy);
void saakm_free_kept(struct saakm_policy *policy);

/* policy.c */
struct saakm_policy *saakm_being_loaded(void);
struct saakm_policy *saakm_policy_called(const char *name);

/* topology.c */
void saakm_topology_get(void);
void saakm_topology_put(void);
void saakm_topology_keep(void);

/* cgroup.c */
void saakm_cgroups_unused(void);

/* replace.c */
int saakm_agree_to_replace(struct saakm_policy *new, struct saakm_policy *old);
void saakm_replace(struct saakm_policy *old, struct saakm_policy *new);
void saakm_forget_successor(const struct saakm_policy *policy);

/* floor.c */
void __saakm_floor_tick(struct rq *rq, struct task_struct *p);
struct task_struct *saakm_floor_elect(struct rq *rq, struct task_struct *curr);
void saakm_floor_link(struct rq *rq, struct task_struct *p);
void saakm_floor_unlink(struct rq *rq, struct task_struct *p);
void saakm_floor_requeue(struct rq *rq, struct task_struct *p);
void saakm_floor_goes_on(struct rq *rq, struct task_struct *curr);
void saakm_floor_runs(struct rq *rq, struct task_struct *p);
struct task_struct *saakm_floor_force(struct rq *rq);
bool saakm_floor_keeps(struct rq *rq, struct task_struct *curr);
void saakm_floor_rescue(struct rq *rq);

static inline void saakm_floor_tick(struct rq *rq, struct task_struct *p)
{
	if (unlikely(rq->saakm.active & (rq->saakm.active - 1) || rq->saakm.owed ||
		     p->saakm.event.flags & SAAKM_EV_FORCED))
		__saakm_floor_tick(rq, p);
}

/* server.c */
extern unsigned int saakm_server_runtime_us, saakm_server_period_us;

struct task_struct *saakm_server_pick(struct sched_dl_entity *dl_se);
int saakm_server_apply(struct rq *rq, unsigned int runtime_us, unsigned int period_us);
int saakm_server_apply_all(unsigned int runtime_us, unsigned int period_us);
void saakm_server_idle_time(struct rq *rq, s64 delta_ns);

static __always_inline void saakm_server_start(struct rq *rq)
{
	if (unlikely(!dl_server_active(&rq->saakm.server)) && rq->saakm.server.dl_runtime)
		dl_server_start(&rq->saakm.server);
}

/* What dl_server_update() does while runtime remains, without the calls. */
static __always_inline void saakm_server_charge(struct rq *rq, s64 delta_ns)
{
	struct sched_dl_entity *dl_se = &rq->saakm.server;

	if (likely(dl_server_active(dl_se) && dl_se->dl_defer && !dl_se->dl_yielded &&
		   dl_se->runtime > delta_ns))
		dl_se->runtime -= delta_ns;
	else if (dl_server_active(dl_se))
		dl_server_update(dl_se, delta_ns);
}

/* watchdog.c */
extern unsigned long saakm_next_sample;		/* jiffies; 0: no policy to watch */

void __saakm_sample(unsigned long next);
void saakm_watchdog_init_rq(struct rq *rq);
void saakm_watchdog_set(void);

static inline void saakm_sample(void)
{
	unsigned long next = READ_ONCE(saakm_next_sample);

	if (unlikely(next && time_after_eq(jiffies, next)))
		__saakm_sample(next);
}

/* history.c */
void saakm_history_auto(bool suspicious);
void saakm_history_add(const struct task_struct *p, enum saakm_state next);
void saakm_history_print(const struct task_struct *p);

/* dump.c */
char *saakm_dump_state(void);
char *saakm_dump_json(struct saakm_policy *policy, const char *state);

#endif /* _KERNEL_SCHED_SAAKM_SAFETY_H */
