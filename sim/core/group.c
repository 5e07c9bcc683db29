// SPDX-License-Identifier: GPL-2.0
/*
 * Control groups, with the cpu controller: kernel/cgroup/cgroup.c and what kernel/sched/core.c has
 * of it. Groups are made, joined, weighed and given a policy; none is removed, and fair does not
 * go by them. Not modelled: other controllers, cpu.max, cpu.idle, autogroups.
 */
#include <linux/slab.h>
#include "model.h"

LIST_HEAD(task_groups);

static struct cgroup root_cgroup = { .cpu = &root_task_group.css, .id = 1 };

struct task_group root_task_group = {
	.css = {
		.cgroup		= &root_cgroup,
		.sibling	= LIST_HEAD_INIT(root_task_group.css.sibling),
		.children	= LIST_HEAD_INIT(root_task_group.css.children),
		.refs		= REFCOUNT_INIT(1),
	},
	.shares		= NICE_0_LOAD,
	.threads	= LIST_HEAD_INIT(root_task_group.threads),
};

/* Groups are changed under it. */
static DEFINE_MUTEX(cgroup_mutex);
/* Forks read it: a child is in its parent's group when it is born. */
DEFINE_STATIC_PERCPU_RWSEM(cgroup_threadgroup_rwsem);
/* The lists of threads. */
static DEFINE_RAW_SPINLOCK(css_set_lock);

static struct task_group *css_tg(struct cgroup_subsys_state *css)
{
	return container_of(css, struct task_group, css);
}

struct cgroup_subsys_state *task_css(struct task_struct *p, int id)
{
	return &p->sched_task_group->css;
}

void css_get(struct cgroup_subsys_state *css)
{
	refcount_inc(&css->refs);
}

bool css_tryget_online(struct cgroup_subsys_state *css)
{
	return refcount_inc_not_zero(&css->refs);
}

void css_put(struct cgroup_subsys_state *css)
{
	WARN_ON_ONCE(refcount_dec_and_test(&css->refs));
}

struct cgroup_subsys_state *css_next_descendant_pre(struct cgroup_subsys_state *pos,
						    struct cgroup_subsys_state *root)
{
	if (!pos)
		return root;
	if (!list_empty(&pos->children))
		return list_first_entry(&pos->children, struct cgroup_subsys_state, sibling);
	for (; pos != root; pos = pos->parent) {
		if (!list_is_last(&pos->sibling, &pos->parent->children))
			return list_next_entry(pos, sibling);
	}
	return NULL;
}

/* Walks over the threads of a group, which may leave meanwhile: css_task_iter_skip() */

#define MAX_WALKS	16

static struct css_task_iter *walks[MAX_WALKS];

void css_task_iter_start(struct cgroup_subsys_state *css, unsigned int flags,
			 struct css_task_iter *it)
{
	int i;

	*it = (struct css_task_iter) { .css = css, .next = css_tg(css)->threads.next };
	for (i = 0; i < MAX_WALKS && walks[i]; i++)
		;
	BUG_ON(i == MAX_WALKS);
	walks[i] = it;
}

struct task_struct *css_task_iter_next(struct css_task_iter *it)
{
	unsigned long flags;

	if (it->task)
		put_task_struct(it->task);
	it->task = NULL;
	raw_spin_lock_irqsave(&css_set_lock, flags);
	if (it->next != &css_tg(it->css)->threads) {
		it->task = get_task_struct(list_entry(it->next, struct task_struct, cg_list));
		it->next = it->next->next;
	}
	raw_spin_unlock_irqrestore(&css_set_lock, flags);
	return it->task;
}

void css_task_iter_end(struct css_task_iter *it)
{
	int i;

	if (it->task)
		put_task_struct(it->task);
	for (i = 0; i < MAX_WALKS; i++) {
		if (walks[i] == it)
			walks[i] = NULL;
	}
}

static void skip(const struct list_head *leaving)
{
	int i;

	for (i = 0; i < MAX_WALKS; i++) {
		if (walks[i] && walks[i]->next == leaving)
			walks[i]->next = leaving->next;
	}
}

/* Threads come and go */

void model_group_join(struct task_struct *p)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&css_set_lock, flags);
	list_add_tail(&p->cg_list, &p->sched_task_group->threads);
	raw_spin_unlock_irqrestore(&css_set_lock, flags);
}

void model_group_leave(struct task_struct *p)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&css_set_lock, flags);
	skip(&p->cg_list);
	list_del_init(&p->cg_list);
	raw_spin_unlock_irqrestore(&css_set_lock, flags);
}

void model_group_fork_begin(void)
{
	percpu_down_read(&cgroup_threadgroup_rwsem);
}

void model_group_fork_end(void)
{
	percpu_up_read(&cgroup_threadgroup_rwsem);
}

/* kernel/sched/core.c, sched_move_task() */
static void move_thread(struct task_struct *p, struct task_group *group)
{
	int queue_flags = DEQUEUE_SAVE | DEQUEUE_MOVE | DEQUEUE_NOCLOCK;
	bool queued, running;
	struct rq *rq;

	CLASS(task_rq_lock, rq_guard)(p);
	rq = rq_guard.rq;
	update_rq_clock(rq);
	running = task_current_donor(rq, p);
	queued = task_on_rq_queued(p);
	if (queued)
		dequeue_task(rq, p, queue_flags);
	if (running)
		put_prev_task(rq, p);
	p->sched_task_group = group;
	if (queued)
		enqueue_task(rq, p, queue_flags);
	if (running) {
		set_next_task(rq, p);
		resched_curr(rq);
	}
}

/*
 * kernel/sched/autogroup.c, sched_autogroup_exit_task(): whoever exits is taken out and put back, and
 * elects, even where there is no autogroup.
 */
void model_group_exit(struct task_struct *p)
{
	move_thread(p, p->sched_task_group);
}

/* kernel/sched/core.c, cpu_cgroup_attach(), after cgroup_migrate_execute() */
int model_group_attach(struct task_group *group, struct task_struct *p)
{
	guard(mutex)(&cgroup_mutex);
	percpu_down_write(&cgroup_threadgroup_rwsem);
	if (p->flags & PF_EXITING) {
		percpu_up_write(&cgroup_threadgroup_rwsem);
		return -ESRCH;
	}
	model_group_leave(p);
	move_thread(p, group);
	model_group_join(p);
	saakm_cgroup_attach(p);
	percpu_up_write(&cgroup_threadgroup_rwsem);
	return 0;
}

/* Groups */

/* kernel/sched/core.c, cpu_cgroup_css_alloc(), cpu_cgroup_css_online() */
struct task_group *model_group_new(const char *name, struct task_group *parent)
{
	static u64 last_id = 1;
	struct task_group *group = sim_alloc(sizeof(*group));
	struct cgroup *cgroup = sim_alloc(sizeof(*cgroup));

	parent = parent ?: &root_task_group;
	guard(mutex)(&cgroup_mutex);
	cgroup->cpu = &group->css;
	cgroup->id = ++last_id;
	strscpy(cgroup->name, name, sizeof(cgroup->name));
	group->css.cgroup = cgroup;
	group->css.parent = &parent->css;
	refcount_set(&group->css.refs, 1);
	INIT_LIST_HEAD(&group->css.children);
	INIT_LIST_HEAD(&group->threads);
	group->shares = NICE_0_LOAD;
	group->parent = parent;
	list_add_tail_rcu(&group->css.sibling, &parent->css.children);
	saakm_cgroup_online(&group->css);
	list_add_tail_rcu(&group->list, &task_groups);
	return group;
}

/* kernel/sched/core.c, cpu_weight_write_u64() */
int model_group_weight(struct task_group *group, unsigned int weight)
{
	if (weight < CGROUP_WEIGHT_MIN || weight > CGROUP_WEIGHT_MAX)
		return -ERANGE;
	group->shares = scale_load(sched_weight_from_cgroup(weight));
	saakm_cgroup_weight(&group->css);
	return 0;
}

/* Write to cpu.saakm.policy: as the file's entry in cpu_files[] has it. */
int model_group_policy(struct task_group *group, const char *policy)
{
	struct kernfs_open_file of = { .css = &group->css };
	char buf[SAAKM_NAME_LEN + 1];
	ssize_t ret;

	strscpy(buf, policy, sizeof(buf));
	ret = saakm_cgroup_write(&of, buf, strlen(buf), 0);
	return ret < 0 ? ret : 0;
}

/* Read of it: likewise, by cpu_files[]. */
int model_group_show(struct task_group *group, struct seq_file *m)
{
	struct kernfs_open_file of = { .css = &group->css };

	m->private = &of;
	return saakm_cgroup_show(m, NULL);
}
