/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the scheduler core calls in SaaKM beside the sched_class callbacks.
 * Everything is guarded by saakm_enabled() or by p->saakm.policy, which is NULL
 * for all threads while no policy is loaded.
 */
#ifndef _KERNEL_SCHED_SAAKM_HOOKS_H
#define _KERNEL_SCHED_SAAKM_HOOKS_H

struct seq_file;

/* State of one __sched_setscheduler() call. */
struct saakm_setsched {
	struct saakm_policy	*target;	/* to be in afterwards, or NULL */
	struct saakm_data	*data;		/* for joining @target */
	struct saakm_data	*old;		/* to free */
	int			srcu;
	bool			locked;
	bool			keep;		/* SETPARAM_POLICY */
};

#ifdef CONFIG_SCHED_CLASS_SAAKM

DECLARE_STATIC_KEY_FALSE(__saakm_enabled);
#define saakm_enabled()		static_branch_unlikely(&__saakm_enabled)

extern const struct sched_class saakm_sched_class;

static inline bool saakm_sched_policy(int policy)
{
	return policy == SCHED_SAAKM;
}

static inline bool task_on_saakm(const struct task_struct *p)
{
	return p->sched_class == &saakm_sched_class;
}

void saakm_init_rq(struct rq *rq);

/* Election */
bool __saakm_newly_idle(struct rq *rq, struct rq_flags *rf);
struct task_struct *saakm_pick_alone(struct rq *rq);
bool saakm_prio_less(const struct task_struct *a, const struct task_struct *b);
bool saakm_can_stop_tick(struct rq *rq);

/*
 * Only our threads are runnable here and the previous one is not above us: no
 * need to ask the other classes.
 */
static inline bool saakm_alone(struct rq *rq)
{
	return saakm_enabled() && rq->saakm.nr_running &&
	       rq->nr_running == rq->saakm.nr_running &&
	       !sched_class_above(rq->donor->sched_class, &saakm_sched_class);
}

static inline bool saakm_newly_idle(struct rq *rq, struct rq_flags *rf)
{
	return saakm_enabled() && __saakm_newly_idle(rq, rf);
}

/* Balancing */
void __saakm_trigger_balance(struct rq *rq);
void __saakm_nohz_kick(struct rq *rq);

static inline void saakm_trigger_balance(struct rq *rq)
{
	if (saakm_enabled())
		__saakm_trigger_balance(rq);
}

static inline void saakm_nohz_kick(struct rq *rq)
{
	if (saakm_enabled())
		__saakm_nohz_kick(rq);
}

/* Idle */
void __saakm_enter_idle(struct rq *rq);
void __saakm_exit_idle(struct rq *rq, struct task_struct *idle);

static inline void saakm_enter_idle(struct rq *rq)
{
	if (saakm_enabled())
		__saakm_enter_idle(rq);
}

static inline void saakm_exit_idle(struct rq *rq, struct task_struct *idle)
{
	if (saakm_enabled())
		__saakm_exit_idle(rq, idle);
}

/* Hotplug, deadline server, topology */
void saakm_rq_activate(struct rq *rq);
void saakm_rq_deactivate(struct rq *rq);
void saakm_server_attach(struct rq *rq);
void saakm_server_detach(struct rq *rq);
u64 saakm_server_bw(const struct cpumask *cpus);
void saakm_update_topology(void);

/* Fork and exit */
int saakm_fork(struct task_struct *p);
void saakm_cancel_fork(struct task_struct *p);
void saakm_post_fork(struct task_struct *p);
void __saakm_task_dead(struct task_struct *p);

static inline void saakm_task_dead(struct task_struct *p)
{
	if (p->saakm.policy)
		__saakm_task_dead(p);
}

/* sched_setattr(), sched_getattr() */
int saakm_setsched_prepare(struct saakm_setsched *s, struct task_struct *p,
			   const struct sched_attr *attr, int policy,
			   bool user);
int saakm_setsched_check(struct saakm_setsched *s, struct task_struct *p);
void __saakm_setsched_apply(struct saakm_setsched *s, struct rq *rq,
			    struct task_struct *p,
			    const struct sched_attr *attr);
void saakm_setsched_done(struct saakm_setsched *s);
void saakm_getattr(struct task_struct *p, struct sched_attr *attr);

static inline void saakm_setsched_apply(struct saakm_setsched *s,
					struct rq *rq, struct task_struct *p,
					const struct sched_attr *attr)
{
	if (s->target || p->saakm.policy)
		__saakm_setsched_apply(s, rq, p, attr);
}

#else /* !CONFIG_SCHED_CLASS_SAAKM */

#define saakm_enabled()		false

static inline bool saakm_sched_policy(int policy) { return false; }
static inline bool task_on_saakm(const struct task_struct *p) { return false; }
static inline void saakm_init_rq(struct rq *rq) {}
static inline bool saakm_alone(struct rq *rq) { return false; }
static inline bool saakm_newly_idle(struct rq *rq, struct rq_flags *rf) { return false; }
static inline struct task_struct *saakm_pick_alone(struct rq *rq) { return NULL; }
static inline bool saakm_can_stop_tick(struct rq *rq) { return true; }
static inline void saakm_trigger_balance(struct rq *rq) {}
static inline void saakm_nohz_kick(struct rq *rq) {}
static inline void saakm_enter_idle(struct rq *rq) {}
static inline void saakm_exit_idle(struct rq *rq, struct task_struct *idle) {}
static inline void saakm_rq_activate(struct rq *rq) {}
static inline void saakm_rq_deactivate(struct rq *rq) {}
static inline void saakm_server_attach(struct rq *rq) {}
static inline void saakm_server_detach(struct rq *rq) {}
static inline u64 saakm_server_bw(const struct cpumask *cpus) { return 0; }
static inline void saakm_update_topology(void) {}
static inline int saakm_fork(struct task_struct *p) { return 0; }
static inline void saakm_cancel_fork(struct task_struct *p) {}
static inline void saakm_post_fork(struct task_struct *p) {}
static inline void saakm_task_dead(struct task_struct *p) {}
static inline int saakm_setsched_prepare(struct saakm_setsched *s, struct task_struct *p,
					 const struct sched_attr *attr, int policy,
					 bool user) { return 0; }
static inline int saakm_setsched_check(struct saakm_setsched *s,
				       struct task_struct *p) { return 0; }
static inline void saakm_setsched_apply(struct saakm_setsched *s, struct rq *rq,
					struct task_struct *p,
					const struct sched_attr *attr) {}
static inline void saakm_setsched_done(struct saakm_setsched *s) {}
static inline void saakm_getattr(struct task_struct *p, struct sched_attr *attr) {}

#endif /* CONFIG_SCHED_CLASS_SAAKM */

#endif /* _KERNEL_SCHED_SAAKM_HOOKS_H */
