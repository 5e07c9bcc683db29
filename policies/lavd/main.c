// SPDX-License-Identifier: GPL-2.0
/*
 * lavd: latency-criticality aware virtual deadlines, with virtual last-level caches. How much
 * depends on a thread's running soon follows from how often it waits and wakes others, and for
 * how short it runs (formulas.h); the more, the earlier it is due. README.md has the rules.
 *
 * Changwoo Min's scx_lavd 1.1.4 (https://github.com/sched-ext/scx) decides so; its defects are
 * mended, or kept for comparison by original=1.
 */
#include <linux/cpu.h>
#include <linux/sched/clock.h>

#include "lavd.h"

bool per_cpu_queues;
module_param(per_cpu_queues, bool, 0444);
MODULE_PARM_DESC(per_cpu_queues, "a queue for each core; else for each domain");

bool original;
module_param(original, bool, 0444);
MODULE_PARM_DESC(original, "with those defects of scx_lavd 1.1.4 that README.md says are back");

static char *virt_llc = "";
module_param(virt_llc, charp, 0444);
MODULE_PARM_DESC(virt_llc, "MIN-MAX: domains of so many cores, parts of a last-level cache");

static char *power = "auto";
module_param(power, charp, 0444);
MODULE_PARM_DESC(power, "how many CPUs are used: auto, performance (all), balanced, powersave");

#define SWITCH(name, what)						\
	bool name = true;						\
	module_param(name, bool, 0644);					\
	MODULE_PARM_DESC(name, what)

SWITCH(preemption, "who is more critical takes the CPU");
SWITCH(slice_boost, "who runs for long has longer slices");
SWITCH(wake_sync, "who is woken may take the CPU of a waker that is about to sleep");
SWITCH(futex_boost, "who holds a lock is not preempted");
SWITCH(overflow_extend, "who finds no idle CPU in use wakes another");

struct saakm_policy *lavd_policy;

/* Numbers within bounds, at load and later */
struct bounds {
	unsigned int	*value, least, most;
	const char	*name;
};

static int set_number(const char *text, const struct kernel_param *param)
{
	const struct bounds *bounds = param->arg;
	const char *number = strstrip((char *)text);
	unsigned int value;

	if (kstrtouint(number, 0, &value) || value < bounds->least || value > bounds->most) {
		pr_err("lavd: %s=%s: it is %u to %u\n", bounds->name, number, bounds->least,
		       bounds->most);
		return -EINVAL;
	}
	if (lavd_policy && (bounds->value == &slice_min_us ? value > slice_max_us :
			    bounds->value == &slice_max_us && value < slice_min_us)) {
		pr_err("lavd: %s=%u: slice_min_us would be more than slice_max_us\n", bounds->name,
		       value);
		return -EINVAL;
	}
	WRITE_ONCE(*bounds->value, value);
	return 0;
}

static int get_number(char *buffer, const struct kernel_param *param)
{
	return sprintf(buffer, "%u\n", *((const struct bounds *)param->arg)->value);
}

static const struct kernel_param_ops number_ops = { .set = set_number, .get = get_number };

#define NUMBER(_name, _default, _least, _most, what)			\
	unsigned int _name = _default;					\
	module_param_cb(_name, &number_ops,				\
			(&(struct bounds){ &_name, _least, _most, #_name }), 0644); \
	MODULE_PARM_DESC(_name, what)

NUMBER(slice_min_us, 500, 100, 100000, "least slice, in us");
NUMBER(slice_max_us, 5000, 100, 100000, "slice while few threads wait, in us");
NUMBER(pinned_slice_us, 5000, 0, 100000, "slice while a thread waits that is bound here, in us");
NUMBER(preempt_shift, 6, 0, 10, "N: who is within 1/2^N of the most critical preempts");
NUMBER(mig_delta_pct, 0, 0, 100, "percent by which domains may differ in load; 0: it depends");
NUMBER(lb_low_util_pct, 25, 0, 100, "percent of CPUs in use below which load is not balanced");
NUMBER(lat_load_target_pct, 100, 0, 1000, "load of turbulent CPUs, percent of that of others");
NUMBER(warm_cpu_us, 0, 0, 100000, "how long a thread waits for its last CPU, in us");

DEFINE_PER_CPU_SHARED_ALIGNED(struct lavd_cpu, lavd_cpus);

/* Events */

static void lavd_place_with(struct process_event *event, struct core_event *core, unsigned int how)
{
	lavd_set_deadline(event->data, how);
	if (!lavd_queue(event, core))
		lavd_find_victim(event, core, core->id);
}

static void lavd_new_place(struct process_event *event, struct core_event *core)
{
	lavd_join(event, saakm_now_ns(core));
	lavd_place_with(event, core, lavd_circumstances(event));
}

static void lavd_unblock_place(struct process_event *event, struct core_event *core)
{
	struct lavd_task *t = event->data;

	/* It lands here while it is awake, or comes back from a boost. */
	if (event->flags & SAAKM_EV_OUSTED || event->task == current) {
		t->warm = false;
		lavd_place_with(event, core, lavd_circumstances(event));
		return;
	}
	lavd_woken(event, saakm_now_ns(core));
	lavd_place_with(event, core, lavd_wakeup_circumstances(event));
}

static void lavd_requeue(struct process_event *event, struct core_event *core)
{
	u64 now = saakm_now_ns(core);

	lavd_end_turn(event, core, now);
	lavd_note_load(event->data, now);
	lavd_set_deadline(event->data, lavd_circumstances(event));
	lavd_queue(event, core);
	lavd_find_victim(event, core, -1);
}

static void lavd_block(struct process_event *event, struct core_event *core)
{
	u64 now = saakm_now_ns(core);

	lavd_unqueue(event->data);
	if (saakm_task_state(event->task) != SAAKM_READY)
		lavd_end_turn(event, core, now);
	/* Not if it is boosted into a real-time class. */
	if (!(event->flags & SAAKM_EV_OUSTED) && READ_ONCE(event->task->__state) != TASK_RUNNING)
		lavd_goes_to_sleep(event->data, now);
}

static void lavd_running(struct process_event *event, struct core_event *core)
{
	lavd_begin_turn(event, core, saakm_now_ns(core));
}

static void lavd_tick(struct process_event *event, struct core_event *core)
{
	struct lavd_cpu *own = lavd_cpu(core->id);
	u64 now = saakm_now_ns(core);

	lavd_charge(event->task, own);
	if (!lavd_turn_is_over(core, event->task, now))
		return;
	if (READ_ONCE(futex_boost) && saakm_holds_lock(event->task) && !own->extended) {
		lavd_go_on(event->task, core, now);
		own->extended = true;
	} else {
		change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
	}
}

static void lavd_terminate(struct process_event *event, struct core_event *core)
{
	struct lavd_cpu *own = lavd_cpu(core->id);

	lavd_unqueue(event->data);
	if (own->running != event->data)
		return;
	lavd_charge(event->task, own);
	own->running = NULL;
}

static void lavd_attr_changed(struct process_event *event, struct core_event *core)
{
	lavd_weigh(event);
}

static void lavd_moved(struct process_event *event, struct core_event *from,
		       struct core_event *core)
{
	struct lavd_task *t = event->data;

	t->warm &= from == core;
	lavd_requeue_load(t, lavd_cpu(core->id)->domain);
}

/* The running thread, if its turn is not over. */
static struct task_struct *lavd_goes_on(struct core_event *core)
{
	return core->curr && !lavd_asked(lavd_cpu(core->id)) ? saakm_curr(core) : NULL;
}

static struct task_struct *lavd_schedule(struct core_event *core)
{
	struct task_struct *first = lavd_goes_on(core);

	return first ?: saakm_rq_first(&core->rq) ?: core->curr;
}

static void lavd_refill(struct core_event *core)
{
	if (lavd_goes_on(core))
		return;
	if (!lavd_consume(core)) {
		if (core->curr)
			lavd_go_on(core->curr, core, saakm_now_ns(core));
		lavd_cpu(core->id)->extended = false;
		return;
	}
	if (core->rq.nr_tasks > 1)
		lavd_share_rest(core);
	if (!READ_ONCE(lavd_system.all_active))
		lavd_use_cpu(core->id);
}

static void lavd_enter_idle(struct core_event *core)
{
	struct lavd_cpu *own = lavd_cpu(core->id);

	own->idle_since_ns = saakm_now_ns(core);
	WRITE_ONCE(own->criticality, 0);
	WRITE_ONCE(own->stops_ns, U64_MAX);
}

static void lavd_exit_idle(struct core_event *core)
{
	struct lavd_cpu *own = lavd_cpu(core->id);

	if (own->idle_since_ns)
		WRITE_ONCE(own->idle_ns, own->idle_ns + saakm_now_ns(core) - own->idle_since_ns);
	WRITE_ONCE(own->idle_since_ns, 0);
}

static void lavd_balancing_select(struct core_event *core)
{
	lavd_look(local_clock());
}

/* Loading */

static int lavd_refuse_bounds(struct saakm_policy *policy)
{
	if (slice_min_us > slice_max_us)
		return saakm_refuse_load(policy, -EINVAL,
					 "slice_min_us=%u is more than slice_max_us=%u",
					 slice_min_us, slice_max_us);
	if (policy->slice_us)
		return saakm_refuse_load(policy, -EINVAL,
					 "slice_us=%u: leave it 0, and set slice_max_us",
					 policy->slice_us);
	return 0;
}

static void lavd_free_metadata(struct saakm_policy *policy)
{
	lavd_end_power();
	lavd_free_domains();
}

/* MIN-MAX */
static bool lavd_read_range(const char *text, unsigned int *least, unsigned int *most)
{
	char copy[32], *rest = copy, *first;

	if (strscpy(copy, text, sizeof(copy)) < 0)
		return false;
	first = strsep(&rest, "-");
	return rest && !kstrtouint(first, 10, least) && !kstrtouint(rest, 10, most) && *least &&
	       *least <= *most;
}

static int lavd_init(struct saakm_policy *policy)
{
	unsigned int least = 0, most = 0;
	int ret;

	lavd_policy = policy;
	if (*virt_llc && !lavd_read_range(virt_llc, &least, &most))
		return saakm_refuse_load(policy, -EINVAL,
					 "virt_llc=%s: it is MIN-MAX, cores of a domain, as 4-4",
					 virt_llc);
	cpus_read_lock();
	ret = lavd_refuse_bounds(policy) ?: lavd_make_domains(policy, least, most) ?:
	      lavd_begin_power(policy, power);
	if (!ret)
		lavd_begin_system(local_clock());
	cpus_read_unlock();
	if (ret)
		lavd_free_metadata(policy);
	return ret;
}

static void lavd_dump(struct saakm_policy *policy, struct seq_buf *text)
{
	const struct lavd_system *s = &lavd_system;
	u64 preemptions = 0, crossings = 0;
	const struct lavd_domain *domain;
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		preemptions += READ_ONCE(lavd_cpu(cpu)->preemptions);
		crossings += READ_ONCE(lavd_cpu(cpu)->crossings);
	}
	seq_buf_printf(text, "slice %llu us, criticality %u on average, %u at most, %u preempt\n",
		       s->slice_ns / NSEC_PER_USEC, s->criticality, s->max_criticality,
		       s->threshold);
	seq_buf_printf(text, "%u of %u CPUs in use (%s), %u %% busy, %u wait\n", s->nr_active,
		       s->nr_online, lavd_power_name(), s->utilisation * 100 / LAVD_SCALE,
		       s->nr_queued);
	seq_buf_printf(text, "%llu asked to make way, %llu turns in another domain than before\n",
		       preemptions, crossings);
	for (i = 0; i < lavd_nr_domains; i++) {
		domain = lavd_domains[i];
		seq_buf_printf(text, "domain %u: CPUs %*pbl, %u in use, load %u, %u wait%s%s\n", i,
			       cpumask_pr_args(&domain->cpus), domain->nr_active, domain->load,
			       domain->nr_queued, domain->steals ? ", takes" : "",
			       domain->gives ? ", gives" : "");
	}
}

SAAKM_POLICY(lavd,
	     .queue = SAAKM_RQ_RBTREE, .key = lavd_key, .balance_interval_ms = 10,
	     .task_size = sizeof(struct lavd_task),
	     .refill_always = true, .flags = SAAKM_POLICY_IDLE_MASKS | SAAKM_POLICY_LOCKS,
	     .prepare = lavd_choose_cpu, .new_place = lavd_new_place,
	     .unblock_place = lavd_unblock_place, .requeue = lavd_requeue,
	     .block = lavd_block, .tick = lavd_tick, .running = lavd_running,
	     .attr_changed = lavd_attr_changed, .moved = lavd_moved,
	     .terminate = lavd_terminate, .schedule = lavd_schedule, .refill = lavd_refill,
	     .enter_idle = lavd_enter_idle, .exit_idle = lavd_exit_idle,
	     .balancing_select = lavd_balancing_select, .init = lavd_init,
	     .free_metadata = lavd_free_metadata, .dump = lavd_dump);
MODULE_INFO(saakm_promises, "no-starvation, fairness");
