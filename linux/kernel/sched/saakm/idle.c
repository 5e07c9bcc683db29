// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs that idle: who is told, for how long they did, and which ones do, and whose whole core:
 * masks that are kept while a policy in use asks for them, or shares queues. All CPUs write these,
 * but a search reads no line of theirs.
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

/* Where the next search goes on that goes far; 0: none has ended before it had seen all. */
static DEFINE_PER_CPU(unsigned int, saakm_far);

/*
 * Asks about CPUs around @cpu until told that one is found; each costs a cache line of that CPU,
 * with interrupts off. Of a machine with more CPUs than that the nearest, and at last a few of all,
 * others each time: threads that were forked in one place would stay crowded around it.
 */
static __always_inline int saakm_search(int cpu, bool (*found)(int cpu, void *arg), void *arg)
{
	const bool many = small_cpumask_bits > SAAKM_IDLE_PROBES;	/* may be a constant */
	const unsigned int far = SAAKM_IDLE_PROBES / 4;
	unsigned int probes = SAAKM_IDLE_PROBES - 1, from = cpu + 1;
	struct topology_level *level, *inner = NULL;
	int other;

	for_each_topology_level(level, cpu) {
		if (many && !level->next)
			from = __this_cpu_read(saakm_far) ?: cpu + 1;
		for_each_cpu_wrap(other, &level->cores, from) {
			if (inner ? cpumask_test_cpu(other, &inner->cores) : other == cpu)
				continue;
			if (many && level->next && probes <= far)
				break;
			if (many && !probes--) {
				__this_cpu_write(saakm_far, other ?: nr_cpu_ids);
				return -1;
			}
			if (found(other, arg))
				return other;
		}
		inner = !many || probes > far ? level : inner;
	}
	return -1;
}

static bool saakm_found_idle(int cpu, void *task)
{
	return saakm_idle_for(task, cpu);
}

int saakm_idle_cpu_near(const struct task_struct *task, int cpu)
{
	if (saakm_idle_for(task, cpu))
		return cpu;
	guard(rcu)();
	return saakm_search(cpu, saakm_found_idle, (void *)task);
}
EXPORT_SYMBOL_NS_GPL(saakm_idle_cpu_near, SAAKM);

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

/* A CPU begins to idle, and ends it. */

void __saakm_enter_idle(struct rq *rq)
{
	struct saakm_policy *policy;

	if (!cpu_online(cpu_of(rq)))
		return;		/* It dies, and idles for nobody. */
	if (READ_ONCE(saakm_keeping_masks)) {
		saakm_note_idle(cpu_of(rq), true);
		smp_mb__after_atomic();		/* saakm_shared_link() */
	}
	for_each_saakm_policy(policy) {
		saakm_core_event(policy, cpu_of(rq), SAAKM_H_enter_idle,
				 policy->ops->enter_idle);
		if (saakm_shared_waits(saakm_core(policy, cpu_of(rq))))
			saakm_kick(cpu_of(rq));
	}
}

void saakm_exit_idle(struct rq *rq, struct task_struct *idle)
{
	/* Not exec_start, which fair's server sets anew when a fair thread comes. */
	u64 since_ns = rq->saakm.idle_since_ns ?: idle->se.exec_start;
	s64 delta_ns = rq_clock_task(rq) - since_ns;
	struct saakm_policy *policy;

	rq->saakm.idle_since_ns = 0;
	WRITE_ONCE(rq->saakm.idle_ns, rq->saakm.idle_ns + delta_ns);
	saakm_server_idle_time(rq, delta_ns);
	if (!READ_ONCE(saakm_watching_idle))
		return;
	if (READ_ONCE(saakm_keeping_masks)) {
		saakm_note_idle(cpu_of(rq), false);
		saakm_shared_leave_idle(rq);
	}
	for_each_saakm_policy(policy)
		saakm_core_event(policy, cpu_of(rq), SAAKM_H_exit_idle, policy->ops->exit_idle);
}

/* For as long it does not idle, though the idle thread has the CPU. */
void __saakm_note_forced_idle(struct rq *rq, bool forced)
{
	u64 now_ns = rq_clock_task(rq);

	if (rq->saakm.forced_idle)
		WRITE_ONCE(rq->saakm.idle_ns,
			   rq->saakm.idle_ns - (now_ns - rq->saakm.forced_since_ns));
	rq->saakm.forced_since_ns = now_ns;
	WRITE_ONCE(rq->saakm.forced_idle, forced);
}
