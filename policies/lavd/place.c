// SPDX-License-Identifier: GPL-2.0
/*
 * On which CPU a thread that wakes shall run: near the last one, on a core that idles as a whole
 * if there is one. In another domain if its own has more load than its share and that one less, if
 * it is the domain of a waker who is about to sleep, or if a CPU has to be taken into use.
 * scx_lavd 1.1.4, idle.bpf.c, pick_idle_cpu().
 */
#include <linux/sched/clock.h>

#include "lavd.h"

/* How warm are a CPU's caches for a thread that ran there last? They are cold after 5 ms. */
#define LAVD_WARM_NS	(5 * NSEC_PER_MSEC)
#define LAVD_HEAT_NS	(500 * NSEC_PER_USEC)	/* of running, until they are hot */

u32 lavd_heat_of(u64 ran_ns)
{
	return div_u64(min_t(u64, ran_ns, LAVD_HEAT_NS) * LAVD_SCALE, LAVD_HEAT_NS);
}

u32 lavd_heat(const struct lavd_task *t, int cpu, u64 now)
{
	s64 away_ns = now - t->left_ns;

	if (!t->heat || t->ran_on != cpu || away_ns >= (s64)LAVD_WARM_NS)
		return 0;
	return t->heat - div_u64((u64)t->heat * max_t(s64, away_ns, 0), LAVD_WARM_NS);
}

/* What the search knows. */
struct lavd_search {
	const struct task_struct *task;
	struct lavd_task	*t;
	int			prev_cpu;
	int			sticky;		/* where it would stay; -1: anywhere there */
	int			waker_cpu;	/* that is about to sleep, or -1 */
	bool			cheap;		/* it begins another program: no cache is warm */
	struct lavd_domain	*domain;	/* where it would stay */
};

static bool lavd_whole_core_idles(int cpu)
{
	int sibling;

	for_each_cpu(sibling, lavd_cpu(cpu)->siblings) {
		if (!saakm_cpu_idle(sibling))
			return false;
	}
	return true;
}

static bool lavd_is_vulnerable(const struct lavd_task *t, const struct lavd_domain *domain)
{
	u32 normalized = lavd_normalized(t->criticality, READ_ONCE(lavd_system.max_criticality));

	return lavd_vulnerability(normalized, t->utilisation) >= READ_ONCE(domain->threshold);
}

/* One that idles: of steady ones, if that matters, of those in use, of those used besides. */
static int lavd_idle_in(const struct lavd_search *s, const struct lavd_domain *domain)
{
	int cpu = -1;

	if (READ_ONCE(lavd_system.all_active) && !READ_ONCE(domain->nr_turbulent))
		return saakm_idle_cpu_in(s->task, &domain->cpus);
	if (READ_ONCE(domain->nr_turbulent) && lavd_is_vulnerable(s->t, domain))
		cpu = saakm_idle_cpu_in(s->task, &domain->steady);
	if (cpu < 0 && READ_ONCE(domain->nr_active))
		cpu = saakm_idle_cpu_in(s->task, &domain->active);
	return cpu >= 0 ? cpu : saakm_idle_cpu_in(s->task, &domain->overflow);
}

/* Beside the last CPU's domain that of a waker who is about to sleep, if it has less load. */
static void lavd_find_domain(struct lavd_search *s, const struct process_event *event)
{
	bool sync = event->flags & SAAKM_EV_SYNC && !(current->flags & PF_EXITING);
	struct lavd_domain *waker;

	s->prev_cpu = saakm_usable_cpu(s->task, s->prev_cpu);
	s->sticky = s->prev_cpu;
	s->domain = lavd_cpu(s->prev_cpu)->domain;
	s->waker_cpu = -1;
	if (!sync || event->waker_cpu == s->prev_cpu ||
	    !cpumask_test_cpu(event->waker_cpu, s->task->cpus_ptr))
		return;
	s->waker_cpu = event->waker_cpu;
	waker = lavd_cpu(s->waker_cpu)->domain;
	/* Not to the waker's CPU: it may wake many. */
	if (READ_ONCE(s->domain->load) > READ_ONCE(waker->load)) {
		s->domain = waker;
		s->sticky = -1;
	}
}

/* Nobody else waits where the waker runs. */
static bool lavd_waker_makes_way(const struct lavd_search *s)
{
	return s->waker_cpu >= 0 && READ_ONCE(wake_sync) &&
	       lavd_cpu(s->waker_cpu)->domain == lavd_cpu(s->prev_cpu)->domain &&
	       !lavd_waits_here(saakm_core_of(lavd_policy, s->waker_cpu));
}

/* In a domain that has less load than its share. @whole: on a core that idles as a whole */
static int lavd_neighbour(const struct lavd_search *s, bool whole)
{
	const struct lavd_domain *domain = s->domain, *other;
	unsigned int i;
	int cpu;

	for (i = 0; i < lavd_nr_near(domain); i++) {
		other = lavd_domains[domain->neighbours[i]];
		if (!READ_ONCE(other->steals))
			continue;
		cpu = lavd_idle_in(s, other);
		if (cpu >= 0 && (!whole || lavd_whole_core_idles(cpu)))
			return cpu;
	}
	return -1;
}

/* How long would it wait for a CPU that is busy? */
static u64 lavd_wait_ns(int cpu, u64 now)
{
	u64 stops_ns = READ_ONCE(lavd_cpu(cpu)->stops_ns);
	const struct task_struct *running = saakm_running_on(lavd_policy, cpu);
	u64 waiting = READ_ONCE(saakm_core_of(lavd_policy, cpu)->rq.nr_tasks);
	u64 wait_ns = waiting * READ_ONCE(lavd_system.slice_ns);

	if (!running)
		return U64_MAX;		/* a class above has it */
	return (s64)(stops_ns - now) > 0 ? wait_ns + stops_ns - now : wait_ns;
}

/* Its last CPU, whose caches are warm, even if it has to wait a little. */
static int lavd_warm_cpu(struct lavd_search *s)
{
	u64 most_ns = READ_ONCE(warm_cpu_us) * NSEC_PER_USEC, now = local_clock();
	int cpu = s->prev_cpu;

	if (!most_ns || !lavd_in_use(cpu) || !cpumask_test_cpu(cpu, s->task->cpus_ptr))
		return -1;
	if (saakm_idle_for(s->task, cpu))
		return cpu;
	if (s->t->criticality >= READ_ONCE(lavd_system.threshold))
		return -1;
	most_ns += (most_ns * lavd_heat(s->t, cpu, now)) >> LAVD_SHIFT;
	s->t->warm = lavd_wait_ns(cpu, now) <= most_ns;
	return s->t->warm ? cpu : -1;
}

/* Where it stays if nothing idles: its last CPU, or any of the domain that it may use. */
static int lavd_stay(const struct lavd_search *s)
{
	int cpu, from;

	if (s->sticky >= 0)
		return s->sticky;
	from = lavd_anywhere_in(&s->domain->cpus);
	for_each_cpu_wrap(cpu, &s->domain->cpus, from) {
		if (cpumask_test_cpu(cpu, s->task->cpus_ptr) && lavd_in_use(cpu))
			return saakm_usable_cpu(s->task, cpu);
	}
	return saakm_usable_cpu(s->task, s->prev_cpu);
}

/* Of all CPUs that it may use. */
static bool lavd_none_idles(const struct lavd_search *s)
{
	return (lavd_nr_domains == 1 && READ_ONCE(lavd_system.all_active)) ||
	       saakm_idle_cpu_in(s->task, cpu_online_mask) < 0;
}

static int lavd_search(struct lavd_search *s)
{
	int idle = lavd_idle_in(s, s->domain), cpu;
	bool whole = idle >= 0 && lavd_whole_core_idles(idle);

	if (idle < 0 && lavd_none_idles(s))
		return lavd_stay(s);
	if (s->sticky >= 0 && saakm_idle_for(s->task, s->sticky) && lavd_in_use(s->sticky) &&
	    (!whole || lavd_whole_core_idles(s->sticky)))
		return s->sticky;
	if (whole)
		return idle;
	/* In a queue of the domain it would not wait for the waker, but be taken by what idles. */
	if ((idle < 0 || per_cpu_queues) && lavd_waker_makes_way(s))
		return s->waker_cpu;
	if (idle < 0) {
		cpu = lavd_use_another(s->task, s->prev_cpu);
		if (cpu >= 0)
			return cpu;
	}
	if (READ_ONCE(s->domain->gives)) {
		cpu = lavd_neighbour(s, !s->cheap || idle >= 0);
		if (cpu >= 0)
			return cpu;
	}
	return idle >= 0 ? idle : lavd_stay(s);
}

/* A @prepare. What is found in a thread's own data lasts: nobody else wakes it meanwhile. */
int lavd_choose_cpu(struct process_event *event)
{
	struct lavd_search s = {
		.task = event->task, .t = event->data, .prev_cpu = event->prev_cpu,
		.cheap = event->flags & SAAKM_EV_EXEC,
	};
	int cpu;

	/* In execve() it has a CPU: it moves only if there is too much to do. */
	if (s.cheap && !READ_ONCE(lavd_cpu(s.prev_cpu)->domain->gives))
		return s.prev_cpu;
	s.t->warm = false;
	cpu = lavd_warm_cpu(&s);
	if (cpu >= 0)
		return cpu;
	lavd_find_domain(&s, event);
	return lavd_search(&s);
}
