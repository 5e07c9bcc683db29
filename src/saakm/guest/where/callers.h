/* SPDX-License-Identifier: GPL-2.0 */
/* Which calls are under way on a CPU of the guest. */
#ifndef CALLERS_H
#define CALLERS_H

#include <stdint.h>
#include <stdio.h>

#include "plugin.h"

/* A call instruction, made while that one was under way: NULL for the outermost. */
struct call {
	const struct call *within;
	uint64_t site;
	struct call *inner, *sibling;
};

const struct call *call_under_way(unsigned int cpu);
void no_call_under_way(unsigned int cpu);	/* it is in user space */
void watch_calls(struct qemu_plugin_insn *insn);
void print_calls(FILE *f, const struct call *call);
void *zeroed(size_t size);

#endif
