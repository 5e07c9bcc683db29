// SPDX-License-Identifier: GPL-2.0
/*
 * idlers: a FIFO that is asked for idle CPUs. Write a list of CPUs to the parameter `ask`, from
 * a thread that may use them, and read there which one saakm_idle_cpu_in() names, and a mask of
 * those that idle. To `running` write a CPU, and read the policy's thread there, or 0, and the
 * thread that is there, whosever it is.
 *
 * Other CPUs stand still while the class is asked: what is true then cannot be another thing a
 * moment later. EAGAIN: a CPU stands between idling and not, as when somebody was woken there; or
 * could not be stopped.
 */
#include <linux/cpu.h>
#include <linux/saakm.h>
#include <linux/sched/clock.h>
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

#define PATIENCE_NS	(20 * NSEC_PER_MSEC)

static DEFINE_PER_CPU(struct task_struct *, found);
static int asker;
static atomic_t came, gone;
static bool go_on;

static void stand_still(void *unused)
{
	__this_cpu_write(found, current);
	if (smp_processor_id() == asker)
		return;
	atomic_inc(&came);
	while (!smp_load_acquire(&go_on))	/* let_others_go() */
		cpu_relax();
	atomic_inc(&gone);
}

/* Who comes late merely passes, but is waited for: else the next question would find him there. */
static void let_others_go(void)
{
	smp_store_release(&go_on, true);	/* stand_still() */
	while (atomic_read(&gone) < num_online_cpus() - 1)
		cpu_relax();
	local_bh_enable();
}

/*
 * No CPU comes or goes meanwhile. A softirq here could wait for what another CPU holds; there are
 * none. So can a CPU that has interrupts off, as write_lock_irq(&tasklist_lock) does for readers
 * that have them on: it never comes unless the others go on. -EAGAIN then.
 */
static int stop_others(void)
{
	u64 begin_ns;

	local_bh_disable();
	begin_ns = local_clock();
	atomic_set(&came, 0);
	atomic_set(&gone, 0);
	WRITE_ONCE(go_on, false);
	asker = smp_processor_id();
	on_each_cpu(stand_still, NULL, false);
	while (atomic_read(&came) < num_online_cpus() - 1) {
		if (local_clock() - begin_ns > PATIENCE_NS) {
			let_others_go();
			return -EAGAIN;
		}
		cpu_relax();
	}
	return 0;
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
	guard(cpus_read_lock)();
	ret = stop_others();
	if (ret)
		return ret;
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
	int cpu, ret;

	guard(cpus_read_lock)();
	if (kstrtoint(words, 10, &cpu) || cpu < 0 || cpu >= nr_cpu_ids || !cpu_online(cpu))
		return -EINVAL;
	ret = stop_others();
	if (ret)
		return ret;
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
