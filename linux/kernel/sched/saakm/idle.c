// SPDX-License-Identifier: GPL-2.0
/*
 * Which CPUs idle, and whose whole core does: masks that are kept while a policy in use
 * asks for them, or shares queues. All CPUs write them, but a search reads no line of theirs.
 */

u64 saakm_keeping_masks __read_mostly;

struct cpumask saakm_idle_cpus;
static struct cpumask saakm_idle_cores;

/* A hardware thread begins or ends to idle. Its siblings may do so at the same time. */
static void saakm_note_idle_core(int cpu, bool idle)
{
#ifdef CONFIG_SCHED_SMT
	const struct cpumask *smt = cpu_smt_mask(cpu);
	int sibling;

	if (!sched_smt_active())
		return;
	smp_mb__after_atomic();		/* siblings see this before we look at them */
	if (idle && cpumask_subset(smt, &saakm_idle_cpus)) {
		for_each_cpu(sibling, smt)
			cpumask_set_cpu(sibling, &saakm_idle_cores);
		smp_mb__after_atomic();	/* and that, or we see that they run */
		idle = cpumask_subset(smt, &saakm_idle_cpus);
	}
	/* One that has come online was no sibling when the others' core began to idle. */
	if (!idle && cpumask_intersects(smt, &saakm_idle_cores)) {
		for_each_cpu(sibling, smt)
			cpumask_clear_cpu(sibling, &saakm_idle_cores);
	}
#endif
}

void saakm_note_idle(int cpu, bool idle)
{
	if (idle)
		cpumask_set_cpu(cpu, &saakm_idle_cpus);
	else
		cpumask_clear_cpu(cpu, &saakm_idle_cpus);
	saakm_note_idle_core(cpu, idle);
}

/* The masks have not been kept. Somebody is about to rely on them. */
void saakm_begin_idle_masks(void)
{
	struct task_struct *curr;
	int cpu;

	cpumask_clear(&saakm_idle_cores);
	for_each_possible_cpu(cpu) {
		guard(rq_lock_irqsave)(cpu_rq(cpu));
		curr = saakm_rq_curr(cpu_rq(cpu));
		saakm_note_idle(cpu, cpu_online(cpu) && is_idle_task(curr));
	}
}

static int saakm_first_idle(const struct task_struct *task, const struct cpumask *idle,
			    const struct cpumask *cores)
{
	int cpu;

	for_each_cpu_and(cpu, idle, cores) {
		if (saakm_idle_for(task, cpu))
			return cpu;
	}
	return -1;
}

int saakm_idle_cpu_in(const struct task_struct *task, const struct cpumask *cores)
{
	int cpu;

	if (!READ_ONCE(saakm_keeping_masks))
		return saakm_first_idle(task, task->cpus_ptr, cores);
	cpu = saakm_first_idle(task, &saakm_idle_cores, cores);
	return cpu >= 0 ? cpu : saakm_first_idle(task, &saakm_idle_cpus, cores);
}
EXPORT_SYMBOL_NS_GPL(saakm_idle_cpu_in, SAAKM);
