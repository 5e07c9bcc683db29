/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls at boot. Stands for linux/init.h. Each is a pointer in the section "sim_initcalls"; the
 * model sorts them by level, then by their order in the source. What is __init in a module stays
 * callable, but lies in sections of its own, so that within_module_init() knows it.
 */
#ifndef _LINUX_INIT_H
#define _LINUX_INIT_H

#include <linux/kernel.h>

#ifdef MODULE
#define __init		__section("sim_init_text") __cold
#define __initdata	__section("sim_init_data")
#define __initconst	__section("sim_init_const")
#else
#define __init		__cold
#define __initdata
#define __initconst
#endif
#define __exit		__cold __maybe_unused

#ifndef KBUILD_MODNAME
#define KBUILD_MODNAME	"kernel"
#endif

typedef int (*initcall_t)(void);

struct sim_initcall {
	initcall_t	call;
	const char	*name;
	const char	*module;	/* KBUILD_MODNAME */
	unsigned int	level;		/* 0: early ... 7: late */
	unsigned int	order;		/* within a file */
};

/* A pointer to @object in the section @name, which the linker marks with __start_ and __stop_. */
#define __sim_list(_section, _object)						\
	static const void * const __UNIQUE_ID(_section) __used __section(#_section) = &(_object)

#define __sim_initcall(_id, fn, _level)						\
	static const struct sim_initcall _id = {				\
		.call = fn, .name = #fn, .module = KBUILD_MODNAME, .level = _level, \
		.order = __COUNTER__,						\
	};									\
	__sim_list(sim_initcalls, _id)

#define early_initcall(fn)	__sim_initcall(__UNIQUE_ID(initcall), fn, 0)
#define core_initcall(fn)	__sim_initcall(__UNIQUE_ID(initcall), fn, 1)
#define device_initcall(fn)	__sim_initcall(__UNIQUE_ID(initcall), fn, 6)
#define late_initcall(fn)	__sim_initcall(__UNIQUE_ID(initcall), fn, 7)

/* Parameters of the kernel's command line, in "sim_early_params". */
struct sim_early_param {
	const char	*name;
	int		(*setup)(char *value);
};

#define __sim_early_param(_id, _name, fn)					\
	static const struct sim_early_param _id = { .name = _name, .setup = fn }; \
	__sim_list(sim_early_params, _id)
#define early_param(_name, fn)	__sim_early_param(__UNIQUE_ID(early), _name, fn)

enum system_states {
	SYSTEM_BOOTING,
	SYSTEM_SCHEDULING,
	SYSTEM_FREEING_INITMEM,
	SYSTEM_RUNNING,
	SYSTEM_HALT,
	SYSTEM_POWER_OFF,
	SYSTEM_RESTART,
	SYSTEM_SUSPEND,
};
extern enum system_states system_state;

#endif /* _LINUX_INIT_H */
