// SPDX-License-Identifier: GPL-2.0
/*
 * The replay of fair's calls, from the boot of the kernel to the end of the recording or to the first
 * difference: what follows one says nothing, for the calls after it are of another schedule.
 *
 * A call is made where it ends in the recording: with the clock that fair has seen last. Those of one
 * runqueue come one after the other, by its lock, and those of two have nothing in common.
 *
 * The program is a text: "recording PATH", then "feature NAME PARAMETER VALUE" (features.c), and "states"
 * if virtual times have to be equal as well, not only what is decided by them.
 */
#include "fair.h"

#define MOST_OPEN	128

static struct fair_call open[MOST_OPEN];
static unsigned int nr_open;
static u64 calls, picks, choices, preemptions, delays, marked_picks;
static u64 states;
static bool differs, cut_off, marked, with_states;

static struct fair_object *thread_of(const struct replay_begin *b, const char *arguments)
{
	unsigned int i;

	for (i = 0; arguments[i]; i++)
		if (arguments[i] == 't' || arguments[i] == 'e')
			return fair_object_at(REPLAY_TASK, b->arguments[i]);
	return NULL;
}

static void report(struct fair_call *call, const char *what)
{
	if (!differs)
		fair_show(call, what);
	differs = true;
}

static void begin(const struct replay_begin *b)
{
	struct replay_function *f = &replay_calls[b->call];
	struct fair_call *call = &open[nr_open++];

	if (nr_open == MOST_OPEN)
		sim_bad_input(sim_options.program_name, 0, "too many calls have not ended");
	*call = (struct fair_call) { .begin = *b, .function = f };
	call->rq = strchr("rc", f->arguments[0]) ? fair_rq(b->arguments[0]) : cpu_rq(b->cpu);
	call->task = thread_of(b, f->arguments);
	if (!strcmp(f->name, "task_fork_fair") && call->task)
		call->task->here = NULL;
	fair_set(call);
}

/* In the terms of here, and NULL if it is the same. */
static const char *compare_returned(const struct fair_call *call, u64 there, u64 here)
{
	static char text[128];

	if (call->function->returns == 't') {
		struct task_struct *a = fair_task(there), *b = (void *)here;

		snprintf(text, sizeof(text), "fair picks thread %d, the policy %d", a ? a->pid : -1,
			 b ? b->pid : -1);
		return a == b ? NULL : text;
	}
	if (strcmp(call->function->name, "dequeue_task_fair") || (u8)there == (u8)here)
		return NULL;
	return (u8)there ? "fair lets the thread sleep, the policy keeps it in the queue" :
			   "fair keeps the thread, which sleeps, in its queue (delayed dequeue), the policy does not";
}

/* An enqueue may ask for it as well, but what follows asks again before the lock is released. */
static bool decides_preemption(const struct fair_call *call)
{
	static const char * const names[] = {
		"check_preempt_wakeup_fair", "task_tick_fair", "prio_changed_fair",
		"switched_to_fair",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(call->function->name, names[i]))
			return true;
	return false;
}

static const char *compare_preemption(const struct fair_call *call)
{
	struct fair_object *curr =
		fair_object_at(REPLAY_TASK, fair_there(fair_rq_object(call->rq->cpu), "curr"));
	bool there;

	if (!curr || is_idle_task(call->rq->curr) || !decides_preemption(call))
		return NULL;
	there = fair_resched(curr);
	/* It has left the queue, and another one is being picked: asking means nothing. */
	if (replay_class(fair_there(curr, "class")) == &fair_sched_class &&
	    !fair_there(curr, "queued")) {
		call->rq->curr->need_resched = there;
		return NULL;
	}
	preemptions++;
	if (there == !!call->rq->curr->need_resched)
		return NULL;
	return there ? "fair makes the running thread give way, the policy does not" :
		       "the policy makes the running thread give way, fair does not";
}

/* Sleepers that stay queued count: who has left that should not, or the other way round? */
static const char *compare_queue(const struct fair_call *call)
{
	u64 there = fair_there(fair_rq_object(call->rq->cpu), "fair_queued");
	static char text[128];

	snprintf(text, sizeof(text), "fair has %llu threads in its queue, the policy %u", there,
		 call->rq->saakm.nr_running);
	return there == call->rq->saakm.nr_running ? NULL : text;
}

/*
 * Of a policy whose key is the deadline, and whose bound is the vruntime. Where its virtual time begins
 * is its own business.
 */
static const char *compare_state(struct fair_object *o)
{
	const struct saakm_own *own = fair_policy_here->own;
	struct task_struct *p = o ? o->here : NULL;
	static char text[128];
	static bool known;
	static u64 offset;
	s64 vruntime, deadline;

	if (!p || p->saakm.policy != fair_policy_here || !p->saakm.on_rq ||
	    !fair_there(o, "queued") || !own->key || !own->bound)
		return NULL;
	vruntime = own->bound(p) - fair_there(o, "vruntime");
	if (!known)
		offset = vruntime;
	known = true;
	vruntime -= offset;
	deadline = own->key(p) - fair_there(o, "deadline") - offset;
	snprintf(text, sizeof(text), "of thread %d the policy has vruntime %+lld, deadline %+lld",
		 p->pid, vruntime, deadline);
	states += !vruntime && !deadline;
	return vruntime || deadline ? text : NULL;
}

static const char *compare_states(const struct fair_call *call)
{
	u64 curr = fair_there(fair_rq_object(call->rq->cpu), "curr");

	if (!with_states)
		return NULL;
	return compare_state(call->task) ?: compare_state(fair_object_at(REPLAY_TASK, curr));
}

static void count_pick(const struct fair_call *call, u64 there)
{
	if (call->function->returns != 't' || !there || differs)
		return;
	picks++;
	marked_picks += marked;
	choices += fair_there(fair_rq_object(call->rq->cpu), "fair_queued") > 1;
}

/* Sleepers that have left the queue in a pick: the recording says so only when they are seen again. */
static void note_left(struct fair_object *o, void *data)
{
	const struct task_struct *p = o->here;

	if (fair_there(o, "delayed") && p && p->saakm.policy && !p->saakm.on_rq)
		fair_there(o, "queued") = 0;
}

static void make(struct fair_call *call, const struct replay_end *e)
{
	struct fair_object *o = fair_rq_object(call->rq->cpu);
	unsigned int before = call->rq->nr_running;
	const char *what;
	u64 returned;

	call->rq->clock = fair_there(o, "clock");
	call->rq->clock_task = fair_there(o, "clock_task");
	sim_now = call->rq->clock;
	if (call->task && strcmp(call->function->name, "reweight_task_fair"))
		fair_on_cpu(call, fair_follow);
	returned = fair_make(call);
	what = compare_returned(call, e->returned, returned) ?: compare_preemption(call) ?:
	       compare_queue(call) ?: compare_states(call);
	if (what)
		report(call, what);
	else if (machine_nr_warnings)
		report(call, "the class has warned");
	else if (call->function->returns == 't' && call->rq->nr_running != before)
		fair_for_each_thread(note_left, NULL);
	count_pick(call, e->returned);
	fair_note_resched(call);
	delays += !strcmp(call->function->name, "dequeue_task_fair") && !(u8)e->returned && !differs;
}

static void end(const struct replay_end *e)
{
	struct fair_call call;
	unsigned int i;

	for (i = 0; i < nr_open && open[i].begin.frame != e->frame; i++)
		;
	if (i == nr_open)
		sim_bad_input(sim_options.program_name, 0, "a call ends that has not begun");
	call = open[i];
	open[i] = open[--nr_open];
	calls++;
	call.function->calls++;
	if (!strcmp(call.function->name, "task_fork_fair"))
		fair_on_cpu(&call, fair_fork);
	else if (!strcmp(call.function->name, "task_dead_fair"))
		fair_on_cpu(&call, fair_dead);
	else if (!strcmp(call.function->name, "get_rr_interval_fair"))
		marked = true;
	else if (call.function->call)
		make(&call, e);
	else
		report(&call, "this call cannot be made of the class");
}

static void replay(void)
{
	unsigned long position = replay_start;
	struct replay_record r;

	while (!differs) {
		replay_read(&position, &r);
		if (r.type == 'o')
			fair_new_object(&r.object);
		else if (r.type == 'f' && fair_set_field(&r.field))
			fair_variable_changed();
		else if (r.type == 'b')
			begin(&r.begin);
		else if (r.type == 'e')
			end(&r.end);
		else if (r.type != 'f')
			break;
	}
	cut_off = !differs && r.type != 'z';
}

static void tell(void)
{
	struct sim_output *out = sim_output_open("-");
	const char *comma = "";
	unsigned int i;

	replay_print(out, "{\"calls\": %llu, \"picks\": %llu, \"picks_of_boot\": %llu, ", calls, picks,
		     picks - marked_picks);
	replay_print(out, "\"choices\": %llu, \"preemptions\": %llu, ", choices, preemptions);
	replay_print(out, "\"delays\": %llu, \"states\": %llu, ", delays, states);
	replay_print(out, "\"differs\": %s, \"cut_off\": %s, \"kinds\": {", differs ? "true" : "false",
		     cut_off ? "true" : "false");
	for (i = 0; i < replay_nr_calls; i++) {
		if (!replay_calls[i].calls)
			continue;
		replay_print(out, "%s\"%s\": %llu", comma, replay_calls[i].name, replay_calls[i].calls);
		comma = ", ";
	}
	replay_print(out, "}}\n");
	sim_output_close(out);
}

static void read_program(void)
{
	const char *line = sim_options.program_text;
	static char path[1024];

	if (sscanf(line, "recording %1023s", path) != 1)
		sim_bad_input(sim_options.program_name, 1, "it does not say: recording PATH");
	while ((line = strchr(line, '\n')) && *++line)
		if (!strncmp(line, "feature ", 8))
			fair_read_feature(line);
		else if (!strncmp(line, "states", 6))
			with_states = true;
	replay_open(path);
}

/* The one policy that is linked in. */
static void find_policy(void)
{
	struct saakm_policy *policy;

	guard(rcu)();
	for_each_saakm_policy(policy)
		fair_policy_here = policy;
	if (!fair_policy_here)
		sim_bad_input(NULL, 0, "no policy is loaded");
}

/* The model's own thread, which has booted it, is none of the recording's. */
static void forget_boot(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		cpu_rq(cpu)->curr = cpu_rq(cpu)->idle;
		per_cpu(current_task, cpu) = cpu_rq(cpu)->idle;
		cpu_rq(cpu)->nr_running = 0;
	}
}

/* ---- engine/host.h ---- */

void sim_core_boot(void)
{
	model_boot();
	machine_load();
	machine_files_set();
	find_policy();
	read_program();
	forget_boot();
	replay();
	tell();
	sim_stop();
}
