// SPDX-License-Identifier: GPL-2.0
/*
 * Which CPUs are to be used: as many as the load needs, so that the others can sleep for long
 * (core compaction). By how busy all of them are, the policy compacts little, more, or not at all
 * (autopilot). scx_lavd 1.1.4, power.bpf.c and cpu_order.rs, for CPUs that are alike.
 */
#include <linux/slab.h>

#include "lavd.h"

enum lavd_power { AUTO, PERFORMANCE, BALANCED, POWERSAVE };

static const char * const lavd_power_names[] = { "auto", "performance", "balanced", "powersave" };
static enum lavd_power lavd_wanted, lavd_power;

/* First one hardware thread of each core; lavd_order has those of a core together. */
static u16 *lavd_spread_order;
static bool lavd_has_smt;

#define HEADROOM	(LAVD_SCALE / 4)	/* more than is needed now */
#define PER_CPU		(LAVD_SCALE / 2)	/* so much each CPU is to do */
#define KEPT_FOR	25	/* looks, on average, while an idle CPU stays in use */

static void lavd_spread(void)
{
	unsigned int nth, i, n = 0, nr = num_possible_cpus();

	lavd_has_smt = false;
	for (nth = 0; n < nr; nth++) {
		for (i = 0; i < nr; i++) {
			const struct cpumask *siblings = lavd_cpu(lavd_order[i])->siblings;

			if (cpumask_nth(nth, siblings) == lavd_order[i])
				lavd_spread_order[n++] = lavd_order[i];
			lavd_has_smt |= cpumask_weight(siblings) > 1;
		}
	}
}

int lavd_begin_power(struct saakm_policy *policy, const char *mode)
{
	int wanted = match_string(lavd_power_names, ARRAY_SIZE(lavd_power_names), mode);
	unsigned int i;

	if (wanted < 0)
		return saakm_refuse_load(policy, -EINVAL,
					 "power=%s: it is auto, performance, balanced or powersave",
					 mode);
	lavd_spread_order = kcalloc(num_possible_cpus(), sizeof(*lavd_spread_order), GFP_KERNEL);
	if (!lavd_spread_order)
		return -ENOMEM;
	lavd_spread();
	lavd_wanted = wanted;
	lavd_power = wanted == AUTO ? PERFORMANCE : wanted;
	lavd_system.all_active = true;
	for (i = 0; i < lavd_nr_domains; i++) {
		cpumask_and(&lavd_domains[i]->active, &lavd_domains[i]->cpus, cpu_online_mask);
		lavd_domains[i]->nr_active = cpumask_weight(&lavd_domains[i]->active);
	}
	return 0;
}

void lavd_end_power(void)
{
	kfree(lavd_spread_order);
}

const char *lavd_power_name(void)
{
	return lavd_power_names[READ_ONCE(lavd_power)];
}

/* In 1024ths of a CPU */
static u32 lavd_required(void)
{
	return lavd_system.nr_online * lavd_system.demand;
}

static enum lavd_power lavd_autopilot(void)
{
	u32 all = lavd_system.nr_online * LAVD_SCALE, required = lavd_required();

	if (required <= LAVD_SCALE / 2)
		return POWERSAVE;
	return required <= (lavd_has_smt ? all / 4 : all / 2) ? BALANCED : PERFORMANCE;
}

static unsigned int lavd_nr_needed(void)
{
	u32 required = lavd_required();

	required += (u64)required * HEADROOM >> LAVD_SHIFT;
	return clamp(DIV_ROUND_UP(required, PER_CPU), 1U, lavd_system.nr_online);
}

/* A CPU that is not to be used stays so for a while, if threads had to be run there. */
static void lavd_leave_out(int cpu, struct lavd_domain *domain)
{
	const struct core_event *core = saakm_core_of(lavd_policy, cpu);
	bool drops;

	cpumask_clear_cpu(cpu, &domain->active);
	if (READ_ONCE(core->nr_runnable)) {
		cpumask_set_cpu(cpu, &domain->overflow);
		return;
	}
	/* scx_lavd means to, but drops it at once in 24 of 25 cases. */
	drops = !(lavd_random() % KEPT_FOR);
	if (drops != original)
		cpumask_clear_cpu(cpu, &domain->overflow);
}

static const u16 *lavd_current_order(void)
{
	return READ_ONCE(lavd_power) == POWERSAVE ? lavd_order : lavd_spread_order;
}

static void lavd_compact(unsigned int needed)
{
	const u16 *order = lavd_current_order();
	unsigned int i, n = 0, nr = num_possible_cpus();
	struct lavd_domain *domain;

	for (i = 0; i < nr; i++) {
		domain = lavd_cpu(order[i])->domain;
		if (!cpu_online(order[i])) {
			cpumask_clear_cpu(order[i], &domain->active);
			cpumask_clear_cpu(order[i], &domain->overflow);
		} else if (n++ < needed) {
			cpumask_set_cpu(order[i], &domain->active);
			cpumask_clear_cpu(order[i], &domain->overflow);
		} else {
			lavd_leave_out(order[i], domain);
		}
	}
}

/* With each look */
void lavd_set_active(void)
{
	struct lavd_system *system = &lavd_system;
	unsigned int needed, i;

	WRITE_ONCE(lavd_power, lavd_wanted == AUTO ? lavd_autopilot() : lavd_wanted);
	needed = lavd_power == PERFORMANCE ? system->nr_online : lavd_nr_needed();
	lavd_compact(needed);
	for (i = 0; i < lavd_nr_domains; i++)
		WRITE_ONCE(lavd_domains[i]->nr_active, cpumask_weight(&lavd_domains[i]->active));
	WRITE_ONCE(system->nr_active, needed);
	WRITE_ONCE(system->all_active, needed >= system->nr_online);
}

/* It is to be used, or is besides. */
bool lavd_in_use(int cpu)
{
	const struct lavd_domain *domain = lavd_cpu(cpu)->domain;

	return READ_ONCE(lavd_system.all_active) || cpumask_test_cpu(cpu, &domain->active) ||
	       cpumask_test_cpu(cpu, &domain->overflow);
}

/* A thread runs there that may use no other CPU, or finds none. */
void lavd_use_cpu(int cpu)
{
	if (!lavd_in_use(cpu))
		cpumask_set_cpu(cpu, &lavd_cpu(cpu)->domain->overflow);
}

/* Does a CPU in use idle, in the domain or near it? */
static bool lavd_used_one_idles(const struct task_struct *task, const struct lavd_domain *domain)
{
	const struct lavd_domain *at = domain;
	unsigned int i = 0;

	while (saakm_idle_cpu_in(task, &at->active) < 0 &&
	       saakm_idle_cpu_in(task, &at->overflow) < 0) {
		if (i == lavd_nr_near(domain))
			return false;
		at = lavd_domains[domain->neighbours[i++]];
	}
	return true;
}

/*
 * For a thread that finds no idle CPU in use: the next one in order, of the same cache as @near, is
 * used from now on, if it idles. Returns it, or -1.
 */
int lavd_use_another(const struct task_struct *task, int near)
{
	const struct lavd_domain *domain = lavd_cpu(near)->domain;
	const u16 *order = lavd_current_order();
	unsigned int i, nr = num_possible_cpus(), probes = SAAKM_IDLE_PROBES;

	if (READ_ONCE(lavd_system.all_active) || !READ_ONCE(overflow_extend) ||
	    lavd_used_one_idles(task, domain))
		return -1;
	for (i = READ_ONCE(lavd_system.nr_active); i < nr && probes; i++) {
		if (!cpu_online(order[i]) || !cpumask_test_cpu(order[i], task->cpus_ptr))
			continue;
		probes--;
		if (lavd_cpu(order[i])->domain->cache != domain->cache || lavd_in_use(order[i]))
			continue;
		if (!saakm_idle_for(task, order[i]))
			return -1;
		lavd_use_cpu(order[i]);
		return order[i];
	}
	return -1;
}
