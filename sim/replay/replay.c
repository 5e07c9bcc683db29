// SPDX-License-Identifier: GPL-2.0
/*
 * The replay of a recording from its beginning to its end, or to the first difference.
 *
 * A call begins here where it began in the kernel, and goes on until it takes or releases the lock
 * of a runqueue, which it does when the recording comes to that. What it returns, makes the core
 * do and leaves behind is compared where it ended there. Calls of several CPUs may overlap: what
 * another one holds the lock of is neither set nor compared meanwhile.
 *
 * The program is a text: "recording PATH". How far it goes is said on standard input (conduct.c).
 */
#include "replay.h"

#define MOST_FRAMES	64

static struct replay_frame *frames[MOST_FRAMES];
static unsigned int nr_frames;
static u64 calls, equal, raced, overlapping, skipped, states;
/* Interrupted calls that have ended: what they wrote without a lock is compared later. */
static u64 recent[8];
static unsigned int nr_recent;
/* At the difference: calls that may have raced, at first those that have not ended. */
static u64 suspects[MOST_FRAMES + 1 + ARRAY_SIZE(recent)];
static unsigned int nr_suspects, nr_open;
static s64 differs_in = -1;
static u64 latest;			/* that has begun */
static bool differs, ended, cut_off;

static bool is_argument(const struct replay_frame *f, const struct replay_object *object)
{
	const char *argument = f->function->arguments;
	unsigned int i;

	for (i = 0; argument[i]; i++)
		if (argument[i] == 't' && f->begin.arguments[i] == object->address)
			return true;
	return false;
}

/* Is a call that has begun, and holds its lock, at work on it? */
static bool is_locked_by(const struct replay_frame *f, const struct replay_object *object)
{
	int cpu;

	if (object->kind == REPLAY_RQ || object->kind == REPLAY_CORE)
		return f->locked & BIT_ULL(object->cpu);
	for (cpu = 0; cpu < nr_cpu_ids && object->here; cpu++)
		if (f->locked & BIT_ULL(cpu) && cpu_rq(cpu)->curr == object->here)
			return true;
	return object->kind == REPLAY_TASK && f->function->call &&
	       f->function->call->context != UNLOCKED && is_argument(f, object);
}

static bool is_busy(const struct replay_object *object)
{
	unsigned int i;

	for (i = 0; i < nr_frames; i++)
		if (is_locked_by(frames[i], object))
			return true;
	return false;
}

static void is_about(struct replay_frame *f, struct replay_object *object)
{
	unsigned int i;

	for (i = 0; i < f->nr_objects && f->objects[i] != object; i++)
		;
	if (object && i == f->nr_objects && i < REPLAY_MOST_OBJECTS)
		f->objects[f->nr_objects++] = object;
}

static void is_about_thread(struct replay_frame *f, u64 address)
{
	struct replay_object *o = address ? replay_object_at(REPLAY_TASK, address) : NULL;
	u64 policy;

	if (!o)
		return;
	is_about(f, o);
	policy = replay_there(o, "saakm_policy");
	if (policy)
		is_about(f, replay_core_object(policy, f->begin.cpu));
}

/* As note_objects() of the recorder. */
static void find_objects(struct replay_frame *f)
{
	const char *arguments = f->function->arguments;
	unsigned int i;

	f->nr_objects = 0;
	is_about(f, replay_rq_object(f->begin.cpu));
	is_about_thread(f, f->begin.current_task);
	for (i = 0; arguments[i]; i++) {
		u64 a = f->begin.arguments[i];

		if (arguments[i] == 't')
			is_about_thread(f, a);
		else if (arguments[i] == 'r')
			is_about(f, replay_rq_object(replay_rq(a)->cpu));
	}
}

static bool effect_is(const struct replay_effect *e, const char *name)
{
	return !strcmp(replay_effects[e->effect].name, name);
}

static void add_effect(struct replay_frame *f, const struct replay_effect *e)
{
	struct replay_effect *more;

	if (f->nr_effects == f->room) {
		f->room = 2 * f->room + 16;
		more = sim_alloc(f->room * sizeof(*more));
		if (f->effects)
			memcpy(more, f->effects, f->nr_effects * sizeof(*more));
		sim_free(f->effects);
		f->effects = more;
	}
	f->effects[f->nr_effects++] = *e;
}

/* What it will do until it ends, and where other calls come in between. */
static void look_ahead(struct replay_frame *f, unsigned long position)
{
	bool after_others = false;
	struct replay_record r;

	for (;;) {
		f->ends_at = position;
		replay_read(&position, &r);
		if (!r.type || r.type == 'z' || (r.type == 'e' && r.end.frame == f->begin.frame))
			break;
		if (r.type == 'b' || r.type == 'e' ||
		    (r.type == 'x' && r.effect.frame != f->begin.frame)) {
			f->interrupted = after_others = true;
		} else if (r.type == 'x') {
			r.effect.after_others = after_others;
			add_effect(f, &r.effect);
			after_others &= replay_is_unseen(&r.effect);
		}
	}
	f->ends_after_others = after_others;
	if (r.type == 'e')
		f->jiffies_at_end = r.end.jiffies;
}

/* Which CPUs it has seen idle, for others come and go at the same time. */
static void set_idle_as_seen(const struct replay_frame *f)
{
	unsigned int i;

	for (i = 0; i < f->nr_effects; i++) {
		const struct replay_effect *e = &f->effects[i];

		if (!effect_is(e, "idle_cpu") && !effect_is(e, "available_idle_cpu"))
			continue;
		if ((int)e->returned)
			cpumask_set_cpu(e->arguments[0], &model_idle_mask);
		else
			cpumask_clear_cpu(e->arguments[0], &model_idle_mask);
	}
}

static void note_suspects(const struct replay_frame *f)
{
	unsigned int i;

	if (f->overlaps || f->jiffies_at_end != f->begin.jiffies)
		suspects[nr_suspects++] = f->begin.frame;
	for (i = 0; i < nr_frames; i++)
		if (frames[i] != f)
			suspects[nr_suspects++] = frames[i]->begin.frame;
	nr_open = nr_suspects;
	for (i = nr_recent; i && i + ARRAY_SIZE(recent) > nr_recent; i--)
		suspects[nr_suspects++] = recent[(i - 1) % ARRAY_SIZE(recent)];
}

static void report(struct replay_frame *f, const char *what)
{
	unsigned int i;
	char name[64];

	if (differs)
		return;
	differs = true;
	differs_in = f->begin.frame;
	note_suspects(f);
	pr_err("call %llu, %s on CPU %llu, at %llu ns%s: %s\n", f->begin.frame, f->function->name,
	       f->begin.cpu, cpu_rq(f->begin.cpu)->clock,
	       f->overlaps ? " (others overlap)" : "", what);
	for (i = 0; f->function->arguments[i] && f->function->arguments[i] != '-'; i++) {
		u64 a = f->begin.arguments[i];
		struct replay_object *o = f->function->arguments[i] == 't' && a ?
			replay_object_at(REPLAY_TASK, a) : NULL;

		if (o)
			pr_err("  argument %u: %s\n", i, replay_object_name(o, name, sizeof(name)));
		else if (f->function->arguments[i] == 'r')
			pr_err("  argument %u: the runqueue of CPU %d\n", i, replay_rq(a)->cpu);
		else
			pr_err("  argument %u: %#llx\n", i, a);
	}
	for (i = 0; i < f->nr_objects; i++)
		replay_show(f->objects[i]);
}

static void go_on(struct replay_frame *f)
{
	struct cpumask idle;

	cpumask_copy(&idle, &model_idle_mask);
	set_idle_as_seen(f);
	jiffies = replay_jiffies(f);
	sim_now = cpu_rq(f->begin.cpu)->clock;
	replay_resume(f);
	cpumask_copy(&model_idle_mask, &idle);
	if (f->done)
		find_objects(f);	/* it may have another policy now */
	if (f->differs)
		report(f, f->difference);
}

static bool may_go_on(const struct replay_frame *f)
{
	return f->function->call && !f->done && !f->differs;
}

static void make_deferred(struct replay_frame *f)
{
	f->deferred = false;
	if (f->function->call)
		go_on(f);
}

/* Others go on: they see what the calls that have not ended have done so far. */
static void make_what_is_seen(void)
{
	unsigned int i;

	for (i = 0; i < nr_frames; i++)
		if (frames[i]->deferred && frames[i]->moved != TO_END &&
		    replay_changes(__ffs(frames[i]->locked)) != frames[i]->changes_before)
			make_deferred(frames[i]);
}

/* It waits for its turns by itself. */
static bool takes_locks(const struct replay_frame *f)
{
	unsigned int i;

	for (i = 0; i < f->nr_effects; i++)
		if (effect_is(&f->effects[i], "raw_spin_rq_lock_nested") ||
		    effect_is(&f->effects[i], "raw_spin_rq_unlock"))
			return true;
	return false;
}

static void begin(unsigned long position, const struct replay_begin *b)
{
	struct replay_frame *f;
	const char *argument;
	unsigned int i;

	if (nr_frames == MOST_FRAMES)
		sim_bad_input(sim_options.program_name, 0, "too many calls have not ended");
	if (!strcmp(replay_calls[b->call].name, "saakm_fork"))
		replay_new_thread(b->arguments[0]);
	make_what_is_seen();
	replay_apply(is_busy);
	f = replay_frame_new();
	f->begin = *b;
	latest = b->frame;
	f->function = &replay_calls[b->call];
	f->function->calls++;
	f->overlaps = nr_frames > 0;
	for (i = 0; i < nr_frames; i++)
		frames[i]->overlaps = true;
	frames[nr_frames++] = f;
	argument = strchr(f->function->arguments, 'r');
	if (argument && f->function->call && f->function->call->context == RQ_LOCKED)
		f->locked = BIT_ULL(replay_rq(b->arguments[argument -
							   f->function->arguments])->cpu);
	find_objects(f);
	look_ahead(f, position);
	f->overlaps |= f->interrupted;
	replay_move(f);
	if (f->moved == PATCHED)
		replay_patch();
	f->interrupted &= f->moved != TO_BEGIN;
	f->deferred = f->interrupted && f->moved != CUT && (f->locked || f->moved == TO_END) &&
		      !takes_locks(f);
	f->changes_before = f->locked ? replay_changes(__ffs(f->locked)) : 0;
	if (f->function->call && !f->deferred && f->moved != TO_END)
		go_on(f);
}

/* Has a call waited for this? */
static void pass(const struct replay_effect *e)
{
	struct rq *rq = replay_rq(e->arguments[0]);
	struct replay_frame *f;
	unsigned int i;

	for (i = 0; i < nr_frames && frames[i]->begin.frame != e->frame; i++)
		;
	if (i == nr_frames)
		return;
	f = frames[i];
	make_what_is_seen();
	if (f->deferred || (f->moved == TO_END && replay_is_unseen(e)))
		return;
	if (!rq) {
		if (f->interrupted && may_go_on(f))
			go_on(f);
		return;
	}
	if (effect_is(e, "raw_spin_rq_unlock")) {
		if (may_go_on(f))
			go_on(f);
		f->locked &= ~BIT_ULL(rq->cpu);
	} else if (effect_is(e, "raw_spin_rq_lock_nested") || effect_is(e, "raw_spin_rq_trylock")) {
		replay_apply(is_busy);
		if (effect_is(e, "raw_spin_rq_lock_nested") || (u8)e->returned)
			f->locked |= BIT_ULL(rq->cpu);
		if (may_go_on(f))
			go_on(f);
	} else if (f->interrupted && may_go_on(f)) {
		go_on(f);
	}
}

/* NULL: it returned what the kernel's did. */
static const char *compare_returned(const struct replay_frame *f, u64 there)
{
	static char text[128];
	u64 here = f->returned;

	if (f->function->returns == '-')
		return NULL;
	if (f->function->returns == 't') {
		struct task_struct *a = replay_task(there), *b = (void *)here;

		snprintf(text, sizeof(text), "the kernel's class says thread %d, this one %d",
			 a ? a->pid : -1, b ? b->pid : -1);
		return a == b ? NULL : text;
	}
	there = f->function->returns == 'b' ? (u8)there : (u32)there;
	here = f->function->returns == 'b' ? (u8)here : (u32)here;
	snprintf(text, sizeof(text), "the kernel's class says %d, this one %d", (int)there,
		 (int)here);
	return there == here ? NULL : text;
}

/*
 * What it has left behind: all runqueues, and what it is about; or of these what others cannot
 * change.
 */
static bool compare_states(struct replay_frame *f, char *text, size_t size)
{
	unsigned int i;
	int cpu;

	for (i = 0; i < f->nr_objects; i++)
		if (!is_busy(f->objects[i]) &&
		    (!f->overlaps || is_locked_by(f, f->objects[i])) &&
		    !replay_compare(f->objects[i], !is_locked_by(f, f->objects[i]), text, size))
			return false;
	if (f->overlaps)
		return true;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		struct replay_object *o = replay_rq_object(cpu);

		if (o && !is_busy(o) && !replay_compare(o, true, text, size)) {
			is_about(f, o);
			return false;
		}
	}
	if (!nr_frames && !replay_compare(replay_globals(), false, text, size)) {
		is_about(f, replay_globals());
		return false;
	}
	states++;
	return true;
}

static const char *judge(struct replay_frame *f, const struct replay_end *e, char *text,
			 size_t size)
{
	const char *what;

	if (!f->done)
		return "the kernel's class has returned, and this one has not";
	what = compare_returned(f, e->returned);
	if (what)
		return what;
	return compare_states(f, text, size) ? NULL : text;
}

static void count_equal(struct replay_frame *f)
{
	if (f->moved) {
		raced++;
		return;
	}
	equal++;
	f->function->equal++;
}

static void end(const struct replay_end *e)
{
	struct replay_frame *f;
	const char *what = NULL;
	char text[256];
	unsigned int i, turns;

	for (i = 0; i < nr_frames && frames[i]->begin.frame != e->frame; i++)
		;
	if (i == nr_frames)
		sim_bad_input(sim_options.program_name, 0, "a call ends that has not begun");
	f = frames[i];
	if (f->deferred)
		make_deferred(f);
	for (turns = 0; f->moved == TO_END && may_go_on(f) && turns <= f->nr_effects; turns++)
		go_on(f);
	if (f->is_cut && may_go_on(f))
		go_on(f);
	make_what_is_seen();
	frames[i] = frames[--nr_frames];
	if (f->interrupted && f->function->call)
		recent[nr_recent++ % ARRAY_SIZE(recent)] = f->begin.frame;
	calls++;
	overlapping += f->overlaps;
	f->function->overlapping += f->overlaps;
	if (!f->function->call)
		skipped++;
	else
		what = judge(f, e, text, sizeof(text));
	if (what)
		report(f, what);
	if (!what && !differs && f->function->call)
		count_equal(f);
	replay_frame_free(f);
}

void replay_until(u64 call)
{
	unsigned long position = replay_reached ?: replay_start;
	struct replay_record r;

	while (!differs && !machine_nr_warnings) {
		replay_reached = position;
		replay_read(&position, &r);
		if (r.type == 'o')
			replay_new_object(&r.object);
		else if (r.type == 'f')
			replay_set_field(&r.field);
		else if (r.type == 'b' && r.begin.frame >= call)
			return;
		else if (r.type == 'b')
			begin(position, &r.begin);
		else if (r.type == 'e')
			end(&r.end);
		else if (r.type == 'x')
			pass(&r.effect);
		else
			break;
	}
	ended = true;
	cut_off = !differs && !machine_nr_warnings && r.type != 'z';
}

/* ---- engine/host.h ---- */

void sim_core_boot(void)
{
	char path[1024];

	if (sscanf(sim_options.program_text, "recording %1023s", path) != 1)
		sim_bad_input(sim_options.program_name, 1, "it does not say: recording PATH");
	model_boot();
	machine_load();
	machine_files_set();
	replay_open(path);
	replay_conduct();
}

void replay_tell(void)
{
	struct sim_output *out = sim_output_open("-");
	const char *comma = "";
	unsigned int i;

	replay_print(out, "{\"asked\": %llu, \"cpus\": %u, \"calls\": %llu, ", replay_asked,
		     nr_cpu_ids, calls);
	replay_print(out, "\"equal\": %llu, \"overlapping\": %llu, ", equal, overlapping);
	replay_print(out, "\"raced\": %llu, \"not_replayed\": %llu, \"cut_off\": %s, ", raced, skipped,
		     cut_off ? "true" : "false");
	replay_print(out, "\"differs\": %s, \"warnings\": %u, \"ended\": %s, ",
		     differs ? "true" : "false", machine_nr_warnings, ended ? "true" : "false");
	replay_print(out, "\"reached\": %lu, \"differs_in\": %lld, ", replay_reached, differs_in);
	replay_print(out, "\"latest\": %llu, \"patching\": %s, ", latest,
		     replay_patching() ? "true" : "false");
	replay_print(out, "\"cut\": %u, \"open\": %u, \"suspects\": [", replay_nr_cut, nr_open);
	for (i = 0; i < nr_suspects; i++)
		replay_print(out, "%s%llu", i ? ", " : "", suspects[i]);
	replay_print(out, "], \"kinds\": {");
	for (i = 0; i < replay_nr_calls; i++) {
		const struct replay_function *f = &replay_calls[i];

		if (!f->calls)
			continue;
		replay_print(out, "%s\"%s\": {\"calls\": %llu, ", comma, f->name, f->calls);
		replay_print(out, "\"equal\": %llu, \"overlapping\": %llu}", f->equal, f->overlapping);
		comma = ", ";
	}
	replay_print(out, "}}\n");
	sim_output_close(out);
}
