// SPDX-License-Identifier: GPL-2.0
/* Registers and memory of the guest, as the CPU that runs sees them. */
#include "recorder.h"

#include <stdio.h>
#include <string.h>

static struct qemu_plugin_register *handles[MOST_CPUS][NR_REGISTERS];
static GByteArray *buffer;

void find_registers(unsigned int cpu)
{
	static const char * const names[] = {
		"rsp", "rdi", "rsi", "rdx", "rcx", "r8", "rax", "gs_base",
	};
	GArray *list = qemu_plugin_get_registers();
	qemu_plugin_reg_descriptor *found = (void *)list->data;

	if (!buffer)
		buffer = g_byte_array_new();
	for (unsigned int i = 0; i < list->len; i++)
		for (int which = 0; which < NR_REGISTERS; which++)
			if (!strcmp(found[i].name, names[which]))
				handles[cpu][which] = found[i].handle;
}

uint64_t get_register(unsigned int cpu, int which)
{
	uint64_t value = 0;

	g_byte_array_set_size(buffer, 0);
	if (qemu_plugin_read_register(handles[cpu][which], buffer) >= 8)
		memcpy(&value, buffer->data, 8);
	return value;
}

bool read_guest(uint64_t address, void *to, size_t length)
{
	if (!qemu_plugin_read_memory_vaddr(address, buffer, length))
		return false;
	memcpy(to, buffer->data, length);
	return true;
}

uint64_t read_number(uint64_t address, size_t size)
{
	uint64_t value = 0;

	read_guest(address, &value, size);
	return value;
}

uint64_t per_cpu(unsigned int cpu)
{
	static uint64_t offsets[MOST_CPUS];

	if (!offsets[cpu])
		offsets[cpu] = read_number(symbol_per_cpu + 8 * cpu, 8);
	return offsets[cpu];
}

/* Callbacks are told another CPU's number now and then (QEMU 10.0.2). */
unsigned int this_cpu(unsigned int told)
{
	uint64_t base = get_register(told, GS_BASE);

	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++)
		if (per_cpu(cpu) == base)
			return cpu;
	return told;
}
