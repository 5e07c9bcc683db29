/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's files: sysfs. Stands for linux/kobject.h and sysfs.h. A tree that the model keeps,
 * and reads and writes for the options set= and read=.
 */
#ifndef _LINUX_KOBJECT_H
#define _LINUX_KOBJECT_H

#include <linux/err.h>
#include <linux/string.h>

struct kobject {
	const char	*name;
	struct kobject	*parent;
	int		refs;
};

struct attribute {
	const char	*name;
	umode_t		mode;
};

struct attribute_group {
	const char		*name;
	struct attribute	**attrs;
};

struct kobj_attribute {
	struct attribute	attr;
	ssize_t (*show)(struct kobject *kobj, struct kobj_attribute *attr, char *buf);
	ssize_t (*store)(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			 size_t count);
};

#define __ATTR(_name, _mode, _show, _store) \
	{ .attr = { .name = #_name, .mode = _mode }, .show = _show, .store = _store }
#define __ATTR_RO(_name)	__ATTR(_name, 0444, _name##_show, NULL)
#define __ATTR_WO(_name)	__ATTR(_name, 0200, NULL, _name##_store)
#define __ATTR_RW(_name)	__ATTR(_name, 0644, _name##_show, _name##_store)

#define ATTRIBUTE_GROUPS(_name)							\
static const struct attribute_group _name##_group = { .attrs = _name##_attrs };	\
static const struct attribute_group *_name##_groups[] = { &_name##_group, NULL }

extern struct kobject *kernel_kobj;		/* /sys/kernel */

struct kobject *kobject_create_and_add(const char *name, struct kobject *parent);
void kobject_put(struct kobject *kobj);
int sysfs_create_file(struct kobject *kobj, const struct attribute *attr);
void sysfs_remove_file(struct kobject *kobj, const struct attribute *attr);
int sysfs_create_groups(struct kobject *kobj, const struct attribute_group **groups);
void sysfs_remove_groups(struct kobject *kobj, const struct attribute_group **groups);

/* @buf is a page */
__printf(2, 3) int sysfs_emit(char *buf, const char *fmt, ...);
__printf(3, 4) int sysfs_emit_at(char *buf, int at, const char *fmt, ...);

#endif /* _LINUX_KOBJECT_H */
