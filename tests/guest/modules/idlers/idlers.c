// SPDX-License-Identifier: GPL-2.0
/*
 * idlers: a FIFO that is asked for idle CPUs. Write a list of CPUs to the parameter `ask`, from
 * a thread that may use them, and read there which one saakm_idle_cpu_in() names, and a mask of
 * those that idle. To `running` write a CPU, and read the policy's thread there, or 0, and the
 * thread that is there, whosever it is.
 *
 * Other CPUs stand still while the class is asked: what is true then cannot be another thing a
 * moment later. EAGAIN: a CPU stands between idling and not, as when somebody was woken there.
 */
#include <linux/saakm.h>
#include <linux/smp.h>

static bool keeps_masks = true;
module_param(keeps_masks, bool, 0444);
MODULE_PARM_DESC(keeps_masks, "SAAKM_POLICY_IDLE_MASKS");
static bool shares;
module_param(shares, bool, 0444);
MODULE_PARM_DESC(shares, "all cores share a queue");

static struct saakm_policy idlers;

struct answer {
	int	said;
	long	truth;
};

static struct answer idle = { .said = -2 }, running = { .said = -1 };

/* Others stand still in an interrupt: none is within the scheduler, which has them off. */

static DEFINE_PER_CPU(struct task_struct *, found);
static atomic_t standing;
static bool go_on;

static void stand_still(void *unused)
{
	__this_cpu_write(found, current);
	atomic_inc(&standing);
	while (!smp_load_acquire(&go_on))	/* let_others_go() */
		cpu_relax();
	atomic_dec(&standing);
}

/* With preemption off. */
static void stop_others(void)
{
	int cpu;

	atomic_set(&standing, 0);
	WRITE_ONCE(go_on, false);
	__this_cpu_write(found, current);
	for_each_online_cpu(cpu) {
		if (cpu != smp_processor_id())
			smp_call_function_single(cpu, stand_still, NULL, false);
	}
	while (atomic_read(&standing) < num_online_cpus() - 1)
		cpu_relax();
}

static void let_others_go(void)
{
	smp_store_release(&go_on, true);	/* stand_still() */
	while (atomic_read(&standing))
		cpu_relax();
}

/* Those that idle, or -EAGAIN. */
static long idle_ones(void)
{
	long mask = 0;
	int cpu;

	for_each_online_cpu(cpu) {
		bool idles = is_idle_task(per_cpu(found, cpu));

		if (idles != saakm_cpu_idle(cpu))
			return -EAGAIN;
		mask |= (long)idles << cpu;
	}
	return mask;
}

static int ask(const char *words, const struct kernel_param *kp)
{
	static struct cpumask mask;
	int ret = cpulist_parse(words, &mask);
	unsigned long flags;

	if (ret)
		return ret;
	guard(preempt)();
	stop_others();
	local_irq_save(flags);
	idle.said = saakm_idle_cpu_in(current, &mask);
	idle.truth = idle_ones();
	local_irq_restore(flags);
	let_others_go();
	return idle.truth < 0 ? idle.truth : 0;
}

static int ask_running(const char *words, const struct kernel_param *kp)
{
	struct task_struct *task;
	int cpu;

	if (kstrtoint(words, 10, &cpu) || cpu < 0 || cpu >= nr_cpu_ids)
		return -EINVAL;
	guard(preempt)();
	stop_others();
	task = saakm_running_on(&idlers, cpu);
	running.said = task ? task->pid : 0;
	running.truth = per_cpu(found, cpu)->pid;
	let_others_go();
	return 0;
}

static int get(char *text, const struct kernel_param *kp)
{
	const struct answer *answer = kp->arg;

	return sprintf(text, "%d %lx\n", answer->said, answer->truth);
}

static const struct kernel_param_ops ask_ops = { .set = ask, .get = get };
module_param_cb(ask, &ask_ops, &idle, 0644);

static const struct kernel_param_ops running_ops = { .set = ask_running, .get = get };
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
