// SPDX-License-Identifier: GPL-2.0
/* transitions: the class's own answer for each pair of states, in debugfs. */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/saakm.h>
#include <linux/seq_file.h>

/* Exported for tests alone: no header for policies has it. */
bool saakm_transition_allowed(enum saakm_state from, enum saakm_state to);

static int transitions_show(struct seq_file *m, void *v)
{
	int from, to;

	for (from = 0; from < SAAKM_NR_STATES; from++)
		for (to = 0; to < SAAKM_NR_STATES; to++)
			seq_printf(m, "%d %d %d\n", from, to, saakm_transition_allowed(from, to));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(transitions);

static struct dentry *file;

static int __init transitions_init(void)
{
	file = debugfs_create_file("transitions", 0400, NULL, NULL, &transitions_fops);
	return 0;
}

static void __exit transitions_exit(void)
{
	debugfs_remove(file);
}

module_init(transitions_init);
module_exit(transitions_exit);
MODULE_DESCRIPTION("SaaKM test: the table of transitions");
MODULE_LICENSE("GPL");
