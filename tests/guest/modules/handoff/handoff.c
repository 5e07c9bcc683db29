// SPDX-License-Identifier: GPL-2.0
/*
 * handoff: no policy, but a lock of the kernel's for user space. Of what is written to
 * /proc/handoff the first letter counts: l(ock), u(nlock), or both at once, s(teal): whom the
 * unlock wakes on another CPU, comes too late. Whoever writes is the one that holds it.
 */
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/rwsem.h>
#include <linux/uaccess.h>

static DECLARE_RWSEM(handoff_lock);

static ssize_t handoff_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	char letter;

	if (get_user(letter, buf))
		return -EFAULT;
	switch (letter) {
	case 'l':
		return down_write_killable(&handoff_lock) ?: count;
	case 'u':
		up_write(&handoff_lock);
		break;
	case 's':
		up_write(&handoff_lock);
		return down_write_killable(&handoff_lock) ?: count;
	default:
		return -EINVAL;
	}
	return count;
}

static const struct proc_ops handoff_ops = {
	.proc_write = handoff_write,
};

static int __init handoff_init(void)
{
	return proc_create("handoff", 0600, NULL, &handoff_ops) ? 0 : -ENOMEM;
}
module_init(handoff_init);

static void __exit handoff_exit(void)
{
	remove_proc_entry("handoff", NULL);
}
module_exit(handoff_exit);

MODULE_DESCRIPTION("A lock of the kernel's for tests");
MODULE_LICENSE("GPL");
