// SPDX-License-Identifier: GPL-2.0
/*
 * The watchdog finds stalls, threads that are READY for too long, and handlers
 * that do not return.
 *
 * It has two halves. Samples are taken by whichever CPU's tick comes first:
 * who holds each CPU, and has it been in a handler, without a tick, since the
 * last one? Nothing is counted or timed for a handler. (balancing_select, which
 * runs with interrupts on, is left to the soft lockup detector.) The patrol, a work item,
 * looks at all threads that wait. From a thread's wait it subtracts the samples
 * in which all the CPUs that it may use were held by higher classes or by
 * policies that go before its own: that is not its policy's fault.
 */

#define SAAKM_TIMEOUT_MS	30000
#define SAAKM_SAMPLES		64	/* that saakm_core.held remembers */
#define SAAKM_PATROL_SOON_MS	250

static unsigned int saakm_handler_limit_ms = 1000;

unsigned long saakm_next_sample;
static unsigned long saakm_sample_period;	/* jiffies */
static unsigned long saakm_patrol_period;	/* jiffies */
static DEFINE_RAW_SPINLOCK(saakm_sample_lock);
static u32 saakm_nr_samples;
/* When the last one was taken, and by number modulo SAAKM_SAMPLES: time since the one before. */
static u64 saakm_sampled_ms;		/* sched_clock, which waits are measured by */
static u32 saakm_sample_took_ms[SAAKM_SAMPLES];

/* What a CPU was seen in at the last sample, and for how long it has been in it. */
struct saakm_call_watch {
	unsigned int		ms;
	u32			ticks;
	bool			waited;
	enum saakm_handler	handler;
	const void		*subject;
};

static DEFINE_PER_CPU(struct saakm_call_watch, saakm_call_watch);

/* Idle time of a CPU: at the last sample, and what is yet to be taken from its samples. */
struct saakm_idle_watch {
	u64			sampled_ns;
	s64			left_ns;
};

static DEFINE_PER_CPU(struct saakm_idle_watch, saakm_idle_watch);

static unsigned int saakm_timeout_ms(const struct saakm_policy *policy)
{
	return policy->own->timeout_ms ?: SAAKM_TIMEOUT_MS;
}

/* Samples: in the tick, interrupts off */

/* By core scheduling a CPU idles for the sake of whom a sibling runs. */
static const struct cpumask *saakm_holders(int cpu)
{
#ifdef CONFIG_SCHED_CORE
	struct rq *rq = cpu_rq(cpu);

	if (sched_core_enabled(rq) && READ_ONCE(rq->saakm.forced_idle) &&
	    READ_ONCE(rq->nr_running) && rcu_access_pointer(rq->curr) == rq->idle)
		return cpu_smt_mask(cpu);
#endif
	return cpumask_of(cpu);
}

static bool saakm_held_by_others(int cpu, const struct saakm_policy *policy)
{
	const struct saakm_policy *running;
	const struct task_struct *curr;
	int i;

	for_each_cpu(i, saakm_holders(cpu)) {
		curr = rcu_dereference_sched(cpu_rq(i)->curr);
		running = task_on_saakm(curr) ? READ_ONCE(curr->saakm.policy) : NULL;
		if (sched_class_above(curr->sched_class, &saakm_sched_class) ||
		    (running && running != policy && saakm_policy_before(running, policy)))
			return true;
	}
	return false;
}

/*
 * A sample tells of all the time since the one before, but not where the CPU idled: who waits
 * for that CPU could have run, and a short moment of another thread, which may be what brought
 * the tick back, must not excuse it. So of its samples as many count for nothing as it has
 * idled for.
 */
static bool saakm_sample_idle(int cpu, u32 took_ms)
{
	struct saakm_idle_watch *watch = per_cpu_ptr(&saakm_idle_watch, cpu);
	u64 idle_ns = READ_ONCE(cpu_rq(cpu)->saakm.idle_ns);
	s64 took_ns = (s64)took_ms * NSEC_PER_MSEC;
	s64 left_ns = watch->left_ns + (s64)(idle_ns - watch->sampled_ns);

	/* What is told late, at the end of a long time, is about samples that have been. */
	left_ns = clamp(left_ns, -took_ns, took_ns);
	watch->sampled_ns = idle_ns;
	watch->left_ns = left_ns > took_ns / 2 ? left_ns - took_ns : left_ns;
	return left_ns > took_ns / 2;
}

static void saakm_sample_holder(int cpu, u32 took_ms)
{
	bool idled = saakm_sample_idle(cpu, took_ms);
	struct saakm_policy *policy;
	struct saakm_core *core;

	for_each_saakm_policy(policy) {
		core = saakm_core(policy, cpu);
		WRITE_ONCE(core->held, core->held << 1 |
			   (!idled && saakm_held_by_others(cpu, policy)));
	}
}

/* A CPU that is stuck stays at one thread or policy: it cannot be freed. */
static void saakm_overrun(int cpu, const struct saakm_call_watch *watch, unsigned int ms)
{
	const struct task_struct *p = NULL;
	struct saakm_policy *policy;

	if (saakm_is_core_event(watch->handler)) {
		policy = (struct saakm_policy *)watch->subject;
	} else {
		p = watch->subject;
		policy = READ_ONCE(p->saakm.policy);
	}
	if (policy)
		saakm_violation(SAAKM_EXIT_OVERRUN, policy, p,
				"%s has been running for %u ms on CPU %d",
				saakm_handler_names[watch->handler], ms, cpu);
}

/*
 * Reads what @cpu is in. It may go on meanwhile: then handler and subject need
 * not belong together, and nothing is said.
 */
static bool saakm_read_call(int cpu, enum saakm_handler *handler, const void **subject)
{
	const struct saakm_context *context = per_cpu_ptr(&saakm_context, cpu);

	*handler = READ_ONCE(context->handler);
	/* As saakm_enter() writes them: the subject, then the handler. */
	smp_rmb();
	*subject = saakm_is_balancing(*handler) ? READ_ONCE(context->balancer) :
		   READ_ONCE(context->subject);
	smp_rmb();	/* and the handler once more */
	return *handler != SAAKM_H_none && *handler == READ_ONCE(context->handler);
}

/* Interrupts are on: it is in no handler that keeps others waiting. */
static void saakm_probe(struct irq_work *work)
{
	container_of(work, struct rq, saakm.probe)->saakm.ticks++;
}

void saakm_watchdog_init_rq(struct rq *rq)
{
	rq->saakm.probe = IRQ_WORK_INIT_HARD(saakm_probe);
}

/*
 * One handler since the last sample: the same about the same, and no interrupt
 * since. A CPU without ticks (nohz_full) is asked for one.
 */
static void saakm_sample_call(int cpu, u32 took_ms)
{
	struct saakm_call_watch *watch = per_cpu_ptr(&saakm_call_watch, cpu);
	u32 ticks = READ_ONCE(cpu_rq(cpu)->saakm.ticks);
	enum saakm_handler handler;
	const void *subject;
	bool waits;

	if (!saakm_read_call(cpu, &handler, &subject)) {
		watch->handler = SAAKM_H_none;
		return;
	}
	waits = READ_ONCE(per_cpu_ptr(&saakm_context, cpu)->waits);
	if (handler != watch->handler || subject != watch->subject || ticks != watch->ticks) {
		*watch = (struct saakm_call_watch) {
			.ticks = ticks, .waited = waits, .handler = handler, .subject = subject,
		};
		irq_work_queue_on(&cpu_rq(cpu)->saakm.probe, cpu);
		return;
	}
	/*
	 * From or to a moment in which others kept a lock from it, the time may be theirs; and
	 * all of a long one in which no CPU could take a sample.
	 */
	if (!waits && !watch->waited)
		watch->ms += min(took_ms, 2 * jiffies_to_msecs(saakm_sample_period));
	watch->waited = waits;
	if (saakm_handler_limit_ms && watch->ms >= saakm_handler_limit_ms)
		saakm_overrun(cpu, watch, watch->ms);
}

static void saakm_take_sample(void)
{
	u64 now_ms = div_u64(local_clock(), NSEC_PER_MSEC);
	u32 took_ms = clamp_t(s64, now_ms - saakm_sampled_ms, 0, U32_MAX);
	int cpu;

	for_each_online_cpu(cpu) {
		saakm_sample_holder(cpu, took_ms);
		saakm_sample_call(cpu, took_ms);
	}
	saakm_sample_took_ms[saakm_nr_samples % SAAKM_SAMPLES] = took_ms;
	WRITE_ONCE(saakm_sampled_ms, saakm_sampled_ms + took_ms);
	WRITE_ONCE(saakm_nr_samples, saakm_nr_samples + 1);
}

void __saakm_sample(unsigned long next)
{
	if (!raw_spin_trylock(&saakm_sample_lock))
		return;
	if (cmpxchg(&saakm_next_sample, next, (jiffies + saakm_sample_period) | 1) == next)
		saakm_take_sample();
	raw_spin_unlock(&saakm_sample_lock);
}

/* Patrol */

/* One round of the patrol. */
struct saakm_round {
	unsigned int		late_ms;	/* the machine stood still, or others held it */
	bool			suspicious;
	/* Threads mostly have the same mask: the last answer, and to what. */
	const struct saakm_policy *policy;
	struct cpumask		mask;
	u32			last;		/* sample */
	u64			held;
};

/* Samples, latest in bit 0, in which others held all CPUs that @p may use. */
static u64 saakm_held(const struct task_struct *p, u32 last, struct saakm_round *round)
{
	u64 held = ~0ULL;
	int cpu;

	if (round->policy == p->saakm.policy && round->last == last &&
	    cpumask_equal(&round->mask, p->cpus_ptr))
		return round->held;
	for_each_cpu_and(cpu, p->cpus_ptr, cpu_active_mask)
		held &= READ_ONCE(saakm_core(p->saakm.policy, cpu)->held);
	round->policy = p->saakm.policy;
	round->last = last;
	cpumask_copy(&round->mask, p->cpus_ptr);
	round->held = held;
	return held;
}

/*
 * Time of the last @n samples, up to @last, in which others held all CPUs that @p may use.
 * What was before its wait does not excuse that: the first sample after nobody was in
 * SaaKM, when no tick takes any, tells of a time in which nobody waited.
 */
static u64 saakm_excused_ms(const struct task_struct *p, u32 last, u32 n, u64 start_ns,
			    struct saakm_round *round)
{
	s64 left_ms = READ_ONCE(saakm_sampled_ms) - div_u64(start_ns, NSEC_PER_MSEC);
	u64 held = saakm_held(p, last, round), excused_ms = 0;
	unsigned int i;
	s64 took_ms;

	for (i = 0; i < min(n, SAAKM_SAMPLES) && left_ms > 0; i++) {
		took_ms = min_t(s64, left_ms, saakm_sample_took_ms[(last - 1 - i) % SAAKM_SAMPLES]);
		left_ms -= took_ms;
		if (held & BIT_ULL(i))
			excused_ms += took_ms;
	}
	return excused_ms;
}

/* Why nobody may have looked at the queue that @p is in: it is easily forgotten. */
static const char *saakm_where(const struct task_struct *p)
{
	const struct saakm_core *core = saakm_core(p->saakm.policy, task_cpu(p));
	bool in_core_rq = p->saakm.rq == &core->event.rq;

	if (p->saakm.rq && p->saakm.rq->type & SAAKM_RQ_SHARED)
		return p->saakm.policy->own->routines.refill ?
			"; it is in a queue that cores share, which is left to refill" : "";
	if (p->saakm.policy->own->routines.schedule)
		return in_core_rq ? "; it is in core->rq, and the policy has its own schedule" : "";
	return in_core_rq || p->saakm.rq == &task_rq(p)->saakm.orphans ? "" :
		"; it is not in core->rq, from which the class elects without a schedule";
}

/* A wait is looked at from a quarter of the limit on; the samples go back further. */
static void saakm_watch(struct task_struct *p, u64 now_ns, struct saakm_round *round)
{
	struct saakm_task *st = &p->saakm;
	unsigned int timeout_ms = saakm_timeout_ms(st->policy);
	u64 start_ns = saakm_wait_start(p);
	u64 waited_ms = (s64)(now_ns - start_ns) > 0 ?
		min(div_u64(now_ns - start_ns, NSEC_PER_MSEC), U32_MAX) : 0;
	u32 last = READ_ONCE(saakm_nr_samples);

	if (timeout_ms == SAAKM_NO_TIMEOUT ||
	    waited_ms < min(timeout_ms / 4,
			    SAAKM_SAMPLES / 2 * jiffies_to_msecs(saakm_sample_period)))
		return;
	if (st->watched_ns != start_ns) {
		st->watched_ns = start_ns;
		st->excused_ms = 0;
		st->watched_sample = last - SAAKM_SAMPLES;
	}
	st->excused_ms = min(waited_ms, st->excused_ms + task_rq(p)->saakm.late_ms +
			     saakm_excused_ms(p, last, last - st->watched_sample, start_ns, round));
	st->watched_sample = last;
	if (waited_ms - st->excused_ms > timeout_ms)
		saakm_violation(SAAKM_EXIT_STALL, st->policy, p,
				"%s/%d has been READY on CPU %d for %llu ms without running; in %u ms of these others held all its CPUs; the limit is %u ms%s",
				p->comm, p->pid, task_cpu(p), waited_ms, st->excused_ms,
				timeout_ms, saakm_where(p));
	task_rq(p)->saakm.suspicious |= waited_ms - st->excused_ms > timeout_ms / 2;
}

/* A CPU that is stuck in a handler keeps its lock for longer than all others. */
#define SAAKM_PATROL_TRIES	100	/* us */

static bool saakm_patrol_lock(struct rq *rq, unsigned long *flags)
{
	for (int i = 0; i < SAAKM_PATROL_TRIES; i++) {
		local_irq_save(*flags);
		if (raw_spin_rq_trylock(rq))
			return true;
		local_irq_restore(*flags);
		udelay(1);
	}
	return false;
}

static void saakm_patrol_threads(struct rq *rq, struct saakm_round *round)
{
	u64 now_ns = max(sched_clock_cpu(cpu_of(rq)), rq->clock);
	struct task_struct *p;

	rq->saakm.suspicious = false;
	list_for_each_entry(p, &rq->saakm.threads, saakm.rq_node) {
		if (p->saakm.state == SAAKM_READY)
			saakm_watch(p, now_ns, round);
	}
	rq->saakm.late_ms = 0;
}

/* Where it does not get the lock, the next round makes up for this one. */
static void saakm_patrol_cpu(struct rq *rq, struct saakm_round *round)
{
	unsigned long flags;

	rq->saakm.late_ms += round->late_ms;
	if (saakm_patrol_lock(rq, &flags)) {
		saakm_patrol_threads(rq, round);
		raw_spin_rq_unlock(rq);
		local_irq_restore(flags);
	}
	round->suspicious |= rq->saakm.suspicious;
}

static unsigned long saakm_patrol_due;		/* jiffies */
static bool saakm_suspicious;

/* It may wait for locks that a thread holds which stalls. */
static void saakm_suspect(struct work_struct *work)
{
	saakm_history_auto(READ_ONCE(saakm_suspicious));
}

static DECLARE_WORK(saakm_suspect_work, saakm_suspect);

static void saakm_patrol(struct work_struct *work)
{
	static struct saakm_round round;
	unsigned long period = READ_ONCE(saakm_patrol_period);
	long late = jiffies - READ_ONCE(saakm_patrol_due);
	int cpu;

	/* A debugger or a hypervisor stopped the clock of ticks, not that of threads. */
	round = (struct saakm_round) {
		.late_ms = late > (long)period ? jiffies_to_msecs(late) : 0,
	};
	/* Without cpus_read_lock(): who stalls may hold it, or keep a CPU from coming. */
	for_each_online_cpu(cpu) {
		saakm_patrol_cpu(cpu_rq(cpu), &round);
		cond_resched();
	}
	WRITE_ONCE(saakm_suspicious, round.suspicious);
	queue_work(system_unbound_wq, &saakm_suspect_work);
	/* What looks like a stall is found soon after its limit. */
	if (round.suspicious)
		period = min(period, msecs_to_jiffies(SAAKM_PATROL_SOON_MS));
	WRITE_ONCE(saakm_patrol_due, jiffies + period);
	queue_delayed_work(system_unbound_wq, to_delayed_work(work), period);
}

static DECLARE_DELAYED_WORK(saakm_patrol_work, saakm_patrol);

/* The list of policies has changed. Called under saakm_mutex. */
void saakm_watchdog_set(void)
{
	unsigned int shortest_ms = SAAKM_TIMEOUT_MS;
	struct saakm_policy *policy;
	unsigned long due;

	if (list_empty(&saakm_policies)) {
		WRITE_ONCE(saakm_next_sample, 0);
		cancel_delayed_work_sync(&saakm_patrol_work);
		cancel_work_sync(&saakm_suspect_work);
		saakm_history_auto(false);
		return;
	}
	list_for_each_entry(policy, &saakm_policies, node)
		shortest_ms = min(shortest_ms, saakm_timeout_ms(policy));
	saakm_sample_period = msecs_to_jiffies(clamp(shortest_ms / 32, 1U, 250U));
	saakm_patrol_period = msecs_to_jiffies(clamp(shortest_ms / 4, 10U, 8000U));
	/* What comes sooner anyway is not put off: policies may come and go all the time. */
	due = (jiffies + saakm_sample_period) | 1;
	if (!saakm_next_sample || time_before(due, saakm_next_sample))
		WRITE_ONCE(saakm_next_sample, due);
	due = jiffies + saakm_patrol_period;
	if (delayed_work_pending(&saakm_patrol_work) && time_before(saakm_patrol_due, due))
		return;
	WRITE_ONCE(saakm_patrol_due, due);
	mod_delayed_work(system_unbound_wq, &saakm_patrol_work, saakm_patrol_period);
}
