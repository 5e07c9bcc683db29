/* SPDX-License-Identifier: GPL-2.0 */
/* Keys for emergencies, which the model may press. Stands for linux/sysrq.h. */
#ifndef _LINUX_SYSRQ_H
#define _LINUX_SYSRQ_H

#include <linux/types.h>

#define SYSRQ_ENABLE_RTNICE	0x0100

struct sysrq_key_op {
	void		(*const handler)(u8 key);
	const char	*const help_msg;
	const char	*const action_msg;
	const int	enable_mask;
};

int register_sysrq_key(u8 key, const struct sysrq_key_op *op);
int unregister_sysrq_key(u8 key, const struct sysrq_key_op *op);

#endif /* _LINUX_SYSRQ_H */
