// SPDX-License-Identifier: GPL-2.0
/* The bytes of an instruction, from QEMU's of two interfaces. */
#include <string.h>

#include "plugin.h"

int interface;

size_t bytes_of(const struct qemu_plugin_insn *insn, uint8_t bytes[MOST_BYTES])
{
	size_t size = qemu_plugin_insn_size(insn);

	if (interface >= 3)
		return qemu_plugin_insn_data(insn, bytes, size);
	memcpy(bytes, older_insn_data(insn), size);
	return size;
}
