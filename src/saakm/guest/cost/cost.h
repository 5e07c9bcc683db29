/* SPDX-License-Identifier: GPL-2.0 */
/* What the operations of the measuring guest share. */
#ifndef COST_H
#define COST_H

#include <stdint.h>

/*
 * Under QEMU's -icount shift=0 the time stamp counter advances by one with each
 * executed instruction, of any CPU, and jumps ahead when all of them are idle.
 *
 * The nops mean something to the plugin of saakm cost --where alone.
 */
static inline uint64_t begin(void)
{
	asm volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x01, 0x00, 0xab, 0x51" ::: "memory");
	return __builtin_ia32_rdtsc();
}

static inline uint64_t end(void)
{
	uint64_t now = __builtin_ia32_rdtsc();

	asm volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x02, 0x00, 0xab, 0x51" ::: "memory");
	return now;
}

/* What runs from now on may be looked at. */
static inline void arm(void)
{
	asm volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x03, 0x00, 0xab, 0x51" ::: "memory");
}

/* common.c; die() prints errno and @what, and powers off. */
void die(const char *what) __attribute__((noreturn));

void pin(int cpu);
long number(const char *variable, long otherwise);

/* sched.c */
enum { LEAVE, JOIN };
void load_modules(char *names);
void start_scheduler(void);	/* one that is a program */
void check_scheduler(void);	/* it has not been ejected */
void choose(int joining);	/* for the calling thread */
void lower(void);		/* the calling thread, below all others */
void raise_above_lower(void);

/* many.c */
void start_waiting(long threads);

/* quartile.c */
uint64_t *room_for(long values);
double first_quartile(uint64_t *values, long n);

/*
 * Operations: instructions of one, as a mean or first quartile of that many rounds. One
 * that counts something else than rounds says how many that were.
 */
extern uint64_t counted;
double run_pipe(long rounds);
double run_pipe2(long rounds);
double run_futex(long rounds);
double run_eventfd(long rounds);
double run_yield(long rounds);
double run_sleep(long rounds);
double run_newidle(long rounds);
double run_tick(long rounds);
double run_slice(long rounds);
double run_fork(long rounds);
double run_exec(long rounds);
double run_setattr(long rounds);
double run_migration(long rounds);
double run_crowd(long rounds);

#define EXEC_LINK "saakm-exec-link"	/* argv[0] of a program that run_exec() started */
int exec_link(char **argv);

#endif
