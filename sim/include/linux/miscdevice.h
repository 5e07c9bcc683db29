/* SPDX-License-Identifier: GPL-2.0 */
/* Files in /dev. Stands for linux/miscdevice.h. Nobody but agents opens any. */
#ifndef _LINUX_MISCDEVICE_H
#define _LINUX_MISCDEVICE_H

#include <linux/fs.h>
#include <linux/list.h>

#define MISC_DYNAMIC_MINOR	255

struct miscdevice {
	int				minor;
	const char			*name;
	const struct file_operations	*fops;
	umode_t				mode;
	struct list_head		list;
};

/* 0 or -errno */
int misc_register(struct miscdevice *device);
void misc_deregister(struct miscdevice *device);

#endif /* _LINUX_MISCDEVICE_H */
