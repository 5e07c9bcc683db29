// SPDX-License-Identifier: GPL-2.0
/*
 * The tick, HZ times a second on CPUs that do not idle (CONFIG_NO_HZ_IDLE), at the same times on
 * all of them; jiffies; and the kick by which a busy CPU makes an idle one balance for the others.
 *
 * A CPU that begins to idle keeps its tick until one has come: idle_call_stop_or_retain_tick() of
 * kernel/sched/idle.c, as where no governor knows better (guests, machines without idle states to
 * choose from). Then it is stopped by a mark: the event that is set already does nothing, and is the
 * right one again should the CPU be busy before it. Not modelled: nohz_full CPUs, which alone
 * ask sched_can_stop_tick(); governors that stop the tick at once; RCU or timers that keep it.
 */
#include <linux/jiffies.h>
#include "model.h"

/* Not 0, and about to overflow 32 bits, as in a kernel that is up for a while. */
volatile unsigned long jiffies = INITIAL_JIFFIES;
u64 model_next_jiffy_ns = TICK_NSEC;

/* kernel/time/tick-sched.c, tick_do_update_jiffies64() */
void tick_do_update_jiffies64(ktime_t now)
{
	u64 passed;

	if ((u64)now < model_next_jiffy_ns)
		return;
	passed = div_u64((u64)now - model_next_jiffy_ns, TICK_NSEC) + 1;
	jiffies += passed;
	model_next_jiffy_ns += passed * TICK_NSEC;
}

struct tick_sched *tick_get_tick_sched(int cpu)
{
	static struct tick_sched all = { .flags = TS_FLAG_NOHZ | TS_FLAG_HIGHRES };

	return &all;
}

/* Balancing for CPUs that idle without a tick: kernel/sched/fair.c */

static unsigned long nohz_next_balance;		/* jiffies; nohz.next_balance */
static unsigned int nohz_nr_cpus;

bool tick_nohz_tick_stopped_cpu(int cpu)
{
	return cpu_rq(cpu)->tick_stopped;
}

bool tick_nohz_tick_stopped(void)
{
	return tick_nohz_tick_stopped_cpu(raw_smp_processor_id());
}

/* kernel/sched/fair.c, nohz_balance_enter_idle(): when the tick has been stopped. */
static void nohz_balance_enter_idle(struct rq *rq)
{
	if (rq->nohz_tick_stopped || !cpu_active(rq->cpu))
		return;
	rq->nohz_tick_stopped = true;
	nohz_nr_cpus++;
}

/* kernel/sched/fair.c: at the first tick at which the CPU is busy, and before it goes offline. */
void nohz_balance_exit_idle(struct rq *rq)
{
	if (!rq->nohz_tick_stopped)
		return;
	rq->nohz_tick_stopped = false;
	nohz_nr_cpus--;
}

/* kernel/sched/core.c, nohz_csd_func(): on the idle CPU. */
void nohz_csd_func(struct rq *rq)
{
	rq->nohz_kicked = false;
	rq->idle_balance = idle_cpu(rq->cpu);
	if (!rq->idle_balance)
		return;
	/* Fair threads are balanced when a CPU begins to idle: see fair.c. */
	if (saakm_enabled())
		saakm_nohz_kick(rq);
}

/* Of the domain that balances most often: kernel/sched/topology.c, sd_init(). */
static unsigned long balance_interval(struct rq *rq)
{
	struct sched_domain *sd = rcu_dereference_check(rq->sd, true);

	return max(1UL, msecs_to_jiffies(sd ? sd->span_weight : 1));
}

/* kernel/sched/fair.c, find_new_ilb(): the first CPU of nohz.idle_cpus_mask that idles. */
static int find_new_ilb(void)
{
	int cpu;

	for_each_cpu(cpu, &model_idle_mask) {
		if (cpu_rq(cpu)->nohz_tick_stopped)
			return cpu;
	}
	return -1;
}

static void kick_ilb(struct rq *rq)
{
	int cpu;

	nohz_next_balance = jiffies + balance_interval(rq);
	cpu = find_new_ilb();
	if (cpu < 0)
		return;
	if (cpu_rq(cpu)->nohz_kicked)
		return;
	cpu_rq(cpu)->nohz_kicked = true;
	smp_send_reschedule(cpu);
}

/* kernel/sched/fair.c, nohz_balancer_kick(), at ticks: while two threads compete for a CPU. */
static void nohz_balancer_kick(struct rq *rq)
{
	if (rq->idle_balance)
		return;
	nohz_balance_exit_idle(rq);
	if (rq->nr_running < 2 || !nohz_nr_cpus || time_before(jiffies, nohz_next_balance))
		return;
	kick_ilb(rq);
}

/* kernel/sched/core.c, sched_tick() */
static void sched_tick(struct rq *rq)
{
	struct rq_flags rf;

	if (saakm_enabled() && saakm_ticks_in_handler())
		return;
	rq_lock(rq, &rf);
	update_rq_clock(rq);
	rq->donor->sched_class->task_tick(rq, rq->donor, 0);
	rq_unlock(rq, &rf);
	if (saakm_enabled())
		saakm_trigger_balance(rq);
	rq->idle_balance = idle_cpu(rq->cpu);
	nohz_balancer_kick(rq);
}

/* kernel/time/tick-sched.c, tick_nohz_idle_stop_tick() */
static void stop_tick(struct rq *rq)
{
	rq->tick_stopped = true;
	nohz_balance_enter_idle(rq);
}

/* Event. kernel/time/tick-sched.c, tick_nohz_handler() */
static void tick(struct sim_event *event)
{
	struct rq *rq = container_of(event, struct rq, tick);

	if (rq->tick_stopped)
		return;
	model_irq_enter();
	model_stats.ticks++;
	sched_tick(rq);
	model_charge_on(rq, MODEL_COST_TICK);
	sim_event_set(event, event->at + TICK_NSEC);
	model_irq_exit();
	if (rq->curr == rq->idle)
		stop_tick(rq);
}

/* Who dies has no tick. */
void tick_nohz_idle_enter_cpu(struct rq *rq)
{
	if (!cpu_online(rq->cpu))
		rq->tick_stopped = true;
}

/*
 * kernel/time/tick-sched.c, tick_nohz_idle_exit(). All CPUs tick at multiples of TICK_NSEC, as
 * without skew_tick.
 */
void tick_nohz_idle_exit_cpu(struct rq *rq)
{
	if (unlikely(sim_now >= model_next_jiffy_ns))
		tick_do_update_jiffies64(sim_now);
	rq->tick_stopped = false;
	if (!sim_event_is_set(&rq->tick))
		sim_event_set(&rq->tick, model_next_jiffy_ns);
}

void model_init_tick(struct rq *rq)
{
	sim_event_init(&rq->tick, tick, rq->cpu);
	stop_tick(rq);
}
