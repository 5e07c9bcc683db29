// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's log, on standard error: "[    1.234567] text". Warnings and worse say what ran, and
 * make the simulator's exit status 1.
 */
#include <linux/bug.h>
#include <linux/module.h>
#include <linux/panic.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>
#include <linux/time.h>

#include "../include/kernel/sched/sched.h"
#include "saakm/internal.h"
#include "saakm/context.h"
#include "../engine/result.h"
#include <sim/handler.h>
#include "machine.h"

#define LINE_SIZE	2048

/* Of those that are in a handler so many are named. */
#define MOST_CPUS	3

/* So long a handler may take, as by handler_limit_ms of the class. */
#define MAX_HANDLER_NS	NSEC_PER_SEC

/* A loop must not fill the disk. */
#define LOG_SIZE	(20UL << 20)

const char *machine_warnings[MACHINE_MAX_WARNINGS];
unsigned int machine_nr_warnings;

/* ---- printk ---- */

static bool mid_line;
static size_t log_length;

static void keep_warning(const char *text);

static void write_log(const char *text, size_t length)
{
	static const char end[] = "\nthe log ends here: it is as long as it may be\n";

	if (log_length > LOG_SIZE)
		return;
	log_length += length;
	if (log_length > LOG_SIZE) {
		text = end;
		length = sizeof(end) - 1;
	}
	sim_error_write(text, length);
}

static void begin_line(void)
{
	char stamp[32];
	u64 us = div_u64(sim_now, NSEC_PER_USEC);
	u32 rest = do_div(us, USEC_PER_SEC);

	write_log(stamp, scnprintf(stamp, sizeof(stamp), "[%5llu.%06u] ", us, rest));
}

/* Each line of @text gets a stamp; one without an end may be continued by KERN_CONT. */
static void write_lines(const char *text, bool continues)
{
	if (mid_line && !continues) {
		write_log("\n", 1);
		mid_line = false;
	}
	while (*text) {
		const char *end = strchrnul(text, '\n');

		if (!mid_line)
			begin_line();
		write_log(text, end - text + (*end == '\n'));
		mid_line = *end != '\n';
		text = *end ? end + 1 : end;
	}
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/*
 * What the class has to say of a policy is said of the run, too; the lines that follow explain it.
 * An ejection has a place of its own in the result. A warning alone is no fault.
 */
static void note_of_class(char level, char *text)
{
	char *end = strchrnul(text, '\n');

	if (level > KERN_WARNING[1] || !begins(text, "saakm: "))
		return;
	text += strlen("saakm: ");
	*end = 0;
	if (level == KERN_WARNING[1])
		sim_warning(text);
	else if (begins(text, "module ") ||
		 (begins(text, "policy ") &&
		  !begins(strchrnul(text + strlen("policy "), ' '), " ejected (")))
		keep_warning(text);
}

int vprintk(const char *fmt, va_list args)
{
	static char text[LINE_SIZE];
	char *begin = text;
	char level = KERN_NOTICE[1];
	int length = vscnprintf(text, sizeof(text), fmt, args);

	for (; begin[0] == KERN_SOH[0] && begin[1]; begin += 2)
		level = begin[1];
	write_lines(begin, level == 'c');
	if (level <= KERN_WARNING[1])
		note_of_class(level, begin);
	return length;
}

int _printk(const char *fmt, ...)
{
	va_list args;
	int length;

	va_start(args, fmt);
	length = vprintk(fmt, args);
	va_end(args);
	return length;
}

/* lib/ratelimit.c */
int ___ratelimit(struct ratelimit_state *state, const char *function)
{
	if (!state->interval)
		return 1;
	if (!state->begin)
		state->begin = jiffies;
	if (time_is_before_jiffies(state->begin + state->interval)) {
		if (state->missed)
			printk(KERN_WARNING "%s: %d callbacks suppressed\n", function,
			       state->missed);
		state->missed = state->printed = 0;
		state->begin = jiffies;
	}
	if (state->burst > state->printed) {
		state->printed++;
		return 1;
	}
	state->missed++;
	return 0;
}

/* ---- who runs ---- */

/* The handler that a policy runs on @cpu, and of which policy. */
static enum saakm_handler handler_on(int cpu, const struct saakm_policy **policy)
{
	const struct saakm_context *context;

	*policy = NULL;
	if (cpu < 0)
		return SAAKM_H_none;
	context = per_cpu_ptr(&saakm_context, cpu);
	if (context->handler == SAAKM_H_none || context->handler >= SAAKM_NR_HANDLERS)
		return SAAKM_H_none;
	*policy = saakm_is_core_event(context->handler) ? context->subject :
		((const struct task_struct *)context->subject)->saakm.policy;
	return context->handler;
}

static enum saakm_handler running_handler(const struct saakm_policy **policy)
{
	return handler_on(sim_context.cpu, policy);
}

static int describe_handler(char *buf, size_t size, int cpu)
{
	const struct saakm_policy *policy;
	enum saakm_handler handler = handler_on(cpu, &policy);

	if (handler == SAAKM_H_none)
		return 0;
	return scnprintf(buf, size, "handler %s of policy %s, ", saakm_handler_names[handler],
			 policy && policy->own ? policy->own->name : "(none)");
}

char *machine_describe_handlers(char *buf, size_t size)
{
	int cpu, n = 0, there = 0;

	*buf = 0;
	for_each_possible_cpu(cpu) {
		int length = scnprintf(buf + n, size - n, "; CPU %d is in ", cpu);
		int said = describe_handler(buf + n + length, size - n - length, cpu);

		if (said && ++there <= MOST_CPUS)
			n += length + said - strlen(", ");
		buf[n] = 0;
	}
	if (there > MOST_CPUS)
		scnprintf(buf + n, size - n, "; and %d CPUs more", there - MOST_CPUS);
	return buf;
}

/*
 * Of the functions on this stack the first one that a module has: init or exit, or what a timer,
 * work or thread has called. It is the same whatever the compiler has inlined into it.
 */
__attribute__((no_sanitize("address", "undefined")))
static const void *first_of_module(struct module **module)
{
	const void * const *frame = sim_struck.frame ?: __builtin_frame_address(0);
	const void *at = sim_struck.at, *found = NULL;
	struct module *owner;

	*module = NULL;
	for (;;) {
		owner = at ? __module_address((unsigned long)at) : NULL;
		if (owner) {
			*module = owner;
			found = at;
		}
		if ((unsigned long)frame % sizeof(*frame) || !sim_on_stack(frame) ||
		    !sim_on_stack(frame + 1))
			return found;
		/* Who has called may end with that call. */
		at = frame[1] - 1;
		if ((const void *)frame[0] <= (const void *)frame)
			frame = NULL;
		else
			frame = frame[0];
	}
}

static int describe_function(char *buf, size_t size)
{
	struct module *module;
	const void *function = first_of_module(&module);
	const char *name = function ? sim_symbol(function, NULL) : NULL;

	if (!name)
		return 0;
	/* A part that the compiler has put elsewhere has a name with a dot. */
	return scnprintf(buf, size, "function %.*s of module %s, ",
			 (int)(strchrnul(name, '.') - name), name, module->name);
}

char *machine_describe(char *buf, size_t size)
{
	struct task_struct *p;
	int n = 0;

	*buf = 0;
	if (sim_context.cpu < 0) {
		scnprintf(buf, size, "between events");
		return buf;
	}
	n = describe_handler(buf, size, sim_context.cpu) ?: describe_function(buf, size);
	p = current;
	if (p)
		n += scnprintf(buf + n, size - n, "thread %s (%d), ", p->comm, p->pid);
	if (in_hardirq())
		n += scnprintf(buf + n, size - n, "in an interrupt, ");
	else if (in_serving_softirq())
		n += scnprintf(buf + n, size - n, "in a softirq, ");
	scnprintf(buf + n, size - n, "CPU %d", sim_context.cpu);
	return buf;
}

/* ---- warnings ---- */

static void keep_warning(const char *text)
{
	char *copy;
	size_t n = strlen(text);

	sim_misbehaved();
	if (machine_nr_warnings++ >= MACHINE_MAX_WARNINGS)
		return;
	copy = sim_alloc(n + 1);
	memcpy(copy, text, n);
	machine_warnings[machine_nr_warnings - 1] = copy;
}

static void print_function(const char *name)
{
	if (!strcmp(name, "dump_stack") || !strcmp(name, "report"))
		return;
	printk(KERN_WARNING "  %s\n", name);
}

void dump_stack(void)
{
	sim_print_stack(print_function);
}

/*
 * ---- how often: what goes wrong in a loop does so millions of times ----
 */

#define MAX_COMPLAINTS	256
#define MAX_EQUAL	10

struct complaint {
	const char			*file;	/* or format: where it comes from */
	int				line;
	enum saakm_handler		handler;
	const struct saakm_policy	*policy;
	u64				count;
	char				*first;	/* its text */
};

static struct complaint complaints[MAX_COMPLAINTS];
static unsigned int nr_complaints;
static bool hangs;			/* an event does not end */

static bool same_complaint(const struct complaint *a, const struct complaint *b)
{
	return a->file == b->file && a->line == b->line && a->handler == b->handler &&
	       a->policy == b->policy;
}

/* NULL: there were enough of it. What finds no room in the table is one with its last entry. */
static struct complaint *complain(const char *file, int line)
{
	struct complaint this = { .file = file, .line = line }, *known = complaints;

	this.handler = running_handler(&this.policy);
	while (known < complaints + nr_complaints && !same_complaint(known, &this))
		known++;
	if (known == complaints + MAX_COMPLAINTS)
		known--;
	else if (known == complaints + nr_complaints)
		complaints[nr_complaints++] = this;
	return known->count++ < MAX_EQUAL ? known : NULL;
}

static void remember(struct complaint *complaint, const char *text)
{
	size_t size = strlen(text) + 1;

	if (!complaint->first)
		complaint->first = memcpy(sim_alloc(size), text, size);
}

void machine_warnings_end(void)
{
	const struct complaint *complaint;
	static char text[LINE_SIZE];

	for (complaint = complaints; complaint < complaints + nr_complaints; complaint++) {
		if (complaint->count <= MAX_EQUAL)
			continue;
		if (hangs)		/* the host's speed says how many */
			snprintf(text, sizeof(text), "and more: %s", complaint->first);
		else
			snprintf(text, sizeof(text), "and %llu more: %s",
				 complaint->count - MAX_EQUAL, complaint->first);
		printk(KERN_WARNING "%s\n", text);
		keep_warning(text);
	}
	nr_complaints = 0;
}

/* One line for the log and the result: what, and where. */
static void report(struct complaint *complaint, const char *text)
{
	static char line[LINE_SIZE];
	char who[256];

	snprintf(line, sizeof(line), "%s [%s]", text, machine_describe(who, sizeof(who)));
	remember(complaint, line);
	printk(KERN_WARNING "%s\n", line);
	dump_stack();
	keep_warning(line);
}

void machine_warn(const char *fmt, ...)
{
	static char text[LINE_SIZE / 2];
	struct complaint *complaint = complain(fmt, 0);
	va_list args;

	if (!complaint)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	remember(complaint, text);
	printk(KERN_WARNING "%s\n", text);
	keep_warning(text);
}

static const char *base_name(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

void sim_warn(const char *file, int line, const char *condition, const char *fmt, ...)
{
	static char text[LINE_SIZE / 2];
	struct complaint *complaint = complain(file, line);
	va_list args;
	int n;

	if (!complaint)
		return;
	n = scnprintf(text, sizeof(text), "WARN at %s:%d: ", base_name(file), line);
	if (!strcmp(fmt, " ")) {
		scnprintf(text + n, sizeof(text) - n, "%s", condition);
	} else {
		va_start(args, fmt);
		n += vscnprintf(text + n, sizeof(text) - n, fmt, args);
		va_end(args);
		while (text[n - 1] == '\n')
			text[--n] = 0;
	}
	report(complaint, text);
}

/* The last one: the run ends with it. */
static void report_end(const char *text)
{
	static struct complaint last;

	report(&last, text);
}

void sim_bug(const char *file, int line, const char *condition)
{
	char text[512];

	snprintf(text, sizeof(text), "BUG at %s:%d: %s", base_name(file), line, condition);
	report_end(text);
	sim_die();
}

void panic(const char *fmt, ...)
{
	static char text[LINE_SIZE / 2];
	va_list args;
	int n = scnprintf(text, sizeof(text), "panic: ");

	va_start(args, fmt);
	vsnprintf(text + n, sizeof(text) - n, fmt, args);
	va_end(args);
	report_end(text);
	sim_die();
}

void sim_sleeps_in_atomic(const char *file, int line)
{
	struct complaint *complaint = complain(file, line);
	char text[256];

	if (!complaint)
		return;
	snprintf(text, sizeof(text),
		 "sleeps in atomic context at %s:%d: preemption count %x, interrupts %s, RCU %u",
		 base_name(file), line, preempt_count(), irqs_disabled() ? "off" : "on",
		 sim_context.rcu);
	report(complaint, text);
}

void sim_preemptible(const char *file, int line)
{
	struct complaint *complaint = complain(file, line);
	char text[128];

	if (!complaint)
		return;
	snprintf(text, sizeof(text), "per-CPU data of this CPU at %s:%d, where it may be preempted",
		 base_name(file), line);
	report(complaint, text);
}

/* The class's watchdog looks at ticks, of which there are none where each CPU is in a handler. */
static void check_time(enum saakm_handler handler)
{
	u64 ns = sim_now - sim_context.began;
	struct complaint *complaint;
	char text[256];

	if (ns < MAX_HANDLER_NS)
		return;
	complaint = complain(__FILE__, __LINE__);
	if (!complaint)
		return;
	snprintf(text, sizeof(text), "%s has taken %llu us, while its CPU did nothing else",
		 saakm_handler_names[handler], div_u64(ns, NSEC_PER_USEC));
	report(complaint, text);
}

/*
 * Interrupts of what waits without a runqueue lock the class looks after; and the one that ends may
 * not be the one that has begun last.
 */
void sim_handler_left(void)
{
	struct sim_context *context = &sim_context;
	struct complaint *complaint;
	unsigned int counts = context->counts;
	const struct saakm_policy *policy;
	enum saakm_handler handler = running_handler(&policy);
	char text[256];

	if (handler != context->handler || saakm_is_balancing(handler))
		return;
	check_time(handler);
	if (sim_counts() == counts)
		return;
	complaint = complain(__FILE__, __LINE__);
	if (complaint) {
		snprintf(text, sizeof(text),
			 "%s has left preemption count %x, interrupts %s, RCU %u; they were %x, %s, %u",
			 saakm_handler_names[handler], context->preempt,
			 context->irqs_off ? "off" : "on", context->rcu, counts & 0xfffff,
			 counts >> 20 & 0xf ? "off" : "on", counts >> 24);
		report(complaint, text);
	}
	context->preempt = counts & 0xfffff;
	context->irqs_off = counts >> 20 & 0xf;
	context->rcu = counts >> 24;
}

/* lib/list_debug.c */
void sim_list_damaged(const struct list_head *entry, const char *what)
{
	char text[128];

	snprintf(text, sizeof(text), "a list is damaged where an entry is %s: it is %s list", what,
		 entry->next ? "in a" : "in no");
	report_end(text);
	sim_die();
}

/* ---- what the engine finds ---- */

static void describe_left(char *text, size_t size, const void *fn)
{
	const struct sim_context *context = &sim_context;

	snprintf(text, size,
		 "event %ps has left preemption count %x, interrupts %s, RCU %u, %u spinlocks%s",
		 fn, context->preempt, context->irqs_off ? "off" : "on", context->rcu, context->locks,
		 context->task ? ", as another thread" : "");
}

void sim_core_left_context(int cpu, const void *fn)
{
	struct sim_context *context = &sim_context;
	struct complaint *complaint = complain(fn, 0);
	char text[256];

	if (complaint) {
		describe_left(text, sizeof(text), fn);
		report(complaint, text);
	}
	context->preempt = context->irqs_off = context->rcu = context->locks = 0;
	context->task = NULL;
}

const void *machine_called;
u64 machine_called_ns;

void sim_core_loops(const struct sim_event *event, unsigned int count)
{
	const void *function = machine_called_ns == sim_now ? machine_called : NULL;
	struct module *module = __module_address((unsigned long)function);
	char text[256];

	if (module)
		snprintf(text, sizeof(text),
			 "%u events at one instant: a loop, in which function %ps of module %s is called again and again",
			 count, function, module->name);
	else
		snprintf(text, sizeof(text),
			 "%u events at one instant: a loop, in which %ps comes again and again",
			 count, event->fn);
	report_end(text);
}

void sim_core_hangs(void)
{
	hangs = true;
	report_end("an event that does not end: a loop without end");
}

void sim_core_waits(void)
{
	hangs = true;
	report_end("an event that does not end: the agent's program waits, and must not but in PARK");
}

void sim_core_stuck(sim_u64 ns, sim_u64 pauses)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "code that does not end: it has delayed for %llu us, in %llu steps",
		 div_u64(ns, NSEC_PER_USEC), pauses);
	report_end(text);
}

void sim_core_out_of_memory(sim_u64 held, bool by_host)
{
	char text[128];

	snprintf(text, sizeof(text), "no memory left for kmalloc(): %llu MiB are in use, and %s",
		 held >> 20, by_host ? "the host has no more" : "a run may have no more");
	report_end(text);
}

void sim_core_deadlock(int cpu, void *task, const char *what, u64 ns)
{
	struct complaint *complaint;
	char text[256];

	if (ns < NSEC_PER_SEC / 10)
		return;			/* at the end of the run somebody may be waiting */
	complaint = complain(what, 0);
	if (!complaint)
		return;
	snprintf(text, sizeof(text), "CPU %d has waited for %llu us for %s, in vain", cpu,
		 div_u64(ns, NSEC_PER_USEC), what);
	report(complaint, text);
}
