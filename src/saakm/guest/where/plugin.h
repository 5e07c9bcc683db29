/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Of qemu-plugin.h, which Debian does not package: what is the same in version 1 of the
 * interface (QEMU 7.2) and in versions 2 to 4 (QEMU 9.0 to 10.0), but for what is said here.
 */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t {	/* its beginning */
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
};
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef void (*translated_cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*executed_cb)(unsigned int cpu, void *data);
typedef void (*accessed_cb)(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
			    void *data);
typedef void (*ended_cb)(qemu_plugin_id_t id, void *data);
typedef void (*simple_cb)(qemu_plugin_id_t id);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translated_cb cb);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, executed_cb cb,
					    enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, accessed_cb cb,
				      enum qemu_plugin_cb_flags flags,
				      enum qemu_plugin_mem_rw rw, void *data);
void qemu_plugin_reset(qemu_plugin_id_t id, simple_cb cb);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, ended_cb cb, void *data);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *bytes, size_t size);
/* What goes by that name up to version 2. */
const void *older_insn_data(const struct qemu_plugin_insn *insn) __asm__("qemu_plugin_insn_data");
/* New in version 2: by this we know which QEMU loads us. */
int qemu_plugin_num_vcpus(void) __attribute__((weak));

#define MOST_BYTES 15	/* of an instruction */

extern int interface;	/* the version that is spoken */
size_t bytes_of(const struct qemu_plugin_insn *insn, uint8_t bytes[MOST_BYTES]);

#endif
