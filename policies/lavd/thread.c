// SPDX-License-Identifier: GPL-2.0
/*
 * What a thread does: how often it sleeps and wakes others, and for how long it runs. From that
 * follow how critical its latency is, when it is due, and its slice. scx_lavd 1.1.4,
 * lat_cri.bpf.c and main.bpf.c.
 */
#include "lavd.h"

#define SERVICE_SHIFT	20

static atomic64_t lavd_clock ____cacheline_aligned_in_smp = ATOMIC64_INIT(LAVD_WINDOW_NS);

/* original=1: the greatest service of any thread, which who joins has as well. */
static u64 lavd_most_service_ns;

u64 lavd_key(const struct task_struct *task)
{
	return ((struct lavd_task *)saakm_task_data(task))->deadline;
}

/* Joining */

static bool lavd_is_ksoftirqd(const struct task_struct *task)
{
	return task->flags & PF_KTHREAD && !strncmp(task->comm, "ksoftirqd/", 10);
}

/* What follows from its nice value, its affinity, and what it is. */
void lavd_weigh(struct process_event *event)
{
	const struct task_struct *task = event->task;
	struct lavd_task *t = event->data;
	u32 how = t->how & LAVD_LOCKED;

	t->weight = clamp((saakm_task_weight(task) * 100 + 512) / 1024, 1U, 10000U);
	t->inverse = (100U << SERVICE_SHIFT) / t->weight;
	t->lag_max_ns = lavd_lag_max(t->weight);
	if (task->flags & PF_KTHREAD)
		how |= LAVD_KTHREAD;
	if (task->flags & (PF_WQ_WORKER | PF_IO_WORKER))
		how |= LAVD_KWORKER;
	if (lavd_is_ksoftirqd(task))
		how |= LAVD_KSOFTIRQD;
	if (task->nr_cpus_allowed < num_possible_cpus())
		how |= LAVD_AFFINE;
	if (task->nr_cpus_allowed == 1)
		how |= LAVD_PINNED;
	t->how = how;
}

/*
 * What is known of the thread of the policy that forks, or wakes another, on this CPU. Not what its
 * event.data says: it may leave the policy just now. As interrupts are off the data last.
 */
static struct lavd_task *lavd_current(void)
{
	return READ_ONCE(this_cpu_ptr(&lavd_cpus)->running);
}

/* Who is forked behaves as its parent, until it shows otherwise. */
void lavd_join(struct process_event *event, u64 now)
{
	struct lavd_task *t = event->data, *parent = NULL;

	if (event->flags & SAAKM_EV_FORK)
		parent = lavd_current();
	if (parent) {
		*t = *parent;
		t->from_waker = 0;
		t->from_wakees = 0;
		t->ran_ns = 0;
		t->boosted = false;
		t->warm = false;
	} else {
		t->runtime_ns = READ_ONCE(lavd_system.slice_ns);
		t->service_ns = READ_ONCE(lavd_system.service_ns);
		t->slept_ns = now;
		t->woke_ns = now;
		t->load.at_ns = now;
	}
	if (original)
		t->service_ns = READ_ONCE(lavd_most_service_ns);
	t->queued_in = NULL;
	t->ran_on = -1;
	t->heat = 0;
	saakm_forget_lock(event->task);
	lavd_weigh(event);
}

/* Waking, and being woken */

static bool lavd_are_related(const struct task_struct *task, const struct task_struct *waker)
{
	return rcu_access_pointer(task->real_parent) == rcu_access_pointer(waker->real_parent) &&
	       !((task->flags ^ waker->flags) & PF_KTHREAD);
}

/* The circumstances in which it is queued; what happened once counts once. */
unsigned int lavd_circumstances(struct process_event *event)
{
	struct lavd_task *t = event->data;
	unsigned int how = t->how;

	t->how &= ~LAVD_LOCKED;
	return event->task->migration_disabled ? how | LAVD_PINNED : how;
}

/* By whom it is woken, or by what. */
static unsigned int lavd_waker_circumstances(const struct process_event *event)
{
	unsigned int how = event->flags & SAAKM_EV_SYNC ? LAVD_WOKEN_SYNC : 0;

	switch (saakm_waker()) {
	case SAAKM_WAKER_IRQ:
		return how | LAVD_WOKEN_BY_IRQ;
	case SAAKM_WAKER_SOFTIRQ:
		return how | LAVD_WOKEN_BY_SOFTIRQ;
	default:
		if (lavd_is_ksoftirqd(current))
			return how | LAVD_WOKEN_BY_SOFTIRQ;
		return current->prio < MAX_RT_PRIO && lavd_are_related(event->task, current) ?
		       how | LAVD_WOKEN_BY_RT : how;
	}
}

/* Those of a wakeup. */
unsigned int lavd_wakeup_circumstances(struct process_event *event)
{
	unsigned int how = lavd_waker_circumstances(event);

	/* scx_lavd notes these where it chooses a CPU, which it does not for such a thread. */
	if (original && (event->task->nr_cpus_allowed == 1 || event->task->migration_disabled))
		how &= LAVD_WOKEN_BY_RT;
	return how | lavd_circumstances(event) | LAVD_WOKEN;
}

/* Its waker, if they are related, has woken somebody; each passes its criticality on. */
void lavd_woken(struct process_event *event, u64 now)
{
	struct lavd_task *t = event->data, *waker;
	u64 passed_ns;

	t->ran_ns = 0;
	if (saakm_waker() != SAAKM_WAKER_TASK || !lavd_are_related(event->task, current))
		return;
	waker = lavd_current();
	if (!waker || lavd_is_ksoftirqd(current))
		return;
	passed_ns = now - waker->woke_ns;
	if ((s64)passed_ns >= (s64)LAVD_RUNTIME_UNIT_NS) {
		waker->wake_frequency = lavd_frequency(waker->wake_frequency, passed_ns);
		waker->woke_ns = now;
	}
	t->from_waker = waker->criticality;
	waker->from_wakees = max(waker->from_wakees, t->criticality);
}

/* When it is due */

/*
 * How far is it behind its share? scx_lavd compares what a thread has had in all its life with
 * what threads have in one turn, and in hundredths: so each is greedy that is not new.
 */
static s64 lavd_lag(struct lavd_task *t)
{
	s64 lag = READ_ONCE(lavd_system.service_ns) - t->service_ns;

	if (original)
		lag /= 100;
	t->greedy = lag < 0;
	if (lag > t->lag_max_ns) {	/* It slept for long. */
		t->service_ns += lag - t->lag_max_ns;
		lag = t->lag_max_ns;
	}
	return lag;
}

void lavd_set_deadline(struct lavd_task *t, unsigned int how)
{
	u64 factor = lavd_weight_factor(t->weight, how), window;
	u32 criticality, penalty;

	criticality = lavd_own_criticality(t->wait_frequency, t->wake_frequency, t->runtime_ns,
					   factor);
	t->criticality = lavd_criticality(criticality, t->from_waker, t->from_wakees);
	t->from_waker = 0;
	t->from_wakees = 0;
	penalty = lavd_penalty(lavd_lag(t), t->lag_max_ns);
	window = lavd_window(READ_ONCE(lavd_system.nr_queued), READ_ONCE(lavd_system.nr_online));
	t->deadline = atomic64_read(&lavd_clock) - window +
		      lavd_deadline_delta(t->ran_ns, penalty, t->criticality);
}

#define CLOCK_TRIES	3

/* The logical clock goes on towards the deadline of whoever runs, never back. */
static void lavd_advance_clock(u64 deadline)
{
	u64 queued = READ_ONCE(lavd_system.nr_queued), step;
	s64 clock = atomic64_read(&lavd_clock);
	int tries = CLOCK_TRIES;

	do {
		step = lavd_clock_step(clock, deadline, queued);
	} while (step && !atomic64_try_cmpxchg(&lavd_clock, &clock, clock + step) && --tries);
}

#define CLOCK_SHIFT	10

/*
 * The clock stands while those run that are due before it, such as two that wake each other: who
 * is due after it would wait for ever, as under scx_lavd. So it goes on by 1/1024 of the time that
 * passes, at least: some 0.1 ms, by which hogs of nice 0 are deferred, take 0.1 s so. Much faster,
 * and those who wake would come after all that wait already.
 */
void lavd_keep_clock_going(u64 passed_ns)
{
	static u64 seen;
	s64 missing = seen + (passed_ns >> CLOCK_SHIFT) - atomic64_read(&lavd_clock);

	if (!original && missing > 0)
		atomic64_add(missing, &lavd_clock);
	seen = atomic64_read(&lavd_clock);
}

/* Turns */

void lavd_give_slice(struct task_struct *task, struct core_event *core)
{
	struct lavd_task *t = saakm_task_data(task);
	const struct lavd_slice_input in = {
		.system_ns = READ_ONCE(lavd_system.slice_ns),
		.min_ns = READ_ONCE(slice_min_us) * NSEC_PER_USEC,
		.pinned_ns = lavd_pinned_slice_ns(),
		.runtime_ns = t->runtime_ns,
		.criticality = t->criticality,
		.average = READ_ONCE(lavd_system.criticality),
		.pinned_wait = core->rq.nr_tasks,
		.light = READ_ONCE(lavd_system.light),
		.boosts = READ_ONCE(slice_boost),
	};

	t->slice_ns = lavd_slice(&in, &t->boosted);
	lavd_cpu(core->id)->boosted = t->boosted;
}

void lavd_begin_turn(struct process_event *event, struct core_event *core, u64 now)
{
	struct lavd_cpu *own = lavd_cpu(core->id);
	struct lavd_task *t = event->data;

	lavd_unqueue(t);
	lavd_give_slice(event->task, core);
	lavd_advance_clock(t->deadline);
	lavd_load_note(&t->load, LAVD_SCALE, now);
	if (t->ran_on != core->id) {
		if (t->ran_on >= 0 && lavd_cpu(t->ran_on)->domain != own->domain)
			own->crossings++;
		t->heat = 0;
		t->ran_on = core->id;
	} else if (t->heat) {
		t->heat = lavd_heat(t, core->id, now);
	}
	own->turns++;
	own->sum_criticality += t->criticality;
	own->max_criticality = max(own->max_criticality, t->criticality);
	own->began_ns = now;
	own->turn_ns = 0;
	own->extended = false;
	WRITE_ONCE(own->running, t);
	t->warm = false;
	t->charged_ns = saakm_task_runtime_ns(event->task);
	WRITE_ONCE(own->criticality, t->criticality);
	WRITE_ONCE(own->stops_ns, now + min(t->runtime_ns, t->slice_ns));
}

/* Who gets a lock is more critical when it is queued next, and not asked to make way, once. */
static void lavd_forget_lock(struct task_struct *task, struct lavd_task *t)
{
	if (!saakm_holds_lock(task))
		return;
	t->how |= LAVD_LOCKED;
	saakm_forget_lock(task);
}

/* The CPU time that it has had since it was counted last: at a tick, or when its turn ends. */
void lavd_charge(struct task_struct *task, struct lavd_cpu *own)
{
	struct lavd_task *t = saakm_task_data(task);
	u64 used_ns = saakm_task_runtime_ns(task) - t->charged_ns;
	u64 service_ns = (used_ns * t->inverse) >> SERVICE_SHIFT;

	t->charged_ns += used_ns;
	t->ran_ns += used_ns;
	t->service_ns += service_ns;
	own->used_ns += used_ns;
	own->turn_ns += used_ns;
	own->service_ns += service_ns;
}

static void lavd_learn(struct task_struct *task, struct lavd_task *t, struct lavd_cpu *own, u64 now)
{
	lavd_charge(task, own);
	t->runtime_ns = lavd_mean(t->runtime_ns, t->ran_ns);
	if (READ_ONCE(warm_cpu_us))
		t->heat = min(t->heat + lavd_heat_of(now - own->began_ns), LAVD_SCALE);
	lavd_forget_lock(task, t);
}

/* The slice is over, and nobody comes: it gets another one. */
void lavd_go_on(struct task_struct *task, struct core_event *core, u64 now)
{
	struct lavd_cpu *own = lavd_cpu(core->id);
	struct lavd_task *t = saakm_task_data(task);

	lavd_learn(task, t, own, now);
	lavd_give_slice(task, core);
	own->began_ns = now;
	own->turn_ns = 0;
	WRITE_ONCE(own->stops_ns, now + min(t->runtime_ns, t->slice_ns));
}

void lavd_end_turn(struct process_event *event, struct core_event *core, u64 now)
{
	struct lavd_cpu *own = lavd_cpu(core->id);
	struct lavd_task *t = event->data;

	lavd_learn(event->task, t, own, now);
	t->left_ns = now;
	WRITE_ONCE(own->running, NULL);
	if (original && t->service_ns > READ_ONCE(lavd_most_service_ns))
		WRITE_ONCE(lavd_most_service_ns, t->service_ns);
}

/* It stays runnable. scx_lavd looks when a thread sleeps: who never does is no load there. */
void lavd_note_load(struct lavd_task *t, u64 now)
{
	if (original)
		return;
	lavd_load_note(&t->load, LAVD_SCALE, now);
	t->utilisation = lavd_load_read(&t->load);
}

void lavd_goes_to_sleep(struct lavd_task *t, u64 now)
{
	s64 interval = now - t->slept_ns;

	lavd_load_note(&t->load, 0, now);
	t->utilisation = lavd_load_read(&t->load);
	if (interval <= 0)
		return;
	t->wait_frequency = lavd_frequency(t->wait_frequency, interval);
	t->slept_ns = now;
}
