/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Modules. Stands for linux/module.h and export.h. A policy is compiled with MODULE and
 * KBUILD_MODNAME as by Kbuild, and linked into the simulator: THIS_MODULE is a struct of its own,
 * which the sections "sim_modules" (with init and exit) and "sim_module_files" list. The model calls
 * them, and keeps the state.
 */
#ifndef _LINUX_MODULE_H
#define _LINUX_MODULE_H

#include <linux/export.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/srcu.h>

#define MODULE_NAME_LEN	56

enum module_state {
	MODULE_STATE_LIVE,
	MODULE_STATE_COMING,
	MODULE_STATE_GOING,
	MODULE_STATE_UNFORMED,
};

struct module {
	enum module_state	state;
	struct list_head	list;
	char			name[MODULE_NAME_LEN];
	int			(*init)(void);
	void			(*exit)(void);
	int			refs;
};

/* Of one module: what module_init() and module_exit() name. */
struct sim_module_hook {
	struct module	*module;
	int		(*init)(void);
	void		(*exit)(void);
};

#ifdef MODULE
/* One for all files of a module, where Kbuild's -D__KBUILD_MODNAME= tells which they are. */
#ifdef __KBUILD_MODNAME
#define __this_module	__PASTE(__this_module_, __KBUILD_MODNAME)
struct module __this_module __weak = { .name = KBUILD_MODNAME };
#else
static struct module __this_module __maybe_unused = { .name = KBUILD_MODNAME };
#endif
#define THIS_MODULE	(&__this_module)
static const struct sim_module_hook __sim_module_file = { .module = THIS_MODULE };
__sim_list(sim_module_files, __sim_module_file);
#define module_init(fn)								\
	static const struct sim_module_hook __sim_module_init =			\
		{ .module = THIS_MODULE, .init = fn };				\
	__sim_list(sim_modules, __sim_module_init)
#define module_exit(fn)								\
	static const struct sim_module_hook __sim_module_exit =			\
		{ .module = THIS_MODULE, .exit = fn };				\
	__sim_list(sim_modules, __sim_module_exit)
#else
#define THIS_MODULE	((struct module *)NULL)
#define module_init(fn)	device_initcall(fn)
#define module_exit(fn)	static __used void (*__sim_never_called)(void) = fn
#endif

#include <linux/moduleparam.h>

/* Nobody reads them, but they have to be text. */
#define MODULE_INFO(tag, info)		_Static_assert(sizeof(info), #tag)
#define MODULE_LICENSE(text)		MODULE_INFO(license, text)
#define MODULE_AUTHOR(text)		MODULE_INFO(author, text)
#define MODULE_DESCRIPTION(text)	MODULE_INFO(description, text)
#define MODULE_IMPORT_NS(ns)		MODULE_INFO(import_ns, #ns)

static inline const char *module_name(const struct module *module)
{
	return module ? module->name : "kernel";
}

/* Whose code or data is there? NULL: the kernel's. Under RCU. */
struct module *__module_address(unsigned long address);
bool within_module_init(unsigned long address, const struct module *module);
bool within_module(unsigned long address, const struct module *module);

bool try_module_get(struct module *module);
void __module_get(struct module *module);
void module_put(struct module *module);

#endif /* _LINUX_MODULE_H */
