// SPDX-License-Identifier: GPL-2.0
/* Types of module parameters: kernel/params.c. See <linux/moduleparam.h>. */
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "machine.h"

/* As STANDARD_PARAM_DEF() there: numbers in any base, that fit the type. */
#define NUMBER(name, type, parse, parsed, format)					\
int param_set_##name(const char *value, const struct kernel_param *param)		\
{											\
	parsed number;									\
	int error = parse(value, 0, &number);						\
											\
	if (error)									\
		return error;								\
	if ((parsed)(type)number != number)						\
		return -ERANGE;								\
	*(type *)param->arg = number;							\
	return 0;									\
}											\
											\
int param_get_##name(char *buffer, const struct kernel_param *param)			\
{											\
	return scnprintf(buffer, PAGE_SIZE, format "\n", *(type *)param->arg);		\
}											\
											\
const struct kernel_param_ops param_ops_##name = {					\
	.set = param_set_##name,							\
	.get = param_get_##name,							\
}

NUMBER(byte, unsigned char, kstrtouint, unsigned int, "%hhu");
NUMBER(short, short, kstrtoint, int, "%hi");
NUMBER(ushort, unsigned short, kstrtouint, unsigned int, "%hu");
NUMBER(int, int, kstrtoint, int, "%i");
NUMBER(uint, unsigned int, kstrtouint, unsigned int, "%u");
NUMBER(long, long, kstrtol, long, "%li");
NUMBER(ulong, unsigned long, kstrtoul, unsigned long, "%lu");
NUMBER(ullong, unsigned long long, kstrtoull, unsigned long long, "%llu");

int param_set_bool(const char *value, const struct kernel_param *param)
{
	return kstrtobool(value ?: "1", param->arg);
}

int param_get_bool(char *buffer, const struct kernel_param *param)
{
	return sprintf(buffer, "%c\n", *(bool *)param->arg ? 'Y' : 'N');
}

const struct kernel_param_ops param_ops_bool = {
	.set = param_set_bool,
	.get = param_get_bool,
};

int param_set_charp(const char *value, const struct kernel_param *param)
{
	if (strlen(value) > 1024)
		return -ENOSPC;
	*(const char **)param->arg = value;
	return 0;
}

int param_get_charp(char *buffer, const struct kernel_param *param)
{
	return scnprintf(buffer, PAGE_SIZE, "%s\n", *(char **)param->arg);
}

const struct kernel_param_ops param_ops_charp = {
	.set = param_set_charp,
	.get = param_get_charp,
};

/* VALUE,VALUE,... */
static int param_set_array(const char *value, const struct kernel_param *param)
{
	const struct kparam_array *array = param->arr;
	unsigned int n = 0;
	char *copy = kstrdup(value, GFP_KERNEL), *rest = copy, *word;
	int error = copy ? 0 : -ENOMEM;

	while (!error && (word = strsep(&rest, ","))) {
		struct kernel_param element = *param;

		if (n == array->max) {
			error = -EINVAL;
			break;
		}
		element.arg = (char *)array->elements + array->size * n++;
		error = array->ops->set(word, &element);
	}
	if (!error && array->num)
		*array->num = n;
	/* Elements that are text refer to it. */
	if (array->ops != &param_ops_charp)
		kfree(copy);
	return error;
}

static int param_get_array(char *buffer, const struct kernel_param *param)
{
	const struct kparam_array *array = param->arr;
	unsigned int i, n = array->num ? *array->num : array->max;
	int length = 0;

	for (i = 0; i < n; i++) {
		struct kernel_param element = *param;

		element.arg = (char *)array->elements + array->size * i;
		length += array->ops->get(buffer + length, &element);
		buffer[length - 1] = i + 1 < n ? ',' : '\n';
	}
	return length;
}

const struct kernel_param_ops param_array_ops = {
	.set = param_set_array,
	.get = param_get_array,
};
