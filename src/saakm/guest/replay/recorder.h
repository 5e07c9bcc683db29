/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the plugin that records what the core asks of the class. */
#ifndef RECORDER_H
#define RECORDER_H

#include "qemu.h"

#define KERNEL		(1ull << 63)
#define MOST_CPUS	64
#define MOST_ARGUMENTS	5
#define NAME_LENGTH	64

/* A function that is watched: lines of the plan. */
struct function {
	char	name[NAME_LENGTH];
	uint64_t address;
	unsigned int number;		/* line of its kind */
	bool	is_effect;		/* what the class makes others do */
	bool	is_opaque;		/* an effect that counts when it is over */
	bool	is_boundary;		/* calls below are not made by those above */
	bool	is_lock;		/* it takes one */
	bool	is_mark;			/* from this one on those count that do */
	bool	is_counted;
	/*
	 * r: runqueue, t: thread, a: struct sched_attr, c: fair's part of a runqueue, e: of a
	 * thread, others: a number
	 */
	char	arguments[MOST_ARGUMENTS + 1];
	char	returns;		/* t: a thread, '-': nothing */
};

/* plan.c: what Python found out about the kernel */
extern struct function functions[];
extern unsigned int nr_functions, nr_cpus, stack_bits;
extern char first_call[];		/* with it the recording begins; "": at once */
extern bool counting;			/* not all calls count */
extern const char *plan_text;
extern size_t plan_length;
extern uint64_t symbol_per_cpu, symbol_runqueues, symbol_hot, symbol_jiffies, symbol_irq_regs;
void read_plan(const char *path);
struct function *function_at(uint64_t address);

/* guest.c: registers and memory of the CPU that runs */
enum { RSP, RDI, RSI, RDX, RCX, R8, RAX, GS_BASE, NR_REGISTERS };
void find_registers(unsigned int cpu);
uint64_t get_register(unsigned int cpu, int which);
bool read_guest(uint64_t address, void *to, size_t length);
uint64_t read_number(uint64_t address, size_t size);
uint64_t per_cpu(unsigned int cpu);
unsigned int this_cpu(unsigned int told);

/* objects.c: runqueues, threads, cores and variables as they were last written down */
enum { RQ, TASK, CORE, POLICY, HOT, GLOBAL, NR_KINDS };
void add_field(int kind, const char *name, uint64_t offset, unsigned int size);
bool has_field(int kind, const char *name);
uint64_t offset_of(int kind, const char *name);
uint64_t read_field(int kind, uint64_t address, const char *name);
uint64_t runqueue_at(uint64_t address);
void note_runqueues(void);
void note_globals(void);
void note_task(uint64_t address);
void note_all_cores(void);
void note_core(uint64_t task, unsigned int cpu);

/* out.c */
void open_out(const char *path);
void put(uint64_t number);
void put_byte(char byte);
void put_bytes(const void *bytes, size_t length);
void close_out(void);

#endif
