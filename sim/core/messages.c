// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's log, on standard error: "[    1.234567] text". Warnings and worse say what ran, and
 * make the simulator's exit status 1.
 */
#include <linux/bug.h>
#include <linux/panic.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>
#include <linux/time.h>

#include "../include/kernel/sched/sched.h"
#include "saakm/internal.h"
#include "saakm/context.h"
#include "machine.h"

#define LINE_SIZE	2048

const char *machine_warnings[MACHINE_MAX_WARNINGS];
unsigned int machine_nr_warnings;

/* ---- printk ---- */

static bool mid_line;

static void begin_line(void)
{
	char stamp[32];
	u64 us = div_u64(sim_now, NSEC_PER_USEC);
	u32 rest = do_div(us, USEC_PER_SEC);

	sim_error_write(stamp, scnprintf(stamp, sizeof(stamp), "[%5llu.%06u] ", us, rest));
}

/* Each line of @text gets a stamp; one without an end may be continued by KERN_CONT. */
static void write_lines(const char *text, bool continues)
{
	if (mid_line && !continues) {
		sim_error_write("\n", 1);
		mid_line = false;
	}
	while (*text) {
		const char *end = strchrnul(text, '\n');

		if (!mid_line)
			begin_line();
		sim_error_write(text, end - text + (*end == '\n'));
		mid_line = *end != '\n';
		text = *end ? end + 1 : end;
	}
}

int vprintk(const char *fmt, va_list args)
{
	static char text[LINE_SIZE];
	const char *begin = text;
	bool continues = false;
	int length = vscnprintf(text, sizeof(text), fmt, args);

	while (begin[0] == KERN_SOH[0] && begin[1]) {
		continues = begin[1] == 'c';
		begin += 2;
	}
	write_lines(begin, continues);
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

/* The handler that a policy runs on this CPU, and of which policy. */
static int describe_handler(char *buf, size_t size)
{
	const struct saakm_context *context = raw_cpu_ptr(&saakm_context);
	struct saakm_policy *policy;

	if (context->handler == SAAKM_H_none || context->handler >= SAAKM_NR_HANDLERS)
		return 0;
	policy = saakm_is_core_event(context->handler) ? (struct saakm_policy *)context->subject :
		((const struct task_struct *)context->subject)->saakm.policy;
	return scnprintf(buf, size, "handler %s of policy %s, ",
			 saakm_handler_names[context->handler],
			 policy && policy->own ? policy->own->name : "(none)");
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
	n = describe_handler(buf, size);
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

/* One line for the log and the result: what, and where. */
static void report(const char *what, const char *text)
{
	static char line[LINE_SIZE];
	char who[256];

	snprintf(line, sizeof(line), "%s%s [%s]", what, text, machine_describe(who, sizeof(who)));
	printk(KERN_WARNING "%s\n", line);
	dump_stack();
	keep_warning(line);
}

void machine_warn(const char *fmt, ...)
{
	static char text[LINE_SIZE / 2];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
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
	va_list args;
	int n;

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
	report("", text);
}

void sim_bug(const char *file, int line, const char *condition)
{
	char text[512];

	snprintf(text, sizeof(text), "BUG at %s:%d: %s", base_name(file), line, condition);
	report("", text);
	sim_die();
}

void panic(const char *fmt, ...)
{
	static char text[LINE_SIZE / 2];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	report("panic: ", text);
	sim_die();
}

void sim_sleeps_in_atomic(const char *file, int line)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "sleeps in atomic context at %s:%d: preemption count %x, interrupts %s, RCU %u",
		 base_name(file), line, preempt_count(), irqs_disabled() ? "off" : "on",
		 sim_context.rcu);
	report("", text);
}

void sim_preemptible(const char *file, int line)
{
	char text[128];

	snprintf(text, sizeof(text), "per-CPU data of this CPU at %s:%d, where it may be preempted",
		 base_name(file), line);
	report("", text);
}

/* lib/list_debug.c */
void sim_list_damaged(const struct list_head *entry, const char *what)
{
	char text[128];

	snprintf(text, sizeof(text), "a list is damaged where an entry is %s: it is %s list", what,
		 entry->next ? "in a" : "in no");
	report("", text);
	sim_die();
}

/* ---- what the engine finds ---- */

void sim_core_left_context(int cpu, const void *fn)
{
	struct sim_context *context = &sim_context;
	char text[256];

	snprintf(text, sizeof(text),
		 "event %ps has left preemption count %x, interrupts %s, RCU %u, %u spinlocks%s",
		 fn, context->preempt, context->irqs_off ? "off" : "on", context->rcu, context->locks,
		 context->task ? ", as another thread" : "");
	report("", text);
	context->preempt = context->irqs_off = context->rcu = context->locks = 0;
	context->task = NULL;
}

void sim_core_loops(const struct sim_event *event, unsigned int count)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "%u events at one instant: a loop, in which %ps comes again and again", count,
		 event->fn);
	report("", text);
}

void sim_core_hangs(void)
{
	report("", "an event that does not end: a loop without end");
}

void sim_core_deadlock(int cpu, void *task, const char *what, u64 ns)
{
	char text[256];

	if (ns < NSEC_PER_SEC / 10)
		return;			/* at the end of the run somebody may be waiting */
	snprintf(text, sizeof(text), "CPU %d has waited for %llu us for %s, in vain", cpu,
		 div_u64(ns, NSEC_PER_USEC), what);
	report("", text);
}
