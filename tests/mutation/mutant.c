// SPDX-License-Identifier: GPL-2.0
/* Put at the end of build.c: saakm_mutant=N chooses; /proc/saakm_mutants tells, a write clears it. */
#include <linux/proc_fs.h>

unsigned int saakm_mutant __read_mostly;
u8 saakm_mutants_reached[SAAKM_NR_MUTANTS];

static int __init saakm_mutant_setup(char *given)
{
	return kstrtouint(given, 0, &saakm_mutant);
}
early_param("saakm_mutant", saakm_mutant_setup);

static ssize_t saakm_mutants_read(struct file *file, char __user *buf, size_t n, loff_t *at)
{
	return simple_read_from_buffer(buf, n, at, saakm_mutants_reached,
				       sizeof(saakm_mutants_reached));
}

static ssize_t saakm_mutants_write(struct file *file, const char __user *buf, size_t n, loff_t *at)
{
	memset(saakm_mutants_reached, 0, sizeof(saakm_mutants_reached));
	return n;
}

static const struct proc_ops saakm_mutants_ops = {
	.proc_read	= saakm_mutants_read,
	.proc_write	= saakm_mutants_write,
};

static int __init saakm_mutants_init(void)
{
	proc_create("saakm_mutants", 0600, NULL, &saakm_mutants_ops);
	return 0;
}
late_initcall(saakm_mutants_init);
