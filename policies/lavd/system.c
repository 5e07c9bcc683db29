// SPDX-License-Identifier: GPL-2.0
/*
 * The look at the whole system, each 10 ms while threads run: from what CPUs have counted follow
 * the slice, the average of service, who is critical, and which CPUs are turbulent. scx_lavd
 * 1.1.4, sys_stat.bpf.c.
 */
#include <linux/sched/clock.h>

#include "lavd.h"

#define TURBULENT	(LAVD_SCALE / 8)	/* so much of a CPU is taken by others */
#define THRESHOLD_MAX	256			/* of vulnerability */
#define LIGHT		(LAVD_SCALE * 95 / 100)
#define SPIKE		(LAVD_SCALE * 90 / 100)	/* who is so busy could use more */
#define CATCH_UP_MAX	32			/* looks that were missed, as nobody ran */

struct lavd_system lavd_system;

static u64 lavd_looked_ns;
static DEFINE_RAW_SPINLOCK(lavd_look_lock);

struct lavd_sums {
	u64	now, passed_ns;
	u32	missed;		/* looks, this one included */
	u64	busy_ns, spike_ns, service_ns, turns, criticality;
	u32	max_criticality, nr_queued, nr_runnable, nr_online;
};

static u32 lavd_share_of(u64 ns, const struct lavd_sums *sums)
{
	return div64_u64(min(ns, sums->passed_ns) << LAVD_SHIFT, sums->passed_ns);
}

static u32 lavd_catch_up(u32 mean, u32 new, u32 times)
{
	while (times--)
		mean = lavd_rising_mean(mean, new);
	return mean;
}

/* What has been counted since the last look. */
static u64 lavd_since(u64 *seen, u64 count)
{
	u64 since = count - *seen;

	*seen = count;
	return since;
}

/* CPU time of lavd's threads, that of the turn which goes on included. */
static u64 lavd_used_on(const struct lavd_cpu *own, u64 now)
{
	u64 used_ns = READ_ONCE(own->used_ns);
	s64 rest_ns = now - READ_ONCE(own->began_ns) - READ_ONCE(own->turn_ns);

	return READ_ONCE(own->running) && rest_ns > 0 ? used_ns + rest_ns : used_ns;
}

static u64 lavd_idled_on(const struct lavd_cpu *own, u64 now)
{
	u64 idle_ns = READ_ONCE(own->idle_ns), since_ns = READ_ONCE(own->idle_since_ns);

	return since_ns && (s64)(now - since_ns) > 0 ? idle_ns + now - since_ns : idle_ns;
}

/* The CPU goes on counting meanwhile: what is missed now is seen at the next look. */
static void lavd_look_at_cpu(int cpu, struct lavd_sums *sums)
{
	struct lavd_cpu *own = lavd_cpu(cpu);
	s64 idle_ns = lavd_since(&own->seen.idle_ns, lavd_idled_on(own, sums->now));
	s64 used_ns = lavd_since(&own->seen.used_ns, lavd_used_on(own, sums->now));
	u32 times = sums->missed, max;
	s64 busy_ns;

	/* It has idled since before the policy came, which nobody has told. */
	if (!READ_ONCE(own->turns) && saakm_cpu_idle(cpu))
		idle_ns = sums->passed_ns;
	busy_ns = (s64)sums->passed_ns - clamp(idle_ns, 0, (s64)sums->passed_ns);
	used_ns = max(used_ns, 0);
	lavd_load_note(&own->taken, lavd_share_of(max(busy_ns - used_ns, 0), sums), sums->now);
	WRITE_ONCE(own->turbulent, lavd_load_read(&own->taken) > TURBULENT);
	WRITE_ONCE(own->utilisation,
		   lavd_catch_up(own->utilisation, lavd_share_of(busy_ns, sums), times));
	own->served = lavd_catch_up(own->served, lavd_share_of(used_ns, sums), times);

	sums->busy_ns += busy_ns;
	if (lavd_share_of(busy_ns, sums) > SPIKE)
		sums->spike_ns += busy_ns;
	sums->service_ns += lavd_since(&own->seen.service_ns, READ_ONCE(own->service_ns));
	sums->turns += lavd_since(&own->seen.turns, READ_ONCE(own->turns));
	sums->criticality += lavd_since(&own->seen.sum_criticality,
					READ_ONCE(own->sum_criticality));
	max = READ_ONCE(own->max_criticality);
	if (max)
		WRITE_ONCE(own->max_criticality, 0);
	sums->max_criticality = max(sums->max_criticality, max);
	sums->nr_runnable += READ_ONCE(saakm_core_of(lavd_policy, cpu)->nr_runnable);
	sums->nr_online++;
}

/* Threads that wait in the queue of a core, counted once for all its hardware threads. */
static u32 lavd_waiting_at(int cpu)
{
	if (!per_cpu_queues || cpumask_first_and(lavd_cpu(cpu)->siblings, cpu_online_mask) != cpu)
		return 0;
	return READ_ONCE(saakm_core_of(lavd_policy, cpu)->shared->nr_tasks);
}

/* Who goes to turbulent CPUs? So many that they have the share of load that they are to have. */
static void lavd_set_threshold(struct lavd_domain *domain, u64 steady, u64 turbulent)
{
	u64 target;

	if (!domain->nr_turbulent) {
		WRITE_ONCE(domain->threshold, 0);
		return;
	}
	if (!domain->nr_steady)
		return;
	target = div_u64(steady * READ_ONCE(lat_load_target_pct), domain->nr_steady * 100);
	turbulent = div_u64(turbulent, domain->nr_turbulent);
	if (turbulent > target && domain->threshold)
		WRITE_ONCE(domain->threshold, domain->threshold - 1);
	else if (turbulent < target && domain->threshold < THRESHOLD_MAX)
		WRITE_ONCE(domain->threshold, domain->threshold + 1);
}

static void lavd_look_at_domain(struct lavd_domain *domain, struct lavd_sums *sums)
{
	const struct core_event *core = NULL;
	u32 nr_steady = 0, nr_turbulent = 0, queued = 0, shared = 0, utilisation = 0;
	u64 steady = 0, turbulent = 0;
	int cpu;

	cpumask_and(&domain->steady, &domain->steady, cpu_online_mask);
	for_each_cpu_and(cpu, &domain->cpus, cpu_online_mask) {
		lavd_look_at_cpu(cpu, sums);
		core = saakm_core_of(lavd_policy, cpu);
		queued += READ_ONCE(core->rq.nr_tasks);
		shared += lavd_waiting_at(cpu);
		utilisation += lavd_cpu(cpu)->utilisation;
		if (lavd_cpu(cpu)->turbulent || !lavd_in_use(cpu))
			cpumask_clear_cpu(cpu, &domain->steady);
		else
			cpumask_set_cpu(cpu, &domain->steady);
		if (lavd_cpu(cpu)->turbulent) {
			turbulent += lavd_cpu(cpu)->served;
			nr_turbulent++;
		} else {
			steady += lavd_cpu(cpu)->served;
			nr_steady++;
		}
	}
	if (core && !per_cpu_queues)
		shared += READ_ONCE(core->shared->nr_tasks) + READ_ONCE(core->second->nr_tasks);
	queued += shared;
	WRITE_ONCE(domain->nr_steady, nr_steady);
	WRITE_ONCE(domain->nr_turbulent, nr_turbulent);
	domain->nr_queued = queued;
	domain->nr_shared = shared;
	domain->utilisation = utilisation;
	sums->nr_queued += queued;
	lavd_set_threshold(domain, steady, turbulent);
}

static void lavd_set_utilisation(const struct lavd_sums *sums)
{
	u32 nr = max(sums->nr_online, 1);
	u32 busy = lavd_share_of(div_u64(sums->busy_ns, nr), sums);
	u32 more = lavd_share_of(div_u64(sums->spike_ns, nr), sums) / 2;
	struct lavd_system *system = &lavd_system;

	system->utilisation = lavd_catch_up(system->utilisation, busy, sums->missed);
	system->demand = lavd_catch_up(system->demand, min(busy + more, LAVD_SCALE), sums->missed);
}

/* Of whole numbers that are small the average would stay where it is: 0 if one waits. */
static void lavd_set_queued(u32 nr)
{
	struct lavd_system *system = &lavd_system;
	u32 scale = original ? 0 : LAVD_SHIFT;

	system->queued_mean = lavd_mean(system->queued_mean, nr << scale);
	WRITE_ONCE(system->nr_queued, (system->queued_mean + (1 << scale) / 2) >> scale);
}

/* What a thread with its share has had. */
static void lavd_advance_service(const struct lavd_sums *sums)
{
	u64 mean = lavd_system.service_ns;

	if (original)
		mean = lavd_mean(mean, sums->turns ? div64_u64(sums->service_ns, sums->turns) : 0);
	else
		mean += div64_u64(sums->service_ns, max(sums->nr_runnable, 1));
	WRITE_ONCE(lavd_system.service_ns, mean);
}

static void lavd_set_criticality(const struct lavd_sums *sums)
{
	struct lavd_system *system = &lavd_system;

	if (!sums->turns)
		return;
	WRITE_ONCE(system->criticality, lavd_mean(system->criticality,
						  div64_u64(sums->criticality, sums->turns)));
	WRITE_ONCE(system->max_criticality, lavd_mean(system->max_criticality,
						      sums->max_criticality));
	WRITE_ONCE(system->threshold,
		   lavd_threshold(system->max_criticality, system->criticality,
				  READ_ONCE(preempt_shift)));
}

static void lavd_set_slice(void)
{
	struct lavd_system *system = &lavd_system;
	u64 slice_ns = lavd_system_slice(system->nr_active, system->nr_queued,
					 READ_ONCE(slice_min_us) * NSEC_PER_USEC,
					 READ_ONCE(slice_max_us) * NSEC_PER_USEC);

	WRITE_ONCE(system->slice_ns, lavd_mean(system->slice_ns, slice_ns));
	WRITE_ONCE(system->light,
		   system->utilisation <= LIGHT && system->nr_queued <= system->nr_active);
}

static void lavd_look_at_all(u64 now)
{
	struct lavd_sums sums = { .now = now, .passed_ns = now - lavd_looked_ns };
	unsigned int i;

	lavd_looked_ns = now;
	sums.missed = min_t(u64, div64_u64(sums.passed_ns, 2 * LAVD_INTERVAL_NS) + 1, CATCH_UP_MAX);
	for (i = 0; i < lavd_nr_domains; i++)
		lavd_look_at_domain(lavd_domains[i], &sums);
	lavd_set_utilisation(&sums);
	WRITE_ONCE(lavd_system.nr_online, sums.nr_online);
	lavd_set_queued(sums.nr_queued);
	lavd_advance_service(&sums);
	lavd_set_criticality(&sums);
	lavd_keep_clock_going(sums.passed_ns);
	lavd_set_active();
	lavd_set_slice();
	lavd_plan();
}

/* Each CPU may come: whoever does so first, 10 ms after the last look. */
void lavd_look(u64 now)
{
	bool due;

	if ((s64)(now - READ_ONCE(lavd_looked_ns)) < (s64)LAVD_INTERVAL_NS ||
	    !raw_spin_trylock(&lavd_look_lock))
		return;
	due = (s64)(now - lavd_looked_ns) >= (s64)LAVD_INTERVAL_NS;
	if (due)
		lavd_look_at_all(now);
	raw_spin_unlock(&lavd_look_lock);
	if (due)
		lavd_relieve();
}

void lavd_begin_system(u64 now)
{
	int cpu;

	lavd_looked_ns = now;
	lavd_system.slice_ns = slice_max_us * NSEC_PER_USEC;
	lavd_system.nr_online = num_online_cpus();
	lavd_system.nr_active = lavd_system.nr_online;
	lavd_system.light = true;
	for_each_possible_cpu(cpu) {
		lavd_cpu(cpu)->taken.at_ns = now;
		lavd_cpu(cpu)->stops_ns = U64_MAX;
		lavd_cpu(cpu)->random = cpu;
		cpumask_set_cpu(cpu, &lavd_cpu(cpu)->domain->steady);
	}
}
