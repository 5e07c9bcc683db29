/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel around the scheduler is here: messages, modules, files, interrupts, workers.
 * Beside what the kernel's headers declare of it, its parts and the rest of sim/core/ call this.
 */
#ifndef _SIM_CORE_MACHINE_H
#define _SIM_CORE_MACHINE_H

#include <linux/kernel.h>
#include <linux/sched.h>
#include <sim/host.h>

struct miscdevice;

/* ---- messages.c ---- */

/* Texts of WARN(), BUG(), panic() and the like of this run, in order; the first so many. */
#define MACHINE_MAX_WARNINGS	100
extern const char *machine_warnings[MACHINE_MAX_WARNINGS];
extern unsigned int machine_nr_warnings;	/* all that there were */

/* Another one: to the log as well, and the exit status will be 1. */
__printf(1, 2) void machine_warn(const char *fmt, ...);

/* At the end: of what there was often, how often. */
void machine_warnings_end(void);

/* "handler schedule of policy rr, thread worker (12) on CPU 3": what runs now. Returns @buf. */
char *machine_describe(char *buf, size_t size);
/* "; CPU 2 is in handler tick of policy rr": of all CPUs that are in one. Returns @buf. */
char *machine_describe_handlers(char *buf, size_t size);

/* A timer or the like calls @function, which may be a module's: who comes again and again? */
static inline void machine_calls(const void *function)
{
	extern const void *machine_called;
	extern u64 machine_called_ns;

	machine_called = function;
	machine_called_ns = sim_now;
}

/* ---- modules.c ---- */

/*
 * Initcalls by level, then parameters (options POLICY.NAME=V) and the init functions of all
 * modules, in the order in which they were linked. In process context; may sleep.
 */
void machine_load(void);
/* As a write to /sys/module/MODULE/parameters/NAME: 0 or -errno. */
int machine_set_param(const char *module_name, const char *name, const char *value);
/* rmmod NAME: 0 or -errno. Likewise. */
int machine_unload(const char *name);
/* insmod of what has been unloaded: 0 or -errno. Likewise. */
int machine_reload(const char *name);
/* All that are loaded, the last one first: at the end of a run, when policies are unused. */
void machine_unload_rest(void);

/* ---- files.c ---- */

/*
 * Files of sysfs, procfs and debugfs by their path: "/proc/saakm/policies"; without a slash in
 * front it is one below /sys/kernel/saakm. Process context. Length or -errno; @buf: with a NUL
 * behind.
 */
ssize_t machine_file_read(const char *path, char *buf, size_t size);
ssize_t machine_file_write(const char *path, const char *text, size_t length);
/*
 * Options set=. The first one writes to the files that are there before modules are loaded, and is
 * called by machine_load(); the second one to the others: what is not there now is bad input, as is
 * what the kernel does not take.
 */
void machine_files_set_early(void);
void machine_files_set(void);
/* Options read=: on standard error, at the end. */
void machine_files_print(void);

/* ---- devices.c ---- */

/* What has been registered for /dev under that name, or NULL. */
struct miscdevice *machine_device(const char *name);

/*
 * ---- irq_work.c, timers.c, softirq.c: a CPU has gone offline; what waits there goes elsewhere
 * ----
 */

void machine_cpu_dying(int cpu);	/* on that CPU, interrupts off: its irq_work is run */
void machine_softirqs_dying(void);	/* likewise: none comes again by itself */
void machine_cpu_dead(int cpu);		/* on another one: timers move */
void machine_callbacks_dead(int cpu);	/* likewise: RCU's */

/* ---- irq_work.c: interrupts that CPUs have sent themselves, and take once they are on ---- */

extern unsigned int machine_nr_raised;	/* CPUs that have one to take */
void machine_self_interrupt(void);	/* take that of this CPU; interrupts are on */

/* How long an IPI takes. */
#define MACHINE_IPI_NS	1000

#endif /* _SIM_CORE_MACHINE_H */
