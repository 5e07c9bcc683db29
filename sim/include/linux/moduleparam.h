/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parameters of modules: a list of pointers in the section "sim_params", which the model sets from
 * POLICY.NAME=VALUE before it calls init. Stands for linux/moduleparam.h.
 */
#ifndef _LINUX_MODULEPARAM_H
#define _LINUX_MODULEPARAM_H

#include <linux/init.h>

struct kernel_param;
struct module;

struct kernel_param_ops {
	unsigned int	flags;
	int		(*set)(const char *value, const struct kernel_param *param);
	int		(*get)(char *buffer, const struct kernel_param *param);
	void		(*free)(void *arg);
};

struct kparam_array {
	unsigned int			max;
	unsigned int			size;		/* of an element */
	unsigned int			*num;		/* how many were given, or NULL */
	const struct kernel_param_ops	*ops;
	void				*elements;
};

struct kernel_param {
	const char			*name;
	const char			*module;	/* KBUILD_MODNAME */
	const struct kernel_param_ops	*ops;
	unsigned int			perm;
	union {
		void			*arg;
		const struct kparam_array *arr;
	};
};

/* As param_set_int() for each of them. */
#define __SIM_PARAM_TYPE(type)							\
	extern const struct kernel_param_ops param_ops_##type;			\
	int param_set_##type(const char *value, const struct kernel_param *param); \
	int param_get_##type(char *buffer, const struct kernel_param *param)

__SIM_PARAM_TYPE(byte);
__SIM_PARAM_TYPE(short);
__SIM_PARAM_TYPE(ushort);
__SIM_PARAM_TYPE(int);
__SIM_PARAM_TYPE(uint);
__SIM_PARAM_TYPE(long);
__SIM_PARAM_TYPE(ulong);
__SIM_PARAM_TYPE(ullong);
__SIM_PARAM_TYPE(bool);
__SIM_PARAM_TYPE(charp);
extern const struct kernel_param_ops param_array_ops;

#define module_param_cb(_name, _ops, _arg, _perm)				\
	static const struct kernel_param __param_##_name = {			\
		.name = #_name, .module = KBUILD_MODNAME, .ops = _ops,		\
		.perm = _perm, .arg = (void *)(_arg),				\
	};									\
	__sim_list(sim_params, __param_##_name)
#define module_param_named(_name, _variable, _type, _perm) \
	module_param_cb(_name, &param_ops_##_type, &(_variable), _perm)
#define module_param(_name, _type, _perm)	module_param_named(_name, _name, _type, _perm)
#define module_param_array_named(_name, _array, _type, _num, _perm)		\
	static const struct kparam_array __param_array_##_name = {		\
		.max = ARRAY_SIZE(_array), .size = sizeof((_array)[0]), .num = _num, \
		.ops = &param_ops_##_type, .elements = _array,			\
	};									\
	module_param_cb(_name, &param_array_ops, &__param_array_##_name, _perm)
#define module_param_array(_name, _type, _num, _perm) \
	module_param_array_named(_name, _name, _type, _num, _perm)
#define MODULE_PARM_DESC(_name, _text)	_Static_assert(sizeof(_text), #_name)

#endif /* _LINUX_MODULEPARAM_H */
