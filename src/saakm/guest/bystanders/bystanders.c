// SPDX-License-Identifier: GPL-2.0
/*
 * bystanders: as many policies as `count` says, to which nobody gives a thread.
 * Loaded before the policy that is measured, all of them are asked before it.
 */
#include <linux/saakm.h>

#define MOST 16

static unsigned int count = 1;
module_param(count, uint, 0444);

static struct saakm_policy policies[MOST];

static void bystanders_remove(unsigned int number)
{
	while (number--)
		saakm_remove_policy(&policies[number]);
}

static int __init bystanders_init(void)
{
	unsigned int i;
	int ret;

	if (count > MOST)
		return -EINVAL;
	for (i = 0; i < count; i++) {
		snprintf(policies[i].name, sizeof(policies[i].name), "bystander%u", i);
		policies[i].owner = THIS_MODULE;
		ret = saakm_add_policy(&policies[i]);
		if (ret) {
			bystanders_remove(i);
			return ret;
		}
	}
	return 0;
}

static void __exit bystanders_exit(void)
{
	bystanders_remove(count);
}

module_init(bystanders_init);
module_exit(bystanders_exit);
MODULE_DESCRIPTION("SaaKM: policies without threads, for saakm cost --axis policies");
MODULE_LICENSE("GPL");
