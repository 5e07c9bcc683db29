// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU's: where instructions were executed between two marks.
 *
 * Arguments: out=FILE, begin=NOP, end=NOP (hexadecimal displacements of the nops
 * 0f 1f 84 00 that are the marks). Writes lines "ADDRESS COUNT", a line for each
 * instruction that was executed between marks; user space is one line, address 0.
 *
 * A block of translated code may be left in its middle (a fault, an interrupt at
 * the end of QEMU's instruction budget), so each instruction counts for itself.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of qemu-plugin.h, version 1 of the interface: Debian does not package it. */
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };

typedef void (*translated_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*executed_cb)(unsigned int cpu, void *data);
typedef void (*ended_cb)(qemu_plugin_id_t id, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translated_cb cb);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, executed_cb cb,
					    enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, ended_cb cb, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

#define EXPORTED __attribute__((visibility("default")))
EXPORTED int qemu_plugin_version = 1;

#define KERNEL (1ull << 63)

/* By address, in a table of chains: never removed, their addresses are handed out. */
struct counter {
	struct counter *next;
	uint64_t address, count;
};

#define CHAINS (1 << 16)
static struct counter *chains[CHAINS];
static struct counter user;
static int counting;
static uint32_t begin_nop, end_nop;
static const char *out;

static struct counter *counter_of(uint64_t address)
{
	struct counter **chain = &chains[(address ^ address >> 16) % CHAINS], *c;

	if (!(address & KERNEL))
		return &user;
	for (c = *chain; c; c = c->next)
		if (c->address == address)
			return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		abort();
	c->address = address;
	c->next = *chain;
	*chain = c;
	return c;
}

static void executed(unsigned int cpu, void *data)
{
	struct counter *c = data;

	(void)cpu;
	/* With instruction counting, one CPU runs at a time. */
	if (counting)
		c->count++;
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
	const uint8_t *bytes = qemu_plugin_insn_data(insn);
	uint32_t displacement;

	if (qemu_plugin_insn_size(insn) != 8 || memcmp(bytes, opcode, sizeof(opcode)))
		return 0;
	memcpy(&displacement, bytes + sizeof(opcode), sizeof(displacement));
	return displacement;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint32_t nop = nop_of(insn);
		executed_cb cb = executed;

		if (nop && (nop == begin_nop || nop == end_nop))
			cb = nop == begin_nop ? began : stopped;
		qemu_plugin_register_vcpu_insn_exec_cb(insn, cb, QEMU_PLUGIN_CB_NO_REGS,
						       counter_of(qemu_plugin_insn_vaddr(insn)));
	}
}

static void ended(qemu_plugin_id_t id, void *data)
{
	FILE *f = fopen(out, "w");

	(void)id, (void)data;
	if (!f) {
		perror(out);
		return;
	}
	fprintf(f, "0 %" PRIu64 "\n", user.count);
	for (size_t i = 0; i < CHAINS; i++)
		for (struct counter *c = chains[i]; c; c = c->next)
			if (c->count)
				fprintf(f, "%" PRIx64 " %" PRIu64 "\n", c->address, c->count);
	fclose(f);
}

EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info,
				 int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out = strdup(argv[i] + 4);
		else if (!strncmp(argv[i], "begin=", 6))
			begin_nop = strtoul(argv[i] + 6, NULL, 16);
		else if (!strncmp(argv[i], "end=", 4))
			end_nop = strtoul(argv[i] + 4, NULL, 16);
	}
	if (!out || !begin_nop || !end_nop)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
