// SPDX-License-Identifier: GPL-2.0
/*
 * mover: a FIFO whose threads are moved by hand. Write to the files in
 * /sys/kernel/debug/mover; the write returns what the class answered.
 *	move	"PID CPU [RQ_CPU]"	saakm_move_task() to a queue of RQ_CPU
 *	steal	"FROM TO MAX PARAM"	saakm_steal() of threads with this
 *					parameter (0: of all); stolen says how many
 *	kick	"CPU TIMES"		saakm_kick() each millisecond; idled and asked say
 *					how often newly_idle and schedule were called
 *					there meanwhile
 *	late	"TIMES"			goes to sleep after more kicks of its CPU than a tick
 *					takes; newly_idle kicks once more: idled says how
 *					often that called it again
 *	held	"TIMES"			the same where threads wait that schedule holds back
 *					then; it kicks: asked says how often it was called again
 *	hold	"CPU 0|1"		schedule holds all threads of the CPU back, or lets them go
 */
#include <linux/delay.h>
#include <linux/debugfs.h>
#include <linux/pid.h>
#include <linux/saakm.h>
#include <linux/sched/task.h>
#include <linux/uaccess.h>

static int stolen;
module_param(stolen, int, 0444);

static int idled;
module_param(idled, int, 0444);

static int asked;
module_param(asked, int, 0444);

static DEFINE_PER_CPU(int, mover_idled);
static DEFINE_PER_CPU(int, mover_asked);
static DEFINE_PER_CPU(bool, mover_kicks_late);
static DEFINE_PER_CPU(bool, mover_holds);

static bool wanted(struct task_struct *task, void *param)
{
	return saakm_task_param(task) == *(int *)param;
}

static struct task_struct *mover_schedule(struct core_event *core)
{
	per_cpu(mover_asked, core->id)++;
	if (per_cpu(mover_holds, core->id)) {
		if (xchg(&per_cpu(mover_kicks_late, core->id), false))
			saakm_kick(core->id);
		return NULL;
	}
	return saakm_curr(core) ?: saakm_rq_first(&core->rq);
}

static void mover_newly_idle(struct core_event *core)
{
	per_cpu(mover_idled, core->id)++;
	if (xchg(&per_cpu(mover_kicks_late, core->id), false))
		saakm_kick(core->id);
}

static struct saakm_policy mover = {
	.name		= "mover",
	.owner		= THIS_MODULE,
	.prepare	= saakm_prev_cpu,
	.schedule	= mover_schedule,
	.newly_idle	= mover_newly_idle,
};

static struct saakm_rq *rq_of(int cpu)
{
	return &saakm_core_of(&mover, cpu)->rq;
}

static int move(const char *words)
{
	int pid, cpu, rq_cpu, ret, found = sscanf(words, "%d %d %d", &pid, &cpu, &rq_cpu);
	struct task_struct *task;

	if (found < 2)
		return -ENOMSG;
	if (found < 3)
		rq_cpu = cpu;
	scoped_guard(rcu)
		task = get_pid_task(find_vpid(pid), PIDTYPE_PID);
	if (!task)
		return -ENOMSG;
	ret = saakm_move_task(task, cpu, rq_of(rq_cpu));
	put_task_struct(task);
	return ret;
}

static int pull(const char *words)
{
	int from, to, max, param;

	if (sscanf(words, "%d %d %d %d", &from, &to, &max, &param) != 4)
		return -ENOMSG;
	stolen = saakm_steal(rq_of(from), to, rq_of(to), max, param ? wanted : NULL, &param);
	return min(stolen, 0);
}

static int kick(const char *words)
{
	int given, cpu, times, idled_before, asked_before;

	if (sscanf(words, "%d %d", &given, &times) != 2)
		return -ENOMSG;
	/* One that there is not is for saakm_kick() to refuse, not for us. */
	cpu = given >= 0 && given < nr_cpu_ids ? given : 0;
	idled_before = READ_ONCE(per_cpu(mover_idled, cpu));
	asked_before = READ_ONCE(per_cpu(mover_asked, cpu));
	while (times--) {
		saakm_kick(given);
		usleep_range(1000, 1100);
	}
	idled = READ_ONCE(per_cpu(mover_idled, cpu)) - idled_before;
	asked = READ_ONCE(per_cpu(mover_asked, cpu)) - asked_before;
	return 0;
}

/* How often of @words a late kick had its CPU call once more what counts calls in @calls. */
static int sleeps_after_kicks(const char *words, int __percpu *calls, bool holds, int *again)
{
	int cpu = raw_smp_processor_id(), times, i, before;

	if (kstrtoint(words, 10, &times))
		return -ENOMSG;
	for (*again = 0; times--;) {
		for (i = 0; i < 60; i++)
			saakm_kick(cpu);
		before = READ_ONCE(*per_cpu_ptr(calls, cpu));
		WRITE_ONCE(per_cpu(mover_holds, cpu), holds);
		WRITE_ONCE(per_cpu(mover_kicks_late, cpu), true);
		usleep_range(1000, 1100);	/* a quarter of a tick */
		*again += READ_ONCE(*per_cpu_ptr(calls, cpu)) - before > 1;
	}
	WRITE_ONCE(per_cpu(mover_holds, cpu), false);
	saakm_kick(cpu);
	return 0;
}

static int late(const char *words)
{
	return sleeps_after_kicks(words, &mover_idled, false, &idled);
}

static int held(const char *words)
{
	return sleeps_after_kicks(words, &mover_asked, true, &asked);
}

static int hold(const char *words)
{
	int cpu, holds;

	if (sscanf(words, "%d %d", &cpu, &holds) != 2 || !cpu_possible(cpu))
		return -ENOMSG;
	WRITE_ONCE(per_cpu(mover_holds, cpu), holds);
	saakm_kick(cpu);
	return 0;
}

static ssize_t mover_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	int (*act)(const char *words) = file->private_data;
	char words[64] = {};
	int ret;

	if (count >= sizeof(words) || copy_from_user(words, buf, count))
		return -EFAULT;
	ret = act(words);
	return ret ?: count;
}

static const struct file_operations mover_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= mover_write,
};

static struct dentry *directory;

static int __init mover_module_init(void)
{
	int ret = saakm_add_policy(&mover);

	if (ret)
		return ret;
	directory = debugfs_create_dir("mover", NULL);
	debugfs_create_file("move", 0200, directory, move, &mover_fops);
	debugfs_create_file("steal", 0200, directory, pull, &mover_fops);
	debugfs_create_file("kick", 0200, directory, kick, &mover_fops);
	debugfs_create_file("late", 0200, directory, late, &mover_fops);
	debugfs_create_file("held", 0200, directory, held, &mover_fops);
	debugfs_create_file("hold", 0200, directory, hold, &mover_fops);
	return 0;
}

static void __exit mover_module_exit(void)
{
	debugfs_remove_recursive(directory);
	saakm_remove_policy(&mover);
}

module_init(mover_module_init);
module_exit(mover_module_exit);
MODULE_DESCRIPTION("SaaKM test: moves threads on request");
MODULE_LICENSE("GPL");
