// SPDX-License-Identifier: GPL-2.0
/*
 * The calls under way, without unwinding: a plugin sees no registers, but it sees
 * where on the stack a call stores its return address and a return loads it.
 *
 * So each kernel stack has a shadow: the calls that were made on it, by the place
 * of their return address. Stacks grow down: what lies at or below the place of a
 * call or return has ended, however it was left. A CPU that switches to another
 * thread returns on that thread's stack, and all is as it was there. A stack that
 * is entered at its very beginning (an interrupt's) continues the one before.
 */
#include "callers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STACK_BITS 14	/* 16 KiB, aligned: THREAD_SIZE and IRQ_STACK_SIZE */
#define MOST_CPUS 64
#define CHAINS (1 << 12)

struct frame {
	uint64_t at;
	struct call *call;
};

struct stack {
	struct stack *next;
	uint64_t number;
	size_t depth, room;
	struct frame *frames;
};

static struct stack *stacks[CHAINS];
static struct call outermost;
static struct call *under_way[MOST_CPUS];
/*
 * QEMU 7.2 reports stores of later instructions (XSAVE) to the last call's or
 * return's callback too: only the first one after it was executed is its own.
 */
static bool due[MOST_CPUS];

void *zeroed(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		abort();
	return memory;
}

static struct stack *stack_of(uint64_t at)
{
	uint64_t number = at >> STACK_BITS;
	struct stack **chain = &stacks[number % CHAINS], *s;

	for (s = *chain; s; s = s->next)
		if (s->number == number)
			return s;
	s = zeroed(sizeof(*s));
	s->number = number;
	s->next = *chain;
	*chain = s;
	return s;
}

static void push(struct stack *s, uint64_t at, struct call *call)
{
	if (s->depth == s->room) {
		s->room = 2 * s->room + 16;
		s->frames = realloc(s->frames, s->room * sizeof(*s->frames));
		if (!s->frames)
			abort();
	}
	s->frames[s->depth++] = (struct frame){ at, call };
}

/* The outermost call that has ended, or NULL. */
static struct call *pop(struct stack *s, uint64_t at)
{
	struct call *ended = NULL;

	while (s->depth && s->frames[s->depth - 1].at <= at)
		ended = s->frames[--s->depth].call;
	return ended;
}

static struct call *inner_call(struct call *within, uint64_t site)
{
	struct call *c;

	for (c = within->inner; c; c = c->sibling)
		if (c->site == site)
			return c;
	c = zeroed(sizeof(*c));
	c->within = within;
	c->site = site;
	c->sibling = within->inner;
	within->inner = c;
	return c;
}

static void executed(unsigned int cpu, void *data)
{
	(void)data;
	due[cpu] = true;
}

static void called(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t at, void *data)
{
	struct call *within = under_way[cpu];
	struct stack *s;

	if (!due[cpu] || !qemu_plugin_mem_is_store(info))
		return;
	due[cpu] = false;
	s = stack_of(at);
	pop(s, at);
	if (s->depth)
		within = s->frames[s->depth - 1].call;
	under_way[cpu] = inner_call(within ?: &outermost, (uintptr_t)data);
	push(s, at, under_way[cpu]);
}

static void returned(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t at, void *data)
{
	struct stack *s;
	struct call *ended;

	(void)data;
	if (!due[cpu] || qemu_plugin_mem_is_store(info))
		return;
	due[cpu] = false;
	s = stack_of(at);
	ended = pop(s, at);
	if (s->depth)
		under_way[cpu] = s->frames[s->depth - 1].call;
	else
		under_way[cpu] = ended ? (struct call *)ended->within : NULL;
}

const struct call *call_under_way(unsigned int cpu)
{
	return under_way[cpu] ?: &outermost;
}

void no_call_under_way(unsigned int cpu)
{
	under_way[cpu] = NULL;
}

static int is_prefix(uint8_t byte)
{
	return (byte & 0xf0) == 0x40 || (byte && strchr("\x26\x2e\x36\x3e\x64\x65\x66\xf2\xf3", byte));
}

static void watch_call(struct qemu_plugin_insn *insn, accessed_cb cb)
{
	void *site = (void *)(uintptr_t)qemu_plugin_insn_vaddr(insn);

	qemu_plugin_register_vcpu_insn_exec_cb(insn, executed, QEMU_PLUGIN_CB_NO_REGS, NULL);
	qemu_plugin_register_vcpu_mem_cb(insn, cb, QEMU_PLUGIN_CB_NO_REGS,
					 QEMU_PLUGIN_MEM_RW, site);
}

void watch_calls(struct qemu_plugin_insn *insn)
{
	uint8_t bytes[MOST_BYTES];
	size_t size = bytes_of(insn, bytes), i = 0;

	while (i + 1 < size && is_prefix(bytes[i]))
		i++;
	/* call, or call through a register or memory */
	if (bytes[i] == 0xe8 || (bytes[i] == 0xff && i + 1 < size && (bytes[i + 1] >> 3 & 7) == 2))
		watch_call(insn, called);
	else if (bytes[i] == 0xc3 || bytes[i] == 0xc2)
		watch_call(insn, returned);
}

void print_calls(FILE *f, const struct call *call)
{
	if (!call->within)
		return;
	print_calls(f, call->within);
	fprintf(f, "%" PRIx64 ";", call->site);
}
