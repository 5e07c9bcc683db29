/* SPDX-License-Identifier: GPL-2.0 */
/* NULL, offsetof() and groups of members. Stands for linux/stddef.h. */
#ifndef _LINUX_STDDEF_H
#define _LINUX_STDDEF_H

#include <stddef.h>

/* The members both by themselves and as one struct of the type @tag. */
#define __struct_group(tag, name, attributes, members...)	\
	union {							\
		struct { members } attributes;			\
		struct tag { members } attributes name;		\
	} attributes
#define struct_group_tagged(tag, name, members...) __struct_group(tag, name, , members)
#define struct_group(name, members...) __struct_group(/* no tag */, name, , members)

#endif /* _LINUX_STDDEF_H */
