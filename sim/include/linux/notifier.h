/* SPDX-License-Identifier: GPL-2.0 */
/* Who wants to be told. Stands for linux/notifier.h; modules coming and going are what there is. */
#ifndef _LINUX_NOTIFIER_H
#define _LINUX_NOTIFIER_H

struct notifier_block;
typedef int (*notifier_fn_t)(struct notifier_block *nb, unsigned long action, void *data);

struct notifier_block {
	notifier_fn_t		notifier_call;
	struct notifier_block	*next;
	int			priority;
};

#define NOTIFY_DONE		0x0000
#define NOTIFY_OK		0x0001
#define NOTIFY_STOP_MASK	0x8000
#define NOTIFY_BAD		(NOTIFY_STOP_MASK | 0x0002)
#define NOTIFY_STOP		(NOTIFY_STOP_MASK | NOTIFY_OK)

int register_module_notifier(struct notifier_block *nb);
int unregister_module_notifier(struct notifier_block *nb);

#endif /* _LINUX_NOTIFIER_H */
