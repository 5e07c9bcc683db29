// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU's: where instructions were executed between two marks, and
 * who had called there.
 *
 * Arguments: out=FILE, arm=NOP, begin=NOP, end=NOP (hexadecimal displacements of
 * the nops 0f 1f 84 00 that are the marks). Nothing is watched before the first,
 * so that the guest boots at its usual speed. Writes lines "SITE;SITE;...;ADDRESS COUNT":
 * the calls under way, outermost first, and the instruction; in user space without calls.
 * Processes are not told apart: of two with code at the same address the counts are one.
 *
 * A block of translated code may be left in its middle (a fault, an interrupt at
 * the end of QEMU's instruction budget), so each instruction counts for itself.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "callers.h"
#include "plugin.h"

EXPORTED int qemu_plugin_version = 1;

#define KERNEL (1ull << 63)

/* Executions of one instruction with the same calls under way. */
struct counter {
	struct counter *next;
	const struct call *call;
	uint64_t count;
};

/* An instruction, in a table of chains: never removed, their addresses are handed out. */
struct place {
	struct place *next;
	uint64_t address;
	struct counter *counters, *last;
};

#define CHAINS (1 << 16)
static struct place *chains[CHAINS];
static int armed, counting;
static qemu_plugin_id_t self;
static uint32_t arm_nop, begin_nop, end_nop;
static const char *out;

static struct place *place_of(uint64_t address)
{
	struct place **chain = &chains[(address ^ address >> 16) % CHAINS], *p;

	for (p = *chain; p; p = p->next)
		if (p->address == address)
			return p;
	p = zeroed(sizeof(*p));
	p->address = address;
	p->next = *chain;
	*chain = p;
	return p;
}

static struct counter *counter_of(struct place *place, const struct call *call)
{
	struct counter *c;

	for (c = place->counters; c; c = c->next)
		if (c->call == call)
			return c;
	c = zeroed(sizeof(*c));
	c->call = call;
	c->next = place->counters;
	place->counters = c;
	return c;
}

static void executed(unsigned int cpu, void *data)
{
	const struct call *call;
	struct place *place = data;

	/* With instruction counting, one CPU runs at a time. */
	if (!counting)
		return;
	call = call_under_way(cpu);
	if (!place->last || place->last->call != call)
		place->last = counter_of(place, call);
	place->last->count++;
}

static void executed_by_user(unsigned int cpu, void *data)
{
	no_call_under_way(cpu);
	executed(cpu, data);
}

static void install(qemu_plugin_id_t id);

/* All code is translated anew, and watched from then on. */
static void arm(unsigned int cpu, void *data)
{
	(void)cpu, (void)data;
	if (!armed)
		qemu_plugin_reset(self, install);
	armed = 1;
}

static void began(unsigned int cpu, void *data)
{
	(void)cpu, (void)data;
	counting = 1;
}

static void stopped(unsigned int cpu, void *data)
{
	(void)cpu, (void)data;
	counting = 0;
}

/* The displacement, or 0: no mark has that. */
static uint32_t nop_of(const struct qemu_plugin_insn *insn)
{
	static const uint8_t opcode[] = { 0x0f, 0x1f, 0x84, 0x00 };
	uint8_t bytes[MOST_BYTES];
	uint32_t displacement;

	if (bytes_of(insn, bytes) != 8 || memcmp(bytes, opcode, sizeof(opcode)))
		return 0;
	memcpy(&displacement, bytes + sizeof(opcode), sizeof(displacement));
	return displacement;
}

static void watch(struct qemu_plugin_insn *insn)
{
	uint64_t address = qemu_plugin_insn_vaddr(insn);
	uint32_t nop = nop_of(insn);
	executed_cb cb = address & KERNEL ? executed : executed_by_user;
	struct place *place = NULL;

	if (nop && nop == arm_nop)
		cb = arm;
	else if (!armed)
		return;
	else if (nop && (nop == begin_nop || nop == end_nop))
		cb = nop == begin_nop ? began : stopped;
	else
		place = place_of(address);
	qemu_plugin_register_vcpu_insn_exec_cb(insn, cb, QEMU_PLUGIN_CB_NO_REGS, place);
	if (address & KERNEL)
		watch_calls(insn);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++)
		watch(qemu_plugin_tb_get_insn(tb, i));
}

static void ended(qemu_plugin_id_t id, void *data)
{
	FILE *f = fopen(out, "w");

	(void)id, (void)data;
	if (!f) {
		perror(out);
		return;
	}
	for (size_t i = 0; i < CHAINS; i++) {
		for (struct place *p = chains[i]; p; p = p->next) {
			for (struct counter *c = p->counters; c; c = c->next) {
				print_calls(f, c->call);
				fprintf(f, "%" PRIx64 " %" PRIu64 "\n", p->address, c->count);
			}
		}
	}
	fclose(f);
}

static void install(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
}

/* Before QEMU reads the number: 7.2 takes 1 at most, 9.0 and later take no less than 2. */
__attribute__((constructor)) static void choose_version(void)
{
	qemu_plugin_version = qemu_plugin_num_vcpus ? 2 : 1;
}

EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info,
				 int argc, char **argv)
{
	interface = info->version.cur;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out = strdup(argv[i] + 4);
		else if (!strncmp(argv[i], "arm=", 4))
			arm_nop = strtoul(argv[i] + 4, NULL, 16);
		else if (!strncmp(argv[i], "begin=", 6))
			begin_nop = strtoul(argv[i] + 6, NULL, 16);
		else if (!strncmp(argv[i], "end=", 4))
			end_nop = strtoul(argv[i] + 4, NULL, 16);
	}
	if (!out || !arm_nop || !begin_nop || !end_nop)
		return -1;
	self = id;
	install(id);
	return 0;
}
