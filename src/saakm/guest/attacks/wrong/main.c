// SPDX-License-Identifier: GPL-2.0
/* The policy as it would be without a fault, and the choice of the fault. */
#include "wrong.h"

#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#define READ_SECTION_US	20000

static char *fault = "none";
module_param(fault, charp, 0444);
static char *replaces;
module_param(replaces, charp, 0444);
static int timeout_ms = 1000;
module_param(timeout_ms, int, 0444);
/* Set when all threads are there: a policy that is wrong from the start is too easy to find. */
static bool armed;
module_param(armed, bool, 0644);
static bool released;
module_param(released, bool, 0644);
static atomic_t reading = ATOMIC_INIT(0);
module_param_named(reading, reading.counter, int, 0444);
static atomic_t tried = ATOMIC_INIT(0);
module_param_named(tried, tried.counter, int, 0444);

static const struct wrong_fault *chosen;

DEFINE_PER_CPU(struct saakm_rq, wrong_rqs);

bool wrong_at_once(void)
{
	atomic_inc(&tried);
	return true;
}

bool wrong_now(void)
{
	return READ_ONCE(armed) && wrong_at_once();
}

bool wrong_released(void)
{
	return READ_ONCE(released);
}

bool is_prey(struct task_struct *task)
{
	return saakm_task_param(task) == 1;
}

struct task_struct *foreign_waiting(int cpu)
{
	struct task_struct *process, *task;
	struct saakm_policy *policy;

	for_each_process_thread(process, task) {
		policy = READ_ONCE(task->saakm.policy);
		if (policy && policy != &wrong_policy && task_cpu(task) != cpu &&
		    saakm_task_state(task) == SAAKM_READY)
			return task;
	}
	return NULL;
}

struct saakm_policy *foreign_policy(void)
{
	struct task_struct *process, *task;
	struct saakm_policy *policy;

	guard(rcu)();
	for_each_process_thread(process, task) {
		policy = READ_ONCE(task->saakm.policy);
		if (policy && policy != &wrong_policy)
			return policy;
	}
	return NULL;
}

struct saakm_rq *foreign_rq(int cpu)
{
	struct saakm_policy *policy = foreign_policy();

	return policy ? &saakm_core_of(policy, cpu)->rq : NULL;
}

/* The good policy: a FIFO of its own a CPU, with a slice of one tick. */

int good_init(struct saakm_policy *policy)
{
	return saakm_runqueues_init(&wrong_rqs, chosen->key ? SAAKM_RQ_RBTREE : SAAKM_RQ_FIFO,
				    chosen->key);
}

void good_place(struct process_event *event, struct core_event *core)
{
	change_state(event->task, SAAKM_READY, core->id, wrong_rq(core->id));
}

void good_tick(struct process_event *event, struct core_event *core)
{
	if (wrong_rq(core->id)->nr_tasks)
		change_state(event->task, SAAKM_READY_TICK, core->id, NULL);
}

struct task_struct *good_schedule(struct core_event *core)
{
	return saakm_curr(core) ?: saakm_rq_first(wrong_rq(core->id));
}

static void good_balance(struct core_event *core)
{
}

/* It goes before the others: what they suffer, they suffer from it. */
struct saakm_policy wrong_policy = {
	.name			= "wrong",
	.owner			= THIS_MODULE,
	.queue			= SAAKM_RQ_NONE,
	.balance_interval_ms	= 1,
	.priority		= 1,
	.init			= good_init,
	.place			= good_place,
	.tick			= good_tick,
	.schedule		= good_schedule,
	.balancing_select	= good_balance,
};

/* A thread that reads this file is in an RCU read section nearly all the time. */
static int reader_show(struct seq_file *file, void *unused)
{
	guard(rcu)();
	atomic_inc(&reading);
	for (int us = 0; us < READ_SECTION_US; us += 10)
		udelay(10);
	atomic_dec(&reading);
	return 0;
}

static const struct wrong_fault *find_fault(void)
{
	static const struct wrong_fault none = { .name = "none" };
	static const struct wrong_fault * const all[] = {
		&none, call_faults, election_faults, field_faults, loading_faults, queue_faults,
		share_faults, storm_faults, theft_faults, wait_faults,
	};

	for (int i = 0; i < ARRAY_SIZE(all); i++) {
		for (const struct wrong_fault *f = all[i]; f->name; f++) {
			if (!strcmp(f->name, fault))
				return f;
			if (f == &none)
				break;
		}
	}
	return NULL;
}

/* The same policy as the class has it: it places and elects, and ends the slices. */
static void use_class_queue(void)
{
	wrong_policy.queue = chosen->key ? SAAKM_RQ_RBTREE : SAAKM_RQ_FIFO;
	wrong_policy.key = chosen->key;
	wrong_policy.bound = chosen->bound;
	wrong_policy.slice_us = USEC_PER_SEC / HZ;
	wrong_policy.init = chosen->shares ? share_all : NULL;
	wrong_policy.place = NULL;
	wrong_policy.tick = NULL;
	wrong_policy.schedule = NULL;
}

/* All members of struct saakm_module_routines are pointers to functions. */
static void take_routines(const struct saakm_module_routines *from)
{
	const unsigned long *source = (const unsigned long *)from;
	unsigned long *target = (unsigned long *)&wrong_policy.routines;

	for (int i = 0; i < sizeof(*from) / sizeof(*source); i++) {
		if (source[i])
			target[i] = source[i];
	}
}

static int __init wrong_module_init(void)
{
	int ret;

	chosen = find_fault();
	if (!chosen)
		return -ENOENT;
	if (chosen->class_queue || chosen->shares)
		use_class_queue();
	take_routines(&chosen->routines);
	wrong_policy.task_size = chosen->task_size;
	wrong_policy.core_size = chosen->core_size;
	ret = saakm_set_options(&wrong_policy, replaces, timeout_ms, NULL);
	if (ret)
		return ret;
	if (!proc_create_single("wrong_reader", 0444, NULL, reader_show))
		return -ENOMEM;
	ret = chosen->load ? chosen->load() : saakm_add_policy(&wrong_policy);
	if (ret < 0)
		remove_proc_entry("wrong_reader", NULL);
	return ret;
}

static void __exit wrong_module_exit(void)
{
	remove_proc_entry("wrong_reader", NULL);
	if (chosen->unload)
		chosen->unload();
	if (!chosen->stays)
		saakm_remove_policy(&wrong_policy);
}

module_init(wrong_module_init);
module_exit(wrong_module_exit);
MODULE_DESCRIPTION("SaaKM: a policy with a fault");
MODULE_LICENSE("GPL");
