/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of sim/engine/ have in common. Host side: libc may be used. */
#ifndef _SIM_ENGINE_H
#define _SIM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "host.h"

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ASAN 1
#endif
#endif

/* queue.c */
/* A position of events that wait for their CPU: loop.c */
#define SIM_DEFERRED	(~0U)

struct sim_event *sim_queue_first(void);
/* Take out the first one, unless it is later than @limit: it is now, then. */
struct sim_event *sim_queue_pop(sim_u64 limit);
unsigned int sim_queue_length(void);
/* Call @fn for each, in no order; it may change what has nothing to do with the order. */
void sim_queue_each(void (*fn)(struct sim_event *event, void *arg), void *arg);

/* output.c: standard output, or where that was before it became another's */
extern int sim_result_fd;

/* loop.c */
extern bool sim_booted;
void sim_run(void);
void sim_loop(void);
void sim_undefer(struct sim_event *event);
/* Is @address what the strand that runs would use next, were its stack larger? */
bool sim_below_stack(const void *address);

/* strand.c: stacks, and the switch between them */
struct sim_stack {
	void		*low;		/* of its memory; below is what SIM_STACK_GUARD says */
	size_t		size;
	void		*pointer;	/* where it goes on, while it does not run */
	void		*fake;		/* ASan's */
};

/* A stack that begins with @fn, which must not return. */
void sim_stack_make(struct sim_stack *stack, void (*fn)(void));
/* So many bytes below it may not be accessed: a large variable does not reach further. */
#define SIM_STACK_GUARD	(256 * 1024UL)
/* Go on upon @to, and come back when somebody switches to @from. */
void sim_stack_switch(struct sim_stack *from, struct sim_stack *to);
/* To be called first by a stack's function. */
void sim_stack_begins(void);

/* main.c: what main() is of a program that is the simulator alone */
int sim_main(int argc, char **argv);

/* options.c */
void sim_options_parse(int argc, char **argv);

/* signals.c */
void sim_signals_init(void);
/* A signal has come there: its handler's third argument. */
void sim_struck_by(const void *context);

/* memory.c */
__attribute__((noreturn)) void sim_out_of_memory(void);
void sim_memory_init(void);

/* symbols.c: call @fn for each variable that the source file has */
void sim_variables_of(unsigned int file, void (*fn)(void *variable, unsigned long size, void *arg),
		      void *arg);

/* percpu.c: the template of per-CPU variables */
_Bool sim_percpu_is_template(const void *variable);
/* memcpy() for what AddressSanitizer lets nobody read */
void sim_copy_poisoned(char *to, const volatile char *from, unsigned long size);

#endif /* _SIM_ENGINE_H */
