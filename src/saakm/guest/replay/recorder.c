// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU's: what Linux's core asks of a class, SaaKM or fair, and what the class answers.
 *
 * Arguments: plan=FILE, out=FILE, calls=N (then the machine is switched off; where the plan says
 * which calls count, these, if they return something, since the one that is the mark). The guest knows
 * nothing of it: no probe is in its code, its time does not go on, a run is the same with and
 * without it.
 *
 * A call of the class that is not made by the class itself is a frame, from the first instruction
 * of the function to the first one after its return, which is known by its address and the stack
 * pointer. Calls within a frame are the class's own business, but for effects: what it makes the
 * core do. An interrupt's calls are frames of their own, and so are those of __schedule() where a
 * call sleeps.
 *
 * Written are, in their order, objects (objects.c), and:
 *	'b' FRAME CALL CPU PREEMPT JIFFIES CURRENT USER ARGUMENTS [ATTRIBUTES]	a frame begins
 *	'x' FRAME EFFECT ARGUMENTS RETURNED JIFFIES 0, or 1 and eight numbers: effect()
 *	'e' FRAME CPU RETURNED JIFFIES						it ends
 *	'z' FRAMES OPEN								the recording ends
 */
#include "recorder.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

EXPORTED int qemu_plugin_version = 4;

#define HARDIRQ_MASK	0x000f0000
#define MOST_FRAMES	64

/* A call, or an effect that counts when it is over. */
struct frame {
	const struct function *function;
	uint64_t number;	/* an effect has that of the call */
	uint64_t sp, returns_to;
	unsigned int hardirq;
	uint64_t arguments[MOST_ARGUMENTS];
};

static struct frame frames[MOST_FRAMES];
static unsigned int nr_frames;
static uint64_t most_calls = ~0ull, count, counted;
static bool armed, over, marked;

/* The innermost frame that a call with this stack pointer is within, or NULL. */
static struct frame *frame_around(uint64_t sp, unsigned int hardirq)
{
	struct frame *found = NULL;

	for (unsigned int i = 0; i < nr_frames; i++) {
		struct frame *f = &frames[i];

		if (f->sp >> stack_bits == sp >> stack_bits && f->sp > sp &&
		    f->hardirq == hardirq && (!found || f->sp < found->sp))
			found = f;
	}
	return found;
}

/* Of the class as a whole: what calls see of each other. */
static void note_all(void)
{
	note_globals();
	note_runqueues();
	if (nr_frames > 1)		/* this one, and another */
		note_all_cores();
}

static void note_objects(const struct frame *f, unsigned int cpu)
{
	uint64_t current = read_number(symbol_hot + per_cpu(cpu) + offset_of(HOT, "current"), 8);

	note_all();
	note_task(current);
	for (int i = 0; f->function->arguments[i] != '-' && f->function->arguments[i]; i++) {
		uint64_t a = f->arguments[i];

		if (f->function->arguments[i] == 't' || f->function->arguments[i] == 'e') {
			note_task(a);
			note_core(a, cpu);
		} else if (strchr("rc", f->function->arguments[i])) {
			uint64_t curr = read_number(a + offset_of(RQ, "curr"), 8);

			note_task(curr);
			if (curr != current)
				note_core(curr, cpu);
		}
	}
	note_core(current, cpu);
}

static void put_arguments(const struct frame *f)
{
	for (int i = 0; i < MOST_ARGUMENTS; i++)
		put(f->arguments[i]);
}

/* What a function that is given a struct sched_attr reads there. */
static void put_attributes(const struct frame *f)
{
	const char *attributes = strchr(f->function->arguments, 'a');

	for (int i = 0; attributes && i < 8; i++)
		put(read_number(f->arguments[attributes - f->function->arguments] + 8 * i, 8));
}

/* Has the interrupt that runs, if one does, come in user mode? */
static bool interrupts_user(unsigned int cpu)
{
	uint64_t regs = read_number(symbol_irq_regs + per_cpu(cpu), 8);

	return regs && read_number(regs + offset_of(HOT, "regs_cs"), 8) & 3;
}

static void begin(const struct frame *f, unsigned int cpu, unsigned int preempt)
{
	note_objects(f, cpu);
	put_byte('b');
	put(f->number);
	put(f->function->number);
	put(cpu);
	put(preempt);
	put(read_number(symbol_jiffies, 8));
	put(read_number(symbol_hot + per_cpu(cpu) + offset_of(HOT, "current"), 8));
	put(interrupts_user(cpu));
	put_arguments(f);
	put_attributes(f);
}

/* With what it has made of the runqueue that it is about, if there is one. */
static void effect(const struct frame *f, uint64_t returned)
{
	static const char * const after[] = {
		"clock", "clock_task", "clock_flags", "nr_running", "server_bits",
		"server_runtime", "server_queued",
	};
	uint64_t rq = runqueue_at(f->arguments[0]);

	put_byte('x');
	put(f->number);
	put(f->function->number);
	put_arguments(f);
	put(returned);
	put(read_number(symbol_jiffies, 8));
	put(rq != 0);
	if (!rq)
		return;
	for (size_t i = 0; i < sizeof(after) / sizeof(*after); i++)
		put(read_field(RQ, rq, after[i]));
	put(read_field(TASK, read_field(RQ, rq, "curr"), "thread_flags"));
}

static void push(const struct frame *f)
{
	if (nr_frames == MOST_FRAMES) {
		fprintf(stderr, "replay: too many calls at once\n");
		abort();
	}
	frames[nr_frames++] = *f;
}

/* Fair's functions are told parts: of a runqueue, of a thread. */
static void name_owners(struct frame *f)
{
	const char *arguments = f->function->arguments;

	for (int i = 0; arguments[i]; i++)
		if (arguments[i] == 'c')
			f->arguments[i] = runqueue_at(f->arguments[i]);
		else if (arguments[i] == 'e')
			f->arguments[i] -= offset_of(HOT, "entity");
}

/* Is it enough? */
static void count_call(const struct function *function, uint64_t returned)
{
	marked |= function->is_mark;
	if (!counting ? count < most_calls :
	    !function->is_counted || !marked || !returned || ++counted < most_calls)
		return;
	if (over)
		return;
	over = true;
	kill(getpid(), SIGTERM);	/* the machine is switched off */
}

static void enter(unsigned int told, void *data)
{
	const struct function *function = data;
	static const int registers[MOST_ARGUMENTS] = { RDI, RSI, RDX, RCX, R8 };
	struct frame *around, f = { .function = function };
	unsigned int preempt, cpu;

	if (over || (!armed && *first_call && strcmp(function->name, first_call)))
		return;
	if (function->is_effect && !nr_frames)
		return;
	armed = true;
	cpu = this_cpu(told);
	f.sp = get_register(cpu, RSP);
	preempt = read_number(symbol_hot + per_cpu(cpu) + offset_of(HOT, "preempt_count"), 4);
	f.hardirq = preempt & HARDIRQ_MASK;
	around = frame_around(f.sp, f.hardirq);
	f.returns_to = read_number(f.sp, 8);
	if (function->is_boundary) {
		if (around)
			push(&f);
		return;
	}
	if (around && around->function->is_boundary)
		around = NULL;
	if (!!around != function->is_effect || (around && around->function->is_opaque))
		return;
	for (int i = 0; i < MOST_ARGUMENTS; i++)
		f.arguments[i] = get_register(cpu, registers[i]);
	name_owners(&f);
	f.number = around ? around->number : count++;
	if (function->is_effect && !function->is_opaque) {
		effect(&f, 0);
		return;
	}
	push(&f);
	if (!function->is_effect)
		begin(&f, cpu, preempt);
}

static void leave(const struct frame *f, unsigned int cpu)
{
	uint64_t returned = get_register(cpu, RAX);

	if (f->function->is_boundary)
		return;
	if (f->function->is_effect) {
		if (f->function->is_lock)	/* what others did while it waited */
			note_all();
		effect(f, returned);
		return;
	}
	note_objects(f, cpu);
	if (f->function->returns == 't')
		note_task(returned);
	put_byte('e');
	put(f->number);
	put(cpu);
	put(returned);
	put(read_number(symbol_jiffies, 8));
	count_call(f->function, returned);
}

/* A block of code begins while there are frames. */
static void block(unsigned int cpu, void *data)
{
	uint64_t sp = 0;

	for (unsigned int i = 0; i < nr_frames; i++) {
		if (frames[i].returns_to != (uint64_t)data)
			continue;
		sp = sp ?: get_register(cpu, RSP);
		if (sp == frames[i].sp + 8) {
			leave(&frames[i], this_cpu(cpu));
			frames[i] = frames[--nr_frames];
			block(cpu, data);	/* several may end here */
			return;
		}
	}
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t address = qemu_plugin_tb_vaddr(tb);

	(void)id;
	if (!(address & KERNEL))
		return;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, block, QEMU_PLUGIN_CB_R_REGS, (void *)address);
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		struct function *f = function_at(qemu_plugin_insn_vaddr(insn));

		if (f)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, enter,
							       QEMU_PLUGIN_CB_R_REGS, f);
	}
}

static void started(qemu_plugin_id_t id, unsigned int cpu)
{
	(void)id;
	find_registers(cpu);
}

static void ended(qemu_plugin_id_t id, void *data)
{
	(void)id, (void)data;
	put_byte('z');
	put(count);
	put(nr_frames);
	close_out();
}

EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info,
				 int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "plan=", 5))
			read_plan(argv[i] + 5);
		else if (!strncmp(argv[i], "out=", 4))
			open_out(argv[i] + 4);
		else if (!strncmp(argv[i], "calls=", 6))
			most_calls = strtoull(argv[i] + 6, NULL, 10);
	}
	put_bytes(plan_text, plan_length);
	put_byte(0);
	qemu_plugin_register_vcpu_init_cb(id, started);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
