// SPDX-License-Identifier: GPL-2.0
/*
 * One of two threads, see agent.rs: what policies/user/bridge.c calls, and calls of it. It writes
 * events, each of whose fields says which one it is, and expects the same of decisions.
 *
 * Whatever bridge.c does not call while it passes records is absent, which ends the test.
 */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/saakm.h>

#include "user.h"

#define NR_IDS	100	/* CPUs: more than a word of bits, and less than two */

/* agent.rs has the same: how often each has been seen. None of them orders anything else. */
u64 ring_events_full, ring_events_empty, ring_decisions_full, ring_decisions_empty;

/* agent.rs: says what is wrong with record @number, and ends the test. */
__noreturn void ring_wrong(const char *what, u64 number);
int sched_yield(void);

/* What the headers refer to */
struct sim_context sim_context;
unsigned int sim_interleaving, nr_cpu_ids = NR_IDS;
static unsigned long offsets[NR_CPUS];
unsigned long *sim_percpu_offset = offsets;
sim_u64 sim_now;
volatile unsigned long jiffies;
struct pid_namespace init_pid_ns;
struct cpumask __cpu_active_mask;
const struct kernel_param_ops param_ops_uint;
DEFINE_PER_CPU(struct task_struct *, current_task);
DEFINE_PER_CPU(struct user_core, user_cores);

/* One thread, which is told of and decided about all the time, and who wakes it */
static struct task_struct task, waker;
static struct user_task data;
static struct core_event core;
static struct cpumask allowed;
static unsigned int weight;
static u64 clock_ns;
static struct saakm_policy policy = { .cores = &core };
static unsigned long asked[USER_RECORDS];
static struct user_agent agent = {
	.policy = &policy, .lock = __RAW_SPIN_LOCK_UNLOCKED(agent.lock), .asked = asked,
};

static u64 told, carried;	/* numbers of the next event and decision */
static u32 lost;
static bool saw_task;

static char memory[PAGE_SIZE + USER_RECORDS * (128 + sizeof(struct user_decision)) + PAGE_SIZE]
	__aligned(PAGE_SIZE);

/* Of each field of each record, another one. agent.rs has the same. */
static u64 content(u64 number, u64 field)
{
	return (number + 1) * 0x9e3779b97f4a7c15ULL ^ (field + 1) * 0xbf58476d1ce4e5b9ULL;
}

static u32 pid_of(u64 number, u64 field)
{
	return content(number, field) & INT_MAX;
}

/* What bridge.c calls */

u64 saakm_clock_ns(const struct core_event *unused)
{
	return clock_ns;
}

unsigned int saakm_task_weight(const struct task_struct *unused)
{
	return weight;
}

struct pid *find_pid_ns(int nr, struct pid_namespace *unused)
{
	if (nr != pid_of(carried, 22))
		ring_wrong("the pid of a decision", carried);
	saw_task = true;
	return NULL;
}

struct task_struct *pid_task(struct pid *unused, enum pid_type type)
{
	return &task;
}

int saakm_move_task_if(struct task_struct *p, int cpu, struct saakm_rq *rq, saakm_wanted_fn wanted,
		       void *arg)
{
	bool any = carried % 8 == 7, preempts = content(carried, 25) >> 63;
	int expected = any ? task_cpu(&task) : (content(carried, 24) >> 32) % NR_IDS;

	if (!saw_task)
		ring_wrong("a decision of no thread", carried);
	saw_task = false;
	if (cpu != expected || rq != (preempts ? &user_cores.urgent : &core.rq))
		ring_wrong("the CPU or flags of a decision", carried);
	data.undecided = true;
	data.generation = content(carried, 23);
	if (!wanted(p, arg))
		ring_wrong("the generation of a decision", carried);
	if (data.key != content(carried, 20) || data.slice_ns != content(carried, 21) ||
	    data.any != any || data.preempts != preempts || data.undecided)
		ring_wrong("the rest of a decision", carried);
	carried++;
	return 0;
}

struct task_struct *saakm_running_on(const struct saakm_policy *unused, int cpu)
{
	return &task;
}

#define ABSENT(type, name, parameters...)					\
type name(parameters)								\
{										\
	ring_wrong("it was to pass records, and called " #name, told);		\
}

ABSENT(void, saakm_notify, struct saakm_notifier *a)
ABSENT(void, saakm_kick, int a)
ABSENT(int, saakm_running_prio, int a)
ABSENT(int, saakm_steal, struct saakm_rq *a, int b, struct saakm_rq *c, unsigned int d,
       saakm_wanted_fn e, void *f)
ABSENT(void, hrtimer_start, struct hrtimer *a, ktime_t b, enum hrtimer_mode c)
ABSENT(u64, hrtimer_forward, struct hrtimer *a, ktime_t b, ktime_t c)
ABSENT(void, __sim_interleave, void)
ABSENT(void, sim_preemptible, const char *a, int b)
ABSENT(void, sim_spin_contended, raw_spinlock_t *a)
ABSENT(void, sim_spin_not_held, raw_spinlock_t *a)
ABSENT(void, sim_wake_one, struct sim_waiters *a)

/* Calls of it */

/* As user_make_rings() lays it out; both counts wrap around soon. Before there are threads. */
void *ring_memory(u32 *bytes)
{
	struct user_page *page = (void *)memory;

	agent.event_bytes = ALIGN(sizeof(struct user_event) +
				  BITS_TO_LONGS(NR_IDS) * sizeof(long), 32);
	agent.page_events = PAGE_SIZE;
	agent.page_decisions = PAGE_SIZE + USER_RECORDS * agent.event_bytes;
	agent.written = agent.done = -1000;
	*page = (struct user_page) {
		.protocol = USER_PROTOCOL, .nr_cpus = NR_IDS, .event_bytes = agent.event_bytes,
		.events_at = agent.page_events, .decisions_at = agent.page_decisions,
		.idle_at = agent.page_decisions + USER_RECORDS * sizeof(struct user_decision),
		.bytes = sizeof(memory), .events_written = -1000, .events_read = -1000,
		.decisions_written = -1000, .decisions_read = -1000,
	};
	agent.page = page;
	agent.idle = (void *)page + page->idle_at;
	cpumask_setall(&agent.cpus);
	task.cpus_ptr = &allowed;
	task.cpu = sim_context.cpu = 1;
	task.saakm.event.data = &data;
	data.known = true;	/* else its first event says NEW */
	current_task = &waker;
	*bytes = sizeof(memory);
	return page;
}

static bool tell_next(void)
{
	struct process_event event = { .task = &task, .data = &data };
	u64 ran_ns = content(told, 5), words[2] = { content(told, 14), content(told, 15) };
	enum user_kind kind = USER_READY + told % 4;

	clock_ns = content(told, 0);
	data.start_ns = content(told, 1);
	data.stop_ns = content(told, 2);
	task.se.sum_exec_runtime = ran_ns;
	data.told_at_ns = ran_ns - content(told, 3);
	data.slept_at_ns = ran_ns - content(told, 4);
	task.pid = pid_of(told, 6);
	task.tgid = pid_of(told, 7);
	data.generation = content(told, 8);
	weight = content(told, 9);
	core.id = (content(told, 10) >> 32) % NR_IDS;
	task.nr_cpus_allowed = pid_of(told, 11);
	waker.pid = pid_of(told, 12);
	memcpy(task.comm, words, sizeof(task.comm));
	allowed.bits[0] = content(told, 16);
	allowed.bits[1] = content(told, 17);
	jiffies = told;
	if (!user_tell(&agent, &event, &core, kind, (content(told, 13) >> 32) % 64)) {
		lost += kind != USER_READY;
		return false;
	}
	if (kind == USER_READY && data.told_at_ns != ran_ns)
		ring_wrong("when the agent was asked", told);
	told++;
	return true;
}

static void count(u64 *seen)
{
	WRITE_ONCE(*seen, *seen + 1);
}

static void carry_out(void)
{
	u64 before = carried;

	user_carry_out(&agent);
	if (carried == before)
		count(&ring_decisions_empty);
}

/*
 * Passes @number events and decisions. To see both rings full and empty, each thread now and then
 * does not go on until the other one has, at other records of each RING_PERIOD than for the rest:
 * here, events stop until there are none left, and decisions are left until there is no room.
 */
#define RING_PERIOD	40000

u32 ring_kernel(u64 number)
{
	u64 next_stop = 10000, next_leave = 30000, empty = 0, full = 0;
	bool stopped = false, leaves = false;

	while (told < number || carried < number) {
		u64 burst = 1 + (content(told, 30) >> 32) % 100, before = told + carried;

		while (burst-- && !stopped && told < number) {
			if (!tell_next()) {
				count(&ring_events_full);
				break;
			}
			if (told == next_stop) {
				empty = READ_ONCE(ring_events_empty);
				next_stop += RING_PERIOD;
				stopped = true;
			}
		}
		stopped = stopped && READ_ONCE(ring_events_empty) == empty;
		if (!leaves && carried >= next_leave) {
			full = READ_ONCE(ring_decisions_full);
			next_leave += RING_PERIOD;
			leaves = true;
		}
		leaves = leaves && READ_ONCE(ring_decisions_full) == full;
		if (!leaves)
			carry_out();
		if (told + carried == before || !user_wanted(&agent, &user_cores))
			sched_yield();
	}
	if (agent.decided != number || agent.stale || agent.gone || agent.bounced || agent.bad)
		ring_wrong("what the agent is said to have decided", number);
	if (agent.lost != lost)
		ring_wrong("how many events were lost", lost);
	return lost;
}
