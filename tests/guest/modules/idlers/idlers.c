// SPDX-License-Identifier: GPL-2.0
/*
 * idlers: a FIFO that is asked for idle CPUs. Write a list of CPUs to the parameter `ask`, from
 * a thread that may use them, and read there which one saakm_idle_cpu_in() names. To `running`
 * write a CPU, and read the policy's thread there, or 0.
 */
#include <linux/saakm.h>

static bool keeps_masks = true;
module_param(keeps_masks, bool, 0444);
MODULE_PARM_DESC(keeps_masks, "SAAKM_POLICY_IDLE_MASKS");
static bool shares;
module_param(shares, bool, 0444);
MODULE_PARM_DESC(shares, "all cores share a queue");

static struct saakm_policy idlers;
static int answer = -2, running = -1;

static int ask(const char *words, const struct kernel_param *kp)
{
	static struct cpumask mask;
	int ret = cpulist_parse(words, &mask);

	if (ret)
		return ret;
	guard(preempt)();
	answer = saakm_idle_cpu_in(current, &mask);
	return 0;
}

static const struct kernel_param_ops ask_ops = { .set = ask, .get = param_get_int };
module_param_cb(ask, &ask_ops, &answer, 0644);

static int ask_running(const char *words, const struct kernel_param *kp)
{
	struct task_struct *task;
	int cpu;

	if (kstrtoint(words, 10, &cpu) || cpu < 0 || cpu >= nr_cpu_ids)
		return -EINVAL;
	guard(preempt)();
	task = saakm_running_on(&idlers, cpu);
	running = task ? task->pid : 0;
	return 0;
}

static const struct kernel_param_ops running_ops = {
	.set = ask_running, .get = param_get_int
};
module_param_cb(running, &running_ops, &running, 0644);

static int idlers_init(struct saakm_policy *policy)
{
	return shares ? saakm_share_queue(policy, cpu_possible_mask) : 0;
}

static struct saakm_policy idlers = {
	.name	= "idlers",
	.owner	= THIS_MODULE,
	.init	= idlers_init,
};

static int __init idlers_module_init(void)
{
	idlers.flags = keeps_masks ? SAAKM_POLICY_IDLE_MASKS : 0;
	return saakm_add_policy(&idlers);
}

static void __exit idlers_module_exit(void)
{
	saakm_remove_policy(&idlers);
}

module_init(idlers_module_init);
module_exit(idlers_module_exit);
MODULE_DESCRIPTION("SaaKM test: which CPUs idle, and what runs");
MODULE_LICENSE("GPL");
