// SPDX-License-Identifier: GPL-2.0
/* Files in /dev: drivers/char/misc.c */
#include <linux/miscdevice.h>
#include <linux/string.h>

#include "machine.h"

static LIST_HEAD(devices);

struct miscdevice *machine_device(const char *name)
{
	struct miscdevice *device;

	list_for_each_entry(device, &devices, list) {
		if (!strcmp(device->name, name))
			return device;
	}
	return NULL;
}

int misc_register(struct miscdevice *device)
{
	if (machine_device(device->name))
		return -EBUSY;
	list_add_tail(&device->list, &devices);
	return 0;
}

void misc_deregister(struct miscdevice *device)
{
	list_del(&device->list);
}
