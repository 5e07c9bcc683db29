// SPDX-License-Identifier: GPL-2.0
/*
 * cpu.saakm.policy: the policy of a cgroup's threads, those that are there and
 * those that come. A cgroup that names none takes its parent's.
 *
 * Threads are moved like by sched_setattr(). The cgroup decides on fair threads
 * and on those that it has moved; whoever chose for himself stays with that
 * until he changes his cgroup. Real-time, deadline and kernel threads are never
 * touched.
 */
#ifdef CONFIG_CGROUP_SCHED

/* Keeps the threads of a cgroup and its policy in line. Taken within cgroup_mutex. */
static DEFINE_MUTEX(saakm_cgroup_mutex);

/* One weight after the other: cgroup_weight sees the last one last. */
static DEFINE_MUTEX(saakm_weight_mutex);

/*
 * From the first cgroup that names a policy until no policy is loaded. Else
 * forks and attaches look no further.
 */
static bool saakm_cgroups_used;

/* Ids are never used again: what cgroups still name means nothing. Under saakm_mutex. */
void saakm_cgroups_unused(void)
{
	WRITE_ONCE(saakm_cgroups_used, false);
}

static struct task_group *saakm_tg(struct cgroup_subsys_state *css)
{
	return css ? container_of(css, struct task_group, css) : NULL;
}

/* Id of the policy for the threads of @css; 0: none. One that is gone does not count. */
static u32 saakm_effective_id(struct cgroup_subsys_state *css)
{
	struct saakm_policy *policy;
	u32 id;

	guard(rcu)();
	for (; css; css = css->parent) {
		id = READ_ONCE(saakm_tg(css)->saakm_policy);
		policy = id ? saakm_policy_by_id(id) : NULL;
		if (policy && !READ_ONCE(policy->dying))
			return id;
	}
	return 0;
}

static bool saakm_cgroup_decides(struct task_struct *p)
{
	if (p->flags & (PF_KTHREAD | PF_EXITING))
		return false;
	if (saakm_sched_policy(p->policy))
		return READ_ONCE(p->saakm.by_cgroup);
	return fair_policy(p->policy);
}

static void saakm_cgroup_apply(struct task_struct *p, u32 id)
{
	struct sched_attr attr = {
		.size			= sizeof(attr),
		.sched_policy		= id ? SCHED_SAAKM : READ_ONCE(p->saakm.home),
		.sched_nice		= task_nice(p),
		.sched_saakm_policy	= id,
	};

	if (!saakm_cgroup_decides(p) ||
	    (saakm_sched_policy(p->policy) ? READ_ONCE(p->saakm.id) : 0) == id)
		return;
	if (p->sched_reset_on_fork)
		attr.sched_flags |= SCHED_FLAG_RESET_ON_FORK;
	if (sched_setattr_nocheck(p, &attr))
		pr_warn_ratelimited("saakm: cgroup: %s/%d keeps its policy: %s\n", p->comm, p->pid,
				    saakm_last_error);
}

static void saakm_cgroup_apply_all(struct cgroup_subsys_state *css, u32 id)
{
	struct css_task_iter it;
	struct task_struct *p;

	css_task_iter_start(css, 0, &it);
	while ((p = css_task_iter_next(&it))) {
		saakm_cgroup_apply(p, id);
		cond_resched();
	}
	css_task_iter_end(&it);
}

/* As cpu.weight shows it. */
static unsigned int saakm_tg_weight(const struct task_group *tg)
{
#if defined(CONFIG_FAIR_GROUP_SCHED)
	return sched_weight_to_cgroup(scale_load_down(tg->shares));
#elif defined(CONFIG_EXT_GROUP_SCHED)
	return tg->scx_weight;
#else
	return CGROUP_WEIGHT_DFL;
#endif
}

/*
 * What a thread's virtual time is multiplied with, in 1/2^24: 100 / cpu.weight of
 * its cgroup and of those above. Three levels of the greatest or the least weight are
 * within its bounds.
 */
#define SAAKM_INVERSE_SHIFT	24
#define SAAKM_INVERSE_MAX	BIT_ULL(48)

static void saakm_set_inverse(struct cgroup_subsys_state *css)
{
	struct task_group *tg = saakm_tg(css), *parent = saakm_tg(css->parent);
	u64 inverse = (parent ? parent->saakm_inverse : 0) ?: BIT(SAAKM_INVERSE_SHIFT);
	/* 0, while a cgroup comes into being. */
	unsigned int weight = saakm_tg_weight(tg) ?: CGROUP_WEIGHT_DFL;

	inverse = DIV_ROUND_CLOSEST_ULL(inverse * CGROUP_WEIGHT_DFL, weight);
	WRITE_ONCE(tg->saakm_inverse, clamp_t(u64, inverse, 1, SAAKM_INVERSE_MAX));
}

/* Those below are made anew after those above. */
static DEFINE_MUTEX(saakm_inverse_mutex);

void saakm_cgroup_online(struct cgroup_subsys_state *css)
{
	guard(mutex)(&saakm_inverse_mutex);
	if (css->parent)
		saakm_set_inverse(css);
}

static void saakm_set_inverses(struct cgroup_subsys_state *css)
{
	struct cgroup_subsys_state *pos;

	guard(mutex)(&saakm_inverse_mutex);
	guard(rcu)();
	css_for_each_descendant_pre(pos, css)
		saakm_set_inverse(pos);
}

static u64 saakm_cgroup_weighted(const struct task_struct *p, u64 vt)
{
	u64 inverse = READ_ONCE(task_group((struct task_struct *)p)->saakm_inverse);

	return likely(!inverse || inverse == BIT(SAAKM_INVERSE_SHIFT)) ? vt :
		mul_u64_u64_shr(vt, inverse, SAAKM_INVERSE_SHIFT);
}

/* The weight of @css has changed, or which policy should know of it. */
static void saakm_tell_weight(struct cgroup_subsys_state *css)
{
	const struct saakm_module_routines *ops;
	struct saakm_policy *policy;

	if (!READ_ONCE(saakm_cgroups_used))
		return;
	guard(mutex)(&saakm_weight_mutex);
	/* Not under saakm_mutex: a replacement holds it and waits for forks into cgroups. */
	scoped_guard(rcu) {
		policy = saakm_policy_by_id(saakm_effective_id(css));
		if (!policy || READ_ONCE(policy->dying))
			return;
		saakm_get(policy);
	}
	ops = READ_ONCE(policy->ops);
	if (ops->cgroup_weight)
		ops->cgroup_weight(policy, cgroup_id(css->cgroup), saakm_tg_weight(saakm_tg(css)));
	saakm_put(policy);
}

/* The weight of @css has changed. */
void saakm_cgroup_weight(struct cgroup_subsys_state *css)
{
	saakm_set_inverses(css);
	saakm_tell_weight(css);
}

/* @css and what takes its policy from it. */
static void saakm_cgroup_update(struct cgroup_subsys_state *css)
{
	struct cgroup_subsys_state *pos;

	rcu_read_lock();
	css_for_each_descendant_pre(pos, css) {
		if (!css_tryget_online(pos))
			continue;
		rcu_read_unlock();
		saakm_tell_weight(pos);
		saakm_cgroup_apply_all(pos, saakm_effective_id(pos));
		rcu_read_lock();
		css_put(pos);
	}
	rcu_read_unlock();
}

static u32 saakm_task_cgroup_id(struct task_struct *p)
{
	guard(rcu)();
	return saakm_effective_id(task_css(p, cpu_cgrp_id));
}

/*
 * Moving a thread may sleep. Who writes another policy meanwhile has all threads moved,
 * but this one perhaps too early.
 */
static void saakm_cgroup_follow(struct task_struct *p, u32 id)
{
	u32 applied;

	do {
		applied = id;
		saakm_cgroup_apply(p, applied);
		id = saakm_task_cgroup_id(p);
	} while (id != applied);
}

/* @p has come to its cgroup. A cgroup's policy overrules what @p chose elsewhere. */
void saakm_cgroup_attach(struct task_struct *p)
{
	u32 id;

	if (!READ_ONCE(saakm_cgroups_used))
		return;
	id = saakm_task_cgroup_id(p);
	if (id && saakm_sched_policy(p->policy))
		WRITE_ONCE(p->saakm.by_cgroup, true);
	saakm_cgroup_follow(p, id);
}

/* @p is born, perhaps into another cgroup than its parent's. */
void saakm_cgroup_fork(struct task_struct *p)
{
	if (READ_ONCE(saakm_cgroups_used))
		saakm_cgroup_follow(p, saakm_task_cgroup_id(p));
}

int saakm_cgroup_show(struct seq_file *m, void *v)
{
	u32 id = READ_ONCE(saakm_tg(seq_css(m))->saakm_policy);
	struct saakm_policy *policy;

	guard(rcu)();
	policy = id ? saakm_policy_by_id(id) : NULL;
	seq_printf(m, "%s\n", policy && !policy->dying ? policy->own->name : "none");
	return 0;
}

/* "none", a name, or an id. */
static int saakm_cgroup_parse(char *buf, u32 *id)
{
	struct saakm_policy *policy;

	*id = 0;
	if (!strcmp(buf, "none") || !strcmp(buf, "-1"))
		return 0;
	scoped_guard(rcu) {
		policy = saakm_policy_called(buf);
		if (policy)
			saakm_get(policy);
	}
	if (!policy)
		return saakm_refuse(-ESRCH, "cgroup: no policy is called %s", buf);
	if (policy->own->flags & SAAKM_POLICY_PRIVILEGED && !capable(CAP_SYS_NICE)) {
		saakm_put(policy);
		return saakm_refuse(-EPERM, "cgroup: policy %s takes CAP_SYS_NICE", buf);
	}
	/* Attaching a thread will be too late for that: the CPUs are locked then. */
	if (!READ_ONCE(policy->used_once))
		saakm_use(policy);
	WRITE_ONCE(saakm_cgroups_used, true);
	*id = policy->own->id;
	saakm_put(policy);
	return 0;
}

ssize_t saakm_cgroup_write(struct kernfs_open_file *of, char *buf, size_t nbytes, loff_t off)
{
	struct cgroup_subsys_state *css = of_css(of);
	u32 id;
	int ret;

	ret = saakm_cgroup_parse(strstrip(buf), &id);
	if (ret)
		return ret;
	guard(mutex)(&saakm_cgroup_mutex);
	WRITE_ONCE(saakm_tg(css)->saakm_policy, id);
	/* Who follows the old one, and last read it before this, has when this returns. */
	synchronize_rcu();
	/* It may have been replaced just before it stood there. */
	scoped_guard(rcu) {
		struct saakm_policy *policy = id ? saakm_joinable(id) : NULL;

		if (policy)
			WRITE_ONCE(saakm_tg(css)->saakm_policy, policy->own->id);
	}
	saakm_cgroup_update(css);
	return nbytes;
}

/* Cgroups of a policy that is replaced name its successor. */
static void saakm_cgroups_replace(const struct saakm_policy *old, const struct saakm_policy *new)
{
	struct task_group *tg;

	guard(rcu)();
	list_for_each_entry_rcu(tg, &task_groups, list) {
		if (READ_ONCE(tg->saakm_policy) == old->own->id)
			WRITE_ONCE(tg->saakm_policy, new->own->id);
	}
}

#else

static u64 saakm_cgroup_weighted(const struct task_struct *p, u64 vt)
{
	return vt;
}

void saakm_cgroups_unused(void)
{
}

static void saakm_cgroups_replace(const struct saakm_policy *old, const struct saakm_policy *new)
{
}

#endif
