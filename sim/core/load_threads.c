// SPDX-License-Identifier: GPL-2.0
/* Threads of a workload come and go, and change what the scheduler knows of them. */
#include "load.h"

u32 load_alive;
bool load_killing;
static bool load_process;

/* ---- they begin ---- */

static struct model_thread *new_thread(struct load_group *group, struct model_thread *parent,
				       u64 origin)
{
	const struct program_group *program = group->program;
	struct model_thread *t;
	u32 words;

	words = program->depth + program->nr_marks;
	t = sim_alloc(max(sizeof(*t), offsetof(struct model_thread, words[words])));
	t->group = group;
	t->op = &load_program->ops[program->ops];
	t->origin = t->random = origin;
	t->began_ns = sim_now;
	t->due_ns = t->sent_ns = t->instant_ns = SIM_NEVER;
	t->number = group->next_number;
	t->parent = parent;
	t->users = 1;
	t->flags = LOAD_SETS;
	INIT_LIST_HEAD(&t->node);
	return t;
}

/* For GROUP[INDEX] of operations that are about other threads. */
static void note_number(struct load_group *group, struct model_thread *t)
{
	if (!group->program->indexed)
		return;
	if (t->number == group->room) {
		u32 room = max(16U, 2 * group->room);
		struct model_thread **bigger = sim_alloc(room * sizeof(*bigger));

		if (group->room)
			memcpy(bigger, group->by_number, group->room * sizeof(*bigger));
		sim_free(group->by_number);
		group->by_number = bigger;
		group->room = room;
	}
	group->by_number[t->number] = t;
}

struct model_thread *load_fork(struct load_group *group, struct model_thread *parent, u64 origin)
{
	struct model_thread *t = new_thread(group, parent, origin);
	struct task_struct *p;

	group->next_number++;
	note_number(group, t);
	load_alive++;
	if (parent) {
		parent->alive++;
		parent->users++;
	}
	/* Threads of one process, which the launcher begins. */
	p = model_fork(group->program->name, !load_process, t);
	if (!IS_ERR(p)) {
		load_process = true;
		t->task = p;
		p->load_group = group;
		return t;
	}
	/* As a program whose pthread_create() fails, and that goes on without. */
	account_refused(group, "fork", PTR_ERR(p));
	if (parent)
		parent->alive--;
	load_gone(t);
	return NULL;
}

static void start(struct model_thread *t)
{
	struct task_struct *p = t->task;

	wake_up_new_task(p);
	put_task_struct(p);
}

/* N times: each is a system call of its own. */
static bool one_more(struct model_thread *t, u32 count)
{
	if (t->phase == LOAD_BEGINS) {
		t->phase = LOAD_GOES_ON;
		t->left = count;
	} else {
		t->at_once--;		/* operations count, not children */
	}
	return t->left--;
}

/* As copy_process(): what a fork costs has passed when the child is born. */
static bool has_paid(struct model_thread *t)
{
	if (t->phase != LOAD_BEGINS && !t->left)
		return true;
	t->flags ^= LOAD_FORKS;
	if (!(t->flags & LOAD_FORKS))
		return true;
	model_charge(MODEL_COST_FORK);
	return false;
}

enum load_next load_fork_op(struct model_thread *t)
{
	struct load_group *group = &load_groups[t->op->ref];
	struct model_thread *child;

	if (!has_paid(t))
		return LOAD_ON;
	if (!one_more(t, (u32)t->op->a))
		return load_advance(t);
	if (load_alive >= LOAD_MAX_THREADS)
		load_fault(t, "forks: there are %u threads", load_alive);
	child = load_fork(group, t, load_random_child(t->origin, t->op->ref, t->forks++));
	if (child)
		start(child);
	return LOAD_ON;
}

/* Of these threads nobody waits for the end, and each counts from START even if it is late. */
enum load_next load_launch(struct model_thread *t)
{
	struct load_group *group = &load_groups[t->op->ref];
	struct model_thread *child;
	u64 origin;

	if (!has_paid(t))
		return LOAD_ON;
	if (!one_more(t, group->program->instances))
		return load_advance(t);
	origin = load_random_child(sim_options.seed, t->op->ref,
				   group->program->instances - 1 - t->left);
	child = load_fork(group, NULL, origin);
	if (child) {
		child->flags |= LOAD_LAUNCHED;
		child->began_ns = load_begin_ns + group->program->start;
		start(child);
	}
	return LOAD_ON;
}

/* ---- they change ---- */

void load_set_nice(struct model_thread *t, struct task_struct *p, int nice)
{
	int error = model_setnice(p, nice);

	if (error)
		account_refused(t->group, "set_nice", error);
}

void load_set_cpus(struct model_thread *t, struct task_struct *p, struct program_cpus cpus)
{
	struct cpumask *mask;
	u32 i, cpu;
	int error;

	mask = sim_alloc(sizeof(*mask));
	if (!cpus.count)
		cpumask_copy(mask, cpu_possible_mask);
	for (i = 0; i < cpus.count; i++) {
		const struct program_range *range = &load_program->ranges[cpus.first + i];

		for (cpu = range->first; cpu <= range->last && cpu < nr_cpu_ids; cpu++)
			__cpumask_set_cpu(cpu, mask);
	}
	if (!cpumask_empty(mask) && !cpumask_equal(mask, &p->cpus_mask)) {
		error = model_setaffinity(p, mask);
		if (error)
			account_refused(t->group, "set_cpus", error);
	}
	sim_free(mask);
}

static u32 policy_number(struct program_policy policy)
{
	static const u32 numbers[] = {
		[PROGRAM_MAIN] = SCHED_SAAKM, [PROGRAM_SAAKM] = SCHED_SAAKM,
		[PROGRAM_FAIR] = SCHED_NORMAL, [PROGRAM_BATCH] = SCHED_BATCH,
		[PROGRAM_IDLE] = SCHED_IDLE, [PROGRAM_FIFO] = SCHED_FIFO, [PROGRAM_RR] = SCHED_RR,
		[PROGRAM_ANY] = SCHED_SAAKM,
	};

	return numbers[policy.kind];
}

void load_set_policy(struct model_thread *t, struct task_struct *p, struct program_policy policy,
		     int nice, bool reset)
{
	u32 id = load_policy_id(t, policy);
	struct sched_attr attr = {
		.size			= sizeof(attr),
		.sched_policy		= policy.kind == PROGRAM_ANY && !id ? SCHED_NORMAL :
					  policy_number(policy),
		.sched_flags		= reset ? SCHED_FLAG_RESET_ON_FORK : 0,
		.sched_nice		= nice,
		.sched_priority		= policy.priority,
		.sched_saakm_policy	= id,
	};
	int error = model_setattr(p, &attr);

	if (error)
		account_refused(t->group, "sched_setattr", error);
	/* Those of which sched_setattr() takes no nice value. */
	else if (!fair_policy(attr.sched_policy) && task_nice(p) != nice)
		load_set_nice(t, p, nice);
}

/* The flag alone changes: as a thread would do it that asks first what it has. */
static void set_reset(struct model_thread *t)
{
	const struct task_struct *p = t->task;
	struct sched_attr attr = {
		.size			= sizeof(attr),
		.sched_policy		= p->policy,
		.sched_flags		= SCHED_FLAG_RESET_ON_FORK,
		.sched_nice		= task_nice(p),
		.sched_priority		= p->rt_priority,
		.sched_saakm_policy	= p->saakm.policy ? p->saakm.id : 0,
		.sched_saakm_param	= p->saakm.policy ? p->saakm.param : 0,
	};
	int error = model_setattr(t->task, &attr);

	if (error)
		account_refused(t->group, "sched_setattr", error);
}

static bool has_policy(struct model_thread *t, struct program_policy policy)
{
	const struct task_struct *p = t->task;
	u32 id = load_policy_id(t, policy);

	if (p->policy != policy_number(policy) || p->rt_priority != policy.priority)
		return false;
	return !id || (p->saakm.policy && p->saakm.id == id);
}

void load_set_first(struct model_thread *t)
{
	const struct program_group *program = t->group->program;
	struct task_struct *p = t->task;
	bool reset = program->reset;

	t->flags &= ~LOAD_SETS;
	if (program->inherit && !(t->flags & LOAD_LAUNCHED)) {
		if (reset && !p->sched_reset_on_fork)
			set_reset(t);
		return;
	}
	load_set_cpus(t, p, program->cpus);
	if (!has_policy(t, program->policy) || task_nice(p) != program->nice ||
	    p->sched_reset_on_fork != reset)
		load_set_policy(t, p, program->policy, program->nice, reset);
}

/* ---- they end ---- */

enum load_next load_join(struct model_thread *t)
{
	if (t->phase == LOAD_BEGINS) {
		t->phase = LOAD_GOES_ON;
		t->wanted = (u32)min_t(u64, t->op->a, (u64)t->alive + t->ended);
	}
	if (t->ended < t->wanted) {
		load_prepare(t, NULL);
		return load_block(t);
	}
	t->ended -= t->wanted;
	t->wanted = 0;
	return load_advance(t);
}

void load_put(struct model_thread *t)
{
	if (--t->users)
		return;
	sim_free(t->pi);
	sim_free(t);
}

/* As exit_notify(): the parent hears of it before the last switch. */
static void tell_parent(struct model_thread *t)
{
	struct model_thread *parent = t->parent;

	if (!parent)
		return;
	t->parent = NULL;
	parent->alive--;
	parent->ended++;
	if (parent->wanted && parent->ended == parent->wanted && parent->flags & LOAD_WAITS)
		load_wake(parent, 0);
	load_put(parent);
}

enum load_next load_end(struct model_thread *t)
{
	list_del_init(&t->node);
	sim_event_cancel(&t->timer);
	t->flags &= ~LOAD_WAITS;
	if (t->flags & LOAD_PINNED) {
		t->flags &= ~LOAD_PINNED;
		migrate_enable();
	}
	if (!(t->task->flags & PF_EXITING)) {
		load_pi_end(t);
		model_exit_begin();
		return LOAD_ON;
	}
	tell_parent(t);
	model_exit();
	return LOAD_LEAVE;
}

void load_gone(struct model_thread *t)
{
	if (t->group->program->indexed)
		t->group->by_number[t->number] = NULL;
	if (t->parent)
		load_put(t->parent);
	load_put(t);
	if (!--load_alive)
		run_threads_ended();
}

void model_load_dead(struct task_struct *p)
{
	struct model_thread *t = p->model;

	account_dead(t);
	p->model = NULL;
	load_gone(t);
}

/* ---- all of them end ---- */

/* As if by SIGKILL: who sleeps is woken, who computes stops, and each ends by itself. */
void load_kill(struct task_struct *p)
{
	struct model_thread *t = p->model;
	struct rq_flags rf;
	struct rq *rq;

	t->flags |= LOAD_DIES;
	p->spins = false;
	if (t->flags & LOAD_WAITS) {
		sim_event_cancel(&t->timer);
		load_wake(t, 0);
		return;
	}
	rq = task_rq_lock(p, &rf);
	if (rq->curr == p && sim_event_is_set(&rq->burst))
		sim_event_set(&rq->burst, max(sim_now, rq->burst_from_ns));
	else
		p->burst_ns = 0;
	task_rq_unlock(rq, p, &rf);
}

/* Whoever is killed may end before the next one is, and leave the list. */
void load_kill_all(void)
{
	struct task_struct **tasks = sim_alloc(load_alive * sizeof(*tasks)), *p;
	u32 i, count = 0;

	load_killing = true;
	list_for_each_entry(p, &model_tasks, tasks)
		if (p->model)
			tasks[count++] = get_task_struct(p);
	for (i = 0; i < count; i++) {
		if (tasks[i]->model)
			load_kill(tasks[i]);
		put_task_struct(tasks[i]);
	}
	sim_free(tasks);
}
