/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of lavd share: threads, CPUs, domains, the system, and parameters. */
#ifndef _LAVD_H
#define _LAVD_H

#include <linux/saakm.h>

#include "formulas.h"
#include "load.h"

/**
 * struct lavd_task - what is known of a thread
 * @deadline: on the logical clock; by it queues are sorted
 * @wait_frequency: how often it goes to sleep, per second
 * @wake_frequency: how often it wakes others, per second
 * @runtime_ns: CPU time between two sleeps, an average
 * @ran_ns: CPU time since it slept last
 * @service_ns: CPU time, as of weight 100, from when it joined with others' average
 * @slept_ns: when it went to sleep
 * @woke_ns: when it woke somebody
 * @left_ns: when its last turn ended
 * @slice_ns: of its last turn
 * @charged_ns: CPU time, of all its life, that has been counted
 * @load: busy from its first turn until it sleeps
 * @utilisation: what @load said when it went to sleep
 * @queued_load: what it added to &lavd_domain.queued_load
 * @queued_in: where it did, or NULL
 * @lag_max_ns: how far it may be behind its share
 * @weight: 1 to 10000, 100 for nice 0
 * @inverse: 2^20 * 100 / @weight
 * @criticality: of its latency: how much depends on its running soon
 * @from_waker: what its waker passed on
 * @from_wakees: the greatest of those whom it woke
 * @how: enum lavd_circumstance, those that last
 * @heat: how warm the caches of @ran_on are, 0 to 1024
 * @ran_on: the CPU of its last turn, or -1
 * @greedy: it has had more than the average
 * @warm: it shall wait for the CPU whose caches are warm
 * @boosted: its slice is longer than others'
 */
struct lavd_task {
	u64			deadline;
	u64			wait_frequency, wake_frequency;
	u64			runtime_ns, ran_ns, service_ns;
	u64			slept_ns, woke_ns, left_ns;
	u64			slice_ns, charged_ns;
	s64			lag_max_ns;
	struct lavd_load	load;
	u32			utilisation;
	u32			queued_load;
	struct lavd_domain	*queued_in;
	u32			weight, inverse;
	u32			criticality, from_waker, from_wakees;
	u32			how;
	u32			heat;
	int			ran_on;
	bool			greedy, warm, boosted;
};

/**
 * struct lavd_cpu - a CPU
 * @stops_ns: when whom it runs will stop, probably; 0: it has been asked to; %U64_MAX: nobody
 * @began_ns: when that one's turn began
 * @criticality: of that one
 * @boosted: its slice is longer than others'
 * @turbulent: interrupts, and threads of classes above, take much of its time
 * @utilisation: of all that runs there, an average, 0 to 1024
 * @served: of lavd's threads alone
 * @domain: where it belongs
 * @siblings: hardware threads of its core
 * @turns: how many have begun
 * @sum_criticality: of those
 * @max_criticality: of those since the system was looked at
 * @used_ns: CPU time of lavd's threads
 * @turn_ns: of @used_ns, what belongs to the turn that goes on
 * @running: of whom a turn goes on, or NULL
 * @extended: whose slice was extended, as it holds a lock
 * @service_ns: CPU time of lavd's threads, as of weight 100
 * @idle_ns: how long it has idled, up to the last end of it
 * @idle_since_ns: when it began to idle, or 0
 * @preemptions: how often threads made way, or were asked to from here
 * @crossings: turns of threads that ran in another domain before
 * @taken: interrupts and classes above, an average
 * @waited: somebody waited in its own queue, and none of lavd's ran, at the last look
 * @seen: what the counts were when the system was looked at last
 * @random: where to look first
 */
struct lavd_cpu {
	/* What others read */
	u64			stops_ns, began_ns;
	u32			criticality;
	bool			boosted, turbulent;
	u32			utilisation, served;
	struct lavd_domain	*domain;
	struct cpumask		*siblings;

	/* What this CPU counts */
	u64			turns ____cacheline_aligned, sum_criticality;
	u32			max_criticality;
	u32			random;
	u64			used_ns, turn_ns, service_ns;
	struct lavd_task	*running;
	bool			extended;
	u64			idle_ns, idle_since_ns;
	u64			preemptions, crossings;

	/* Whoever looks at the system */
	struct lavd_load	taken;
	bool			waited;
	struct {
		u64		turns, sum_criticality, used_ns, service_ns, idle_ns;
	}			seen;
};

#define LAVD_DISTANCES	3	/* the same cache, the same node, farther away */

/**
 * struct lavd_domain - CPUs that share a queue: those of a virtual last-level cache
 * @cpus: all of them, online or not
 * @active: those that are to be used
 * @overflow: those that are used besides
 * @steady: those of @active and @overflow that are not turbulent
 * @id: number, over the whole machine
 * @cache: number of the real last-level cache
 * @node: NUMA node
 * @neighbours: other domains, from near to far
 * @nr_neighbours: how many there are up to each distance
 * @queued_load: sum of what threads that wait here load CPUs with
 * @load: that, and the utilisation of its CPUs, when the system was looked at last
 * @nr_active: CPUs of @active
 * @nr_steady: CPUs of @steady
 * @nr_turbulent: CPUs that are turbulent
 * @threshold: vulnerability from which a thread waits for steady CPUs
 * @steals: it has less load than its share
 * @gives: it has more
 * @may_take: load that it may take until the system is looked at again
 * @may_give: load that may be taken from it
 * @nr_queued: threads that waited here then
 * @nr_shared: of those, who waited in queues from which several CPUs take
 * @utilisation: sum over its CPUs
 */
struct lavd_domain {
	struct cpumask		cpus, active, overflow, steady;
	int			id, cache, node;
	u16			*neighbours;
	unsigned int		nr_neighbours[LAVD_DISTANCES];
	atomic_long_t		queued_load ____cacheline_aligned_in_smp;
	u32			load, nr_active, nr_steady, nr_turbulent, threshold;
	bool			steals, gives;
	atomic_long_t		may_take, may_give;
	u32			nr_queued, nr_shared, utilisation;
};

/**
 * struct lavd_system - all that run, as looked at each 10 ms
 * @slice_ns: for ordinary threads
 * @service_ns: that of a thread with its share
 * @criticality: average
 * @max_criticality: greatest, an average
 * @threshold: from which a thread may take a CPU from another
 * @nr_queued: threads that wait, an average
 * @queued_mean: the same in 1024ths
 * @nr_online: CPUs
 * @nr_active: CPUs that are to be used
 * @utilisation: of CPUs, an average, 0 to 1024
 * @demand: the same, and half as much again of CPUs that are busy nearly all the time
 * @light: no more wait than CPUs are used, and these have time left
 * @all_active: all CPUs are to be used
 */
struct lavd_system {
	u64	slice_ns, service_ns;
	u32	criticality, max_criticality, threshold;
	u32	nr_queued, nr_online, nr_active;
	u32	queued_mean;
	u32	utilisation, demand;
	bool	light, all_active;
};

extern struct lavd_system lavd_system;
extern struct saakm_policy *lavd_policy;
extern struct lavd_domain **lavd_domains;
extern unsigned int lavd_nr_domains;
extern bool lavd_all_share;		/* all CPUs have the same queues */
extern u16 *lavd_order;		/* CPUs by domain, core, and number */

DECLARE_PER_CPU_SHARED_ALIGNED(struct lavd_cpu, lavd_cpus);

/* So many neighbours are looked at: whoever does so may hold a lock. */
static inline unsigned int lavd_nr_near(const struct lavd_domain *domain)
{
	return min(domain->nr_neighbours[LAVD_DISTANCES - 1], SAAKM_IDLE_PROBES);
}

static inline struct lavd_cpu *lavd_cpu(int cpu)
{
	return per_cpu_ptr(&lavd_cpus, cpu);
}

/* Parameters: main.c */
extern bool per_cpu_queues, preemption, slice_boost, wake_sync, futex_boost, overflow_extend;
extern bool original;
extern unsigned int slice_min_us, slice_max_us, pinned_slice_us, warm_cpu_us, preempt_shift;
extern unsigned int mig_delta_pct, lb_low_util_pct, lat_load_target_pct;

static inline u64 lavd_pinned_slice_ns(void)
{
	return READ_ONCE(pinned_slice_us) * NSEC_PER_USEC;
}

/* thread.c: what a thread does, and what follows from it */
u64 lavd_key(const struct task_struct *task);
void lavd_join(struct process_event *event, u64 now);
void lavd_weigh(struct process_event *event);
void lavd_woken(struct process_event *event, u64 now);
void lavd_set_deadline(struct lavd_task *t, unsigned int how);
void lavd_keep_clock_going(u64 passed_ns);
unsigned int lavd_circumstances(struct process_event *event);
unsigned int lavd_wakeup_circumstances(struct process_event *event);
void lavd_begin_turn(struct process_event *event, struct core_event *core, u64 now);
void lavd_end_turn(struct process_event *event, struct core_event *core, u64 now);
void lavd_go_on(struct task_struct *task, struct core_event *core, u64 now);
void lavd_charge(struct task_struct *task, struct lavd_cpu *own);
void lavd_note_load(struct lavd_task *t, u64 now);
void lavd_goes_to_sleep(struct lavd_task *t, u64 now);
void lavd_give_slice(struct task_struct *task, struct core_event *core);

/* place.c: on which CPU */
int lavd_choose_cpu(struct process_event *event);
u32 lavd_heat(const struct lavd_task *t, int cpu, u64 now);
u32 lavd_heat_of(u64 ran_ns);

/* queues.c: where it waits, and whom a CPU takes */
bool lavd_waits_here(struct core_event *core);
bool lavd_queue(struct process_event *event, struct core_event *core);
void lavd_unqueue(struct lavd_task *t);
void lavd_requeue_load(struct lavd_task *t, struct lavd_domain *to);
bool lavd_consume(struct core_event *core);
void lavd_share_rest(struct core_event *core);

/* preempt.c: from whom it takes a CPU */
void lavd_find_victim(struct process_event *event, struct core_event *core, int preferred);
bool lavd_turn_is_over(struct core_event *core, struct task_struct *task, u64 now);
bool lavd_asked(const struct lavd_cpu *own);

/* domains.c: who shares a queue */
int lavd_make_domains(struct saakm_policy *policy, unsigned int least, unsigned int most);
void lavd_free_domains(void);

/* system.c: the look at all of it */
void lavd_look(u64 now);
void lavd_begin_system(u64 now);

/* balance.c: who takes from whom */
void lavd_plan(void);
bool lavd_steal(struct core_event *core);
bool lavd_steal_any(struct core_event *core);
void lavd_relieve(void);
struct task_struct *lavd_take_of(struct core_event *core, const struct lavd_domain *domain,
				 const struct saakm_rq *own);
u32 lavd_random(void);
int lavd_anywhere_in(const struct cpumask *cpus);

/* power.c: which CPUs are used */
int lavd_begin_power(struct saakm_policy *policy, const char *mode);
void lavd_end_power(void);
void lavd_set_active(void);
bool lavd_in_use(int cpu);
void lavd_use_cpu(int cpu);
int lavd_use_another(const struct task_struct *task, int near);
const char *lavd_power_name(void);

#endif /* _LAVD_H */
