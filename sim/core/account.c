// SPDX-License-Identifier: GPL-2.0
/* What a run counts: waits, CPU time, switches, latencies, for each group; and what it costs. */
#include "agents.h"
#include "load.h"
#include "machine.h"
#include "policies.h"
#include "../engine/result.h"

u64 model_cost_ns[MODEL_NR_COSTS];
bool account_closed;

static struct sim_result result;
static u64 boot_idle_ns, boot_cost_ns;	/* before the run began */

/*
 * ---- hooks of the core ----
 *
 * At switches and wakeups, where what is in struct model_thread would have to come from memory.
 */

void model_load_on(struct rq *rq, struct task_struct *p)
{
	if (unlikely(p->spins)) {
		u64 from = sim_now + rq->charged_ns, until = p->model->until_ns;

		model_compute(p, until > from ? until - from : 0);
	}
	if (likely(!account_closed))
		sim_histogram_add(&p->load_group->waits, sim_now - p->since_ns);
	p->since_ns = sim_now;
}

/* sched_yield() is no preemption, although the kernel's nr_involuntary_switches counts it. */
void model_load_off(struct rq *rq, struct task_struct *p, bool runnable)
{
	struct load_group *group = p->load_group;

	if (likely(!account_closed)) {
		group->run_ns += sim_now - p->since_ns;
		group->switches++;
		group->preemptions += runnable && !p->yields;
	}
	p->yields = false;
	p->since_ns = sim_now;
}

void model_load_woken(struct rq *rq, struct task_struct *p)
{
	p->since_ns = sim_now;
}

void account_dead(struct model_thread *t)
{
	if (!account_closed)
		t->group->migrations += t->task->se.nr_migrations;
}

void account_refused(const struct load_group *group, const char *what, long error)
{
	char text[128];

	snprintf(text, sizeof(text), "group '%s': %s was refused: %pe", group->program->name, what,
		 ERR_PTR(error));
	sim_warning(text);
}

/* ---- costs ---- */

void account_read_costs(void)
{
	static const char * const names[] = {
		[MODEL_COST_WAKEUP] = "wakeup", [MODEL_COST_SWITCH] = "switch",
		[MODEL_COST_TICK] = "tick", [MODEL_COST_YIELD] = "yield",
		[MODEL_COST_FORK] = "fork", [MODEL_COST_EXIT] = "exit",
		[MODEL_COST_SETATTR] = "setattr",
		[MODEL_COST_MIGRATION_SMT] = "migration_smt",
		[MODEL_COST_MIGRATION_LLC] = "migration_llc",
		[MODEL_COST_MIGRATION_NODE] = "migration_node",
		[MODEL_COST_MIGRATION_FAR] = "migration_far",
		[MODEL_COST_AGENT_ROUND] = "agent_round",
		[MODEL_COST_AGENT_EVENT] = "agent_event",
		[MODEL_COST_AGENT_DECISION] = "agent_decision",
	};

	BUILD_BUG_ON(ARRAY_SIZE(names) != MODEL_NR_COSTS);
	if (sim_options.costs)
		sim_costs_read(sim_options.costs, names, model_cost_ns, MODEL_NR_COSTS);
	if (model_cost_ns[MODEL_COST_TICK] >= TICK_NSEC)
		sim_bad_input(sim_options.costs, 0,
			      "a tick takes %llu ns of the %llu until the next: no thread would run",
			      model_cost_ns[MODEL_COST_TICK], (u64)TICK_NSEC);
}

/* ---- the end ---- */

/* Who has the CPU has run until now, and those that live have been moved, too. */
static void count_living(void)
{
	const struct task_struct *p;

	list_for_each_entry(p, &model_tasks, tasks) {
		const struct model_thread *t = p->model;

		if (!t)
			continue;
		t->group->migrations += p->se.nr_migrations;
		if (task_rq(p)->curr == p)
			t->group->run_ns += sim_now - p->since_ns;
	}
}

/* Can nobody but another thread wake it? */
static bool depends(const struct model_thread *t)
{
	return t->flags & LOAD_WAITS && !sim_event_is_set(&t->timer);
}

/* Threads that all wait for one another do so for ever, which a program may not be meant to do. */
static void warn_of_deadlock(void)
{
	const struct task_struct *p;
	unsigned int count = 0, length = 0;
	char who[256] = "", text[384];

	list_for_each_entry(p, &model_tasks, tasks) {
		const struct model_thread *t = p->model;

		if (!t || p->exit_state)
			continue;
		if (!depends(t))
			return;
		if (count++ < 3)
			length += scnprintf(who + length, sizeof(who) - length,
					    "%s one of group '%s' for %s", count > 1 ? "," : "",
					    t->group->program->name, load_waits_for(t));
	}
	if (!count)
		return;
	snprintf(text, sizeof(text), "%u threads wait, and nobody is left who could wake them:%s%s",
		 count, who, count > 3 ? ", ..." : "");
	sim_warning(text);
}

/*
 * Of all CPUs: for how long they had no thread and nothing that is a cost, and how long costs took.
 * What is charged and has not passed yet is no part of that.
 */
static void count_times(u64 *idle_ns, u64 *cost_ns)
{
	u64 idle = 0, ahead = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct rq *rq = cpu_rq(cpu);
		bool idles = rq->curr == rq->idle;
		u64 from = idles ? rq->idle_since_ns : rq->burst_from_ns;

		idle += rq->idle_ns;
		ahead += rq->charged_ns;
		if (from > sim_now)
			ahead += from - sim_now;
		else if (idles)
			idle += sim_now - from;
	}
	*idle_ns = idle;
	*cost_ns = model_stats.cost_ns - min(ahead, model_stats.cost_ns);
}

/* A boot takes its time where a module waits, and is no part of the run. */
void account_begin(void)
{
	count_times(&boot_idle_ns, &boot_cost_ns);
}

void account_close(void)
{
	unsigned int i;

	if (account_closed)
		return;
	account_closed = true;
	if (load_groups) {
		count_living();
		warn_of_deadlock();
	}
	result.end_ns = sim_now - load_begin_ns;
	result.events = sim_events;
	result.switches = model_stats.switches;
	result.wakeups = model_stats.wakeups;
	result.ticks = model_stats.ticks;
	result.forks = model_stats.forks;
	for (i = 0; i < 4; i++)
		result.migrations[i] = model_stats.migrations[i];
	count_times(&result.idle_ns, &result.cost_ns);
	result.idle_ns -= boot_idle_ns;
	result.cost_ns -= boot_cost_ns;
	result.hash = model_stats.hash;
	agents_close(&result);
	policies_close();
}

static unsigned int put_marks(const struct load_group *group, struct sim_result_mark *marks)
{
	const struct program_mark *mark;
	unsigned int i, count = 0;

	for (i = 0; i < group->program->nr_marks; i++) {
		mark = &load_program->group_marks[group->program->first_mark + i];
		if (!mark->ends)
			continue;
		marks[count].name = load_program->marks[mark->name];
		marks[count++].times = &group->marks[i];
	}
	return count;
}

static void put_group(const struct load_group *group, struct sim_result_group *to)
{
	struct sim_result_mark *marks = sim_alloc(group->program->nr_marks * sizeof(*marks));
	char *policy = sim_alloc(PROGRAM_NAME_SIZE);

	*to = (struct sim_result_group){
		.name		= group->program->name,
		.policy		= load_policy_name(group->program->policy, policy),
		.threads	= group->next_number,
		.run_ns		= group->run_ns,
		.switches	= group->switches,
		.preemptions	= group->preemptions,
		.migrations	= group->migrations,
		.iterations	= group->iterations,
		.waits		= &group->waits,
		.marks		= marks,
		.nr_marks	= put_marks(group, marks),
	};
}

void account_print(void)
{
	struct sim_result_group *groups = NULL;
	unsigned int i;

	account_close();
	if (load_groups) {
		groups = sim_alloc(load_program->nr_groups * sizeof(*groups));
		for (i = 0; i < load_program->nr_groups; i++)
			put_group(&load_groups[i], &groups[i]);
		result.groups = groups;
		result.nr_groups = load_program->nr_groups;
	}
	machine_warnings_end();
	for (i = 0; i < machine_nr_warnings && i < MACHINE_MAX_WARNINGS; i++)
		sim_warning(machine_warnings[i]);
	policies_result(&result);
	sim_result_print(&result);
}
