// SPDX-License-Identifier: GPL-2.0
/*
 * The interpreter: what a thread of a workload does when it has computed what it had to. It runs as
 * the thread, in system calls. What waits is left half done and called again: a thread has no stack
 * of its own.
 */
#include "load.h"

const struct program *load_program;
struct load_group *load_groups;
u64 load_begin_ns;

static struct program_group launcher_group = {
	.name		= "launcher",
	.policy		= { .kind = PROGRAM_FAIR },
};

void load_fault(const struct model_thread *t, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	sim_bad_input(load_program->file, t->op->line, "thread %u of group '%s' %s", t->number,
		      t->group->program->name, text);
}

/* ---- operations ---- */

static enum load_next compute(struct model_thread *t, u64 ns)
{
	if (!ns)
		return LOAD_ON;
	model_compute(t->task, ns);
	return LOAD_LEAVE;
}

static enum load_next run(struct model_thread *t)
{
	u64 ns = load_random_time(&t->random, t->op);

	load_advance(t);
	return compute(t, ns);
}

/* What passes while it does not run counts: model_load_on() makes the burst shorter. */
static enum load_next spin(struct model_thread *t)
{
	if (t->phase == LOAD_BEGINS) {
		t->phase = LOAD_GOES_ON;
		t->until_ns = sim_now + load_random_time(&t->random, t->op);
		t->task->spins = true;
	}
	if (t->until_ns > sim_now)
		return compute(t, t->until_ns - sim_now);
	t->task->spins = false;
	return load_advance(t);
}

static enum load_next sleep(struct model_thread *t)
{
	u64 ns = load_random_time(&t->random, t->op);

	load_advance(t);
	return load_sleep_until(t, sim_now + ns);
}

static enum load_next until(struct model_thread *t)
{
	u64 at = load_begin_ns + t->op->a;

	load_advance(t);
	return at > sim_now ? load_sleep_until(t, at) : LOAD_ON;
}

static enum load_next begin_loop(struct model_thread *t)
{
	t->words[t->depth++] = 0;
	return load_advance(t);
}

static enum load_next end_of_loop(struct model_thread *t)
{
	if (++t->words[t->depth - 1] < t->op->a) {
		t->op = &load_program->ops[t->op->ref + 1];
		return LOAD_ON;
	}
	t->depth--;
	return load_advance(t);
}

static enum load_next chance(struct model_thread *t)
{
	if (load_random_below(&t->random, 1000000) >= t->op->a)
		t->op = &load_program->ops[t->op->ref];
	return load_advance(t);
}

/* When a latency began: its time + 1, as 0 means that it has not. */
static u64 *mark(struct model_thread *t)
{
	return &t->words[t->group->program->depth + t->op->ref];
}

static enum load_next mark_begin(struct model_thread *t)
{
	u64 at = t->op->how == PROGRAM_DUE ? t->due_ns :
		 t->op->how == PROGRAM_SENT ? t->sent_ns : sim_now;

	*mark(t) = (at == SIM_NEVER ? sim_now : at) + 1;
	return load_advance(t);
}

static enum load_next mark_end(struct model_thread *t)
{
	u64 *begun = mark(t);

	if (*begun)
		account_mark(t, t->op->ref, sim_now + 1 - min(*begun, sim_now + 1));
	*begun = 0;
	return load_advance(t);
}

static enum load_next yield_cpu(struct model_thread *t)
{
	load_advance(t);
	t->task->yields = true;
	model_yield();
	return LOAD_LEAVE;
}

static enum load_next exec(struct model_thread *t)
{
	load_advance(t);
	model_exec(t->task->comm);
	return LOAD_ON;
}

static enum load_next pick(struct model_thread *t)
{
	t->pick = (u32)load_random_below(&t->random, t->op->a);
	return load_advance(t);
}

static enum load_next iteration(struct model_thread *t)
{
	account_iteration(t);
	return load_advance(t);
}

static enum load_next timer(struct model_thread *t)
{
	return load_timer(t, load_random_time(&t->random, t->op));
}

static enum load_next signal(struct model_thread *t)
{
	return load_signal(t, t->op->code == OP_BROADCAST);
}

typedef enum load_next (*load_fn)(struct model_thread *t);

static const load_fn functions[] = {
	[OP_RUN] = run, [OP_SPIN] = spin, [OP_SLEEP] = sleep, [OP_TIMER] = timer,
	[OP_LOCK] = load_lock, [OP_UNLOCK] = load_unlock, [OP_WAIT] = load_wait,
	[OP_MEET] = load_meet,
	[OP_SIGNAL] = signal, [OP_BROADCAST] = signal, [OP_BARRIER] = load_barrier,
	[OP_UP] = load_up, [OP_DOWN] = load_down, [OP_WRITE] = load_write, [OP_READ] = load_read,
	[OP_SUSPEND] = load_suspend, [OP_RESUME] = load_resume, [OP_YIELD] = yield_cpu,
	[OP_FORK] = load_fork_op, [OP_JOIN] = load_join, [OP_EXIT] = load_end, [OP_EXEC] = exec,
	[OP_SET_NICE] = load_change, [OP_SET_CPUS] = load_change, [OP_SET_POLICY] = load_change,
	[OP_MARK_BEGIN] = mark_begin, [OP_MARK_END] = mark_end, [OP_ITERATION] = iteration,
	[OP_PICK] = pick, [OP_LOOP] = begin_loop, [OP_AGAIN] = end_of_loop, [OP_END] = load_end,
	[OP_CHANCE] = chance, [OP_JOINS] = load_advance,
	[OP_PI_LOCK] = load_pi_lock, [OP_PI_UNLOCK] = load_pi_unlock,
	[OP_OTHERS] = load_others, [OP_KILL] = load_change, [OP_GETATTR] = load_change,
	[OP_SET_CGROUP] = load_change, [OP_CGROUP_WEIGHT] = load_cgroup,
	[OP_CGROUP_POLICY] = load_cgroup, [OP_CPU_OFFLINE] = load_hotplug,
	[OP_CPU_ONLINE] = load_hotplug, [OP_STEAL] = load_steal, [OP_EJECT] = load_module,
	[OP_RELOAD] = load_module, [OP_MIGRATE_DISABLE] = load_migration,
	[OP_MIGRATE_ENABLE] = load_migration,
	[LOAD_OP_UNTIL] = until, [LOAD_OP_LAUNCH] = load_launch,
};

/* ---- the interpreter ---- */

static void count_at_once(struct model_thread *t)
{
	if (t->instant_ns != sim_now) {
		t->instant_ns = sim_now;
		t->at_once = 0;
	}
	if (unlikely(++t->at_once > LOAD_MAX_AT_ONCE))
		load_fault(t, "never stops: it has done more than %u operations at one instant",
			   LOAD_MAX_AT_ONCE);
}

/* Those that never stop may be many, and take turns. The engine would blame the class for it. */
static void count_steps(const struct model_thread *t)
{
	static u64 instant_ns = SIM_NEVER;
	static u32 steps;

	if (instant_ns != sim_now) {
		instant_ns = sim_now;
		steps = 0;
	}
	if (unlikely(++steps > LOAD_MAX_STEPS) && t->at_once > LOAD_MANY_AT_ONCE &&
	    t->instant_ns == sim_now)
		load_fault(t, "never stops: it and others have done %u steps at one instant",
			   steps);
}

/*
 * After each operation the thread returns from a system call: it makes way if it must, and what
 * the call costs has to pass before the next one.
 */
void model_load_next(struct task_struct *p)
{
	struct model_thread *t = p->model;

	if (unlikely(load_dies(t))) {
		load_end(t);
		return;
	}
	if (load_sleeps_on(t))
		return;
	count_steps(t);
	if (unlikely(t->flags & LOAD_SETS)) {
		load_set_first(t);
		if (test_tsk_need_resched(p) || model_rq()->charged_ns)
			return;
	}
	do {
		count_at_once(t);
		if (functions[t->op->code](t) == LOAD_LEAVE)
			return;
	} while (!test_tsk_need_resched(p) && !model_rq()->charged_ns && !load_dies(t));
}

/* ---- the beginning: the launcher ---- */

/*
 * The launcher stands for whoever starts a load on a real machine: a thread of the fair class that
 * forks the others when their time comes. Each of these then does what `saakmctl exec` does,
 * and whoever calls sched_setaffinity() and sched_setattr() at the beginning of a thread: it
 * changes itself by system calls before its program begins. So a policy sees its first threads
 * join as it would there: by a change of class of a running thread, from wherever fair has put it.
 */
static unsigned int by_start(unsigned int *order)
{
	const struct program_group *groups = load_program->groups;
	unsigned int i, j, count = 0;

	for (i = 0; i < load_program->nr_groups; i++) {
		if (!groups[i].instances)
			continue;
		/* Of the same START they keep their order. There are 4,096 groups at most. */
		for (j = count++; j && groups[order[j - 1]].start > groups[i].start; j--)
			order[j] = order[j - 1];
		order[j] = i;
	}
	return count;
}

static const struct program_op *make_launcher_ops(void)
{
	const struct program_group *groups = load_program->groups;
	unsigned int *order = sim_alloc(load_program->nr_groups * sizeof(*order));
	unsigned int i, count = by_start(order);
	struct program_op *ops = sim_alloc((2 * count + 1) * sizeof(*ops)), *op = ops;

	for (i = 0; i < count; i++) {
		*op++ = (struct program_op){ .code = LOAD_OP_UNTIL, .a = groups[order[i]].start };
		*op++ = (struct program_op){ .code = LOAD_OP_LAUNCH, .ref = order[i],
					     .line = groups[order[i]].line };
	}
	op->code = OP_END;
	sim_free(order);
	return ops;
}

static void init_groups(void)
{
	unsigned int i;

	load_groups = sim_alloc((load_program->nr_groups + 1) * sizeof(*load_groups));
	for (i = 0; i <= load_program->nr_groups; i++) {
		struct load_group *group = &load_groups[i];

		group->program = i < load_program->nr_groups ? &load_program->groups[i] :
				 &launcher_group;
		INIT_LIST_HEAD(&group->suspended);
		group->marks = sim_alloc(group->program->nr_marks * sizeof(*group->marks));
	}
}

void load_begin(void)
{
	struct model_thread *launcher;

	load_begin_ns = sim_now;
	account_begin();
	init_groups();
	load_objects_init();
	load_pi_init();
	load_machine_init();
	launcher = load_fork(&load_groups[load_program->nr_groups], NULL, 0);
	if (!launcher)
		sim_bad_input(NULL, 0, "the launcher cannot be forked");
	launcher->op = make_launcher_ops();
	wake_up_new_task(launcher->task);
}
