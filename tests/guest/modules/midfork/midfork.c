// SPDX-License-Identifier: GPL-2.0
/*
 * midfork: no policy, but a stop in the fork of the process `parent`, where others can see the
 * child and its cgroup has not looked at it yet. child says which it is, while it is there; the
 * fork goes on once go is set, or after ten seconds.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>

static int parent;
module_param(parent, int, 0644);

static int child;
module_param(child, int, 0444);

static int go;
module_param(go, int, 0644);

static int midfork_stop(struct kprobe *probe, struct pt_regs *regs)
{
	const struct task_struct *p = (void *)regs_get_kernel_argument(regs, 0);

	if (current->pid != READ_ONCE(parent))
		return 0;
	WRITE_ONCE(child, p->pid);
	for (int ms = 0; ms < 10000 && !READ_ONCE(go); ms++)
		mdelay(1);
	WRITE_ONCE(child, 0);
	return 0;
}

static struct kprobe midfork_probe = {
	.symbol_name	= "cgroup_post_fork",
	.pre_handler	= midfork_stop,
};

static int __init midfork_init(void)
{
	return register_kprobe(&midfork_probe);
}
module_init(midfork_init);

static void __exit midfork_exit(void)
{
	unregister_kprobe(&midfork_probe);
}
module_exit(midfork_exit);

MODULE_DESCRIPTION("A stop in the midst of a fork for tests");
MODULE_LICENSE("GPL");
