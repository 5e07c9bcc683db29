// SPDX-License-Identifier: GPL-2.0
/* /proc/saakm and /proc/<pid>/saakm. */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

static int saakm_policies_show(struct seq_file *m, void *v)
{
	struct saakm_policy *policy;
	u64 switches;
	int cpu;

	seq_puts(m, "id  name             module           priority state   threads        new terminated   switches\n");
	guard(rcu)();
	for_each_saakm_policy(policy) {
		switches = 0;
		for_each_possible_cpu(cpu)
			switches += READ_ONCE(saakm_core(policy, cpu)->switches);
		seq_printf(m, "%-3u %-16s %-16s %8d %-7s %7u %10lu %10lu %10llu\n",
			   policy->own->id, policy->own->name,
			   policy->own->owner ? module_name(policy->own->owner) : "-",
			   policy->own->priority,
			   saakm_exit_kind(policy) ? "ejected" :
			   policy->dying ? "dying" : "active",
			   policy->nr_threads, policy->nr_new,
			   policy->nr_terminated, switches);
	}
	return 0;
}

/* One line for each: the reason comes last and has blanks. */
static int saakm_ejected_show(struct seq_file *m, void *v)
{
	const struct saakm_policy *policy;

	seq_puts(m, "id  name             number kind              seconds      handler          cpu thread           reason\n");
	guard(rcu)();
	for_each_saakm_policy(policy) {
		const struct saakm_exit *exit = &policy->exit;
		char thread[TASK_COMM_LEN + 12] = "-";
		char *c;

		if (!saakm_exit_kind(policy))
			continue;
		if (exit->pid)
			snprintf(thread, sizeof(thread), "%s/%d", exit->comm, exit->pid);
		for (c = thread; *c; c++) {
			if (iscntrl(*c) || *c == ' ')
				*c = '_';
		}
		seq_printf(m, "%-3u %-16s %6d %-17s %5llu.%06llu %-16s %3d %-16s %s\n",
			   policy->own->id, policy->own->name, saakm_exit_kind(policy),
			   saakm_exit_names[saakm_exit_kind(policy)],
			   exit->time_ns / NSEC_PER_SEC,
			   exit->time_ns % NSEC_PER_SEC / NSEC_PER_USEC,
			   saakm_handler_names[exit->handler], exit->cpu, thread, exit->reason);
	}
	return 0;
}

static int saakm_topology_show(struct seq_file *m, void *v)
{
	struct topology_level *level;
	int cpu, depth;

	seq_puts(m, "cpu level kind     span\n");
	saakm_topology_keep();
	guard(rcu)();
	for_each_online_cpu(cpu) {
		depth = 0;
		for_each_topology_level(level, cpu)
			seq_printf(m, "%-3d %-5d %-8s %*pbl\n", cpu, depth++,
				   saakm_topology_names[level->kind],
				   cpumask_pr_args(&level->cores));
	}
	return 0;
}

/* /proc/<pid>/saakm */
int proc_pid_saakm(struct seq_file *m, struct pid_namespace *ns,
		   struct pid *pid, struct task_struct *task)
{
	struct saakm_task *st = &task->saakm;
	struct rq_flags rf;
	struct rq *rq;

	rq = task_rq_lock(task, &rf);
	if (st->policy) {
		update_rq_clock(rq);
		seq_printf(m, "policy %u\nname %s\nstate %s\ncpu %d\nsince_ns %llu\nparam %u\n",
			   st->policy->own->id, st->policy->own->name,
			   saakm_state_names[st->state], task_cpu(task),
			   st->since_ns ? rq_clock(rq) - st->since_ns : 0,
			   st->param);
	} else {
		seq_puts(m, "policy 0\n");
	}
	task_rq_unlock(rq, task, &rf);
	return 0;
}

static int __init saakm_procfs_init(void)
{
	struct proc_dir_entry *proc = proc_mkdir("saakm", NULL);

	if (!proc)
		return -ENOMEM;
	proc_create_single("policies", 0444, proc, saakm_policies_show);
	proc_create_single("topology", 0444, proc, saakm_topology_show);
	proc_create_single("ejected", 0444, proc, saakm_ejected_show);
	return 0;
}
device_initcall(saakm_procfs_init);
