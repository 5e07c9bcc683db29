// SPDX-License-Identifier: GPL-2.0
/*
 * Ejection: a policy loses its handlers at once and its threads soon after. All
 * that is known of the reason stays visible until it is unloaded.
 *
 * From the moment of saakm_eject() the class answers the events in the policy's
 * place, with a FIFO: its table of handlers is exchanged. The rest is left to a
 * worker, because it sleeps: moving the threads to fair, as in a removal.
 */
#include <linux/console.h>

/* The class's own handlers, for policies that have lost theirs. */

/*
 * Those that wait in the policy's queues go before whoever comes now, or comes again: what
 * is in the class's own queue goes before all but a policy that is owed the CPU for a while,
 * and one of them may be in a fork that the eviction waits for.
 */
static void saakm_adopt(struct rq *rq, struct saakm_policy *policy)
{
	struct task_struct *p;

	list_for_each_entry(p, &rq->saakm.threads, saakm.rq_node) {
		if (p->saakm.policy != policy || p->saakm.state != SAAKM_READY ||
		    !p->saakm.rq || p->saakm.rq == &rq->saakm.orphans)
			continue;
		saakm_rq_unlink(p);
		saakm_link_orphan(rq, p);
	}
}

static void saakm_fallback_place(struct process_event *event, struct core_event *core)
{
	struct task_struct *p = saakm_task_of(event);
	struct rq *rq = task_rq(p);

	saakm_adopt(rq, p->saakm.policy);
	saakm_set_state(rq, p, SAAKM_READY);
	saakm_link_orphan(rq, p);
}

static void saakm_fallback_tick(struct process_event *event, struct core_event *core)
{
	struct task_struct *p = saakm_task_of(event);

	saakm_set_state(task_rq(p), p, SAAKM_READY_TICK);
	resched_curr(task_rq(p));
}

/* Of those that the policy had queued the first to have arrived on the CPU. */
struct task_struct *saakm_fallback_first(struct rq *rq, struct saakm_policy *policy)
{
	struct task_struct *p;

	list_for_each_entry(p, &rq->saakm.threads, saakm.rq_node) {
		if (p->saakm.policy == policy && p->saakm.state == SAAKM_READY)
			return p;
	}
	return NULL;
}

static struct task_struct *saakm_fallback_schedule(struct core_event *event)
{
	struct saakm_core *core = container_of(event, struct saakm_core, event);

	return saakm_fallback_first(cpu_rq(core->cpu), core->policy) ?: event->curr;
}

const struct saakm_module_routines saakm_fallback = {
	.new_place	= saakm_fallback_place,
	.unblock_place	= saakm_fallback_place,
	.requeue	= saakm_fallback_place,
	.tick		= saakm_fallback_tick,
	.schedule	= saakm_fallback_schedule,
};

/*
 * The class elects for a policy from now on: whoever it has held back runs as soon as his
 * CPU elects.
 */
void saakm_kick_holders(void)
{
	int cpu;

	smp_mb();	/* __schedule(): it sees that, or we see the thread that came before */
	for_each_online_cpu(cpu) {
		if (READ_ONCE(cpu_rq(cpu)->saakm.nr_running))
			saakm_kick(cpu);
	}
}

/* Moving the threads */

static void saakm_evict(struct task_struct *p, struct saakm_policy *policy)
{
	const struct sched_class *prev_class;
	struct sched_enq_and_set_ctx ctx;
	struct saakm_data *data = NULL;
	struct rq_flags rf;
	struct rq *rq;

	rq = task_rq_lock(p, &rf);
	if (p->saakm.policy == policy) {
		prev_class = p->sched_class;
		saakm_cut_delay(rq, p);
		sched_deq_and_put_task(p, DEQUEUE_SAVE | DEQUEUE_MOVE, &ctx);
		p->policy = p->saakm.by_cgroup ? p->saakm.home : SCHED_NORMAL;
		data = saakm_detach(rq, p);
		set_load_weight(p, false);
		p->sched_class = __setscheduler_class(p->policy, p->prio);
		check_class_changing(rq, p, prev_class);
		sched_enq_and_set_task(&ctx);
		check_class_changed(rq, p, prev_class, p->prio);
	}
	task_rq_unlock(rq, p, &rf);
	saakm_free_data(data);
}

/* A referenced member, or NULL. */
static struct task_struct *saakm_any_member(struct saakm_policy *policy)
{
	struct task_struct *p;

	guard(raw_spinlock_irq)(&policy->threads_lock);
	p = list_first_entry_or_null(&policy->threads, struct task_struct, saakm.policy_node);
	return p ? get_task_struct(p) : NULL;
}

void saakm_evict_all(struct saakm_policy *policy)
{
	struct task_struct *p;

	while ((p = saakm_any_member(policy))) {
		saakm_evict(p, policy);
		put_task_struct(p);
		cond_resched();
	}
}

/* Data that outlived their threads, so that the policy can dump them. */
void saakm_free_kept(struct saakm_policy *policy)
{
	struct llist_node *node = llist_del_all(&policy->exit.data);
	struct saakm_data *data, *next;

	llist_for_each_entry_safe(data, next, node, node)
		kfree_rcu(data, rcu);
}

/*
 * Without a lock that others want: the policy's checkparam_attr and dump may
 * never return.
 */
static void saakm_finish_eject(struct work_struct *work)
{
	struct saakm_policy *policy = container_of(work, struct saakm_policy, exit.work);
	unsigned int nr_threads = READ_ONCE(policy->nr_threads);
	/* While those who waited can still be seen. */
	char *state = saakm_dump_state();

	saakm_wait_joiners();
	saakm_evict_all(policy);
	WRITE_ONCE(policy->exit.done, true);
	pr_info("saakm: policy %s is ejected: %u threads went to fair; unload its module and load a better one\n",
		policy->own->name, nr_threads);
	/* Pairs with saakm_dump_show(). */
	smp_store_release(&policy->exit.dump, saakm_dump_json(policy, state));
	kvfree(state);
	saakm_free_kept(policy);
}

void saakm_eject_init_policy(struct saakm_policy *policy)
{
	init_llist_head(&policy->exit.data);
	INIT_WORK(&policy->exit.work, saakm_finish_eject);
}

/* @policy is not in the list any more. */
void saakm_settle_eject(struct saakm_policy *policy)
{
	flush_work(&policy->exit.work);
}

static void saakm_eject_work_fn(struct work_struct *work)
{
	struct saakm_policy *policy;

	/* Deferred messages stay in the log until somebody takes the console. */
	console_lock();
	console_unlock();

	guard(mutex)(&saakm_mutex);
	list_for_each_entry(policy, &saakm_policies, node) {
		if (!saakm_exit_kind(policy) || policy->exit.done || policy->exit.queued)
			continue;
		policy->exit.queued = true;
		queue_work(system_unbound_wq, &policy->exit.work);
	}
}

static DECLARE_WORK(saakm_eject_work, saakm_eject_work_fn);

/*
 * A runqueue lock forbids to wake a worker, and a handler that holds it may have enabled
 * interrupts. The CPUs elect before the worker begins, which may wait for a lock that a
 * thread holds.
 */
static void saakm_eject_irq_work(struct irq_work *work)
{
	int cpu = cpumask_any_but(cpu_online_mask, smp_processor_id());

	if (cpu < nr_cpu_ids && saakm_ticks_in_handler()) {
		irq_work_queue_on(work, cpu);
		return;
	}
	if (saakm_put_off(this_rq(), &this_rq()->saakm.eject_owed))
		return;
	saakm_kick_holders();
	queue_work(system_unbound_wq, &saakm_eject_work);
}

DEFINE_IRQ_WORK(saakm_eject_kick, saakm_eject_irq_work);

/* By its author, and by the user */

void saakm_eject(struct saakm_policy *policy, enum saakm_exit_kind kind,
		 const struct task_struct *p, const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	/* It is not loaded: there is nothing to lose. */
	if (!policy->own || !saakm_may_touch(policy, __func__, _RET_IP_))
		return;
	if (kind < SAAKM_EXIT_POLICY_ERROR || kind >= SAAKM_NR_EXITS)
		kind = SAAKM_EXIT_POLICY_ERROR;
	va_start(args, fmt);
	vaf.va = &args;
	saakm_veject(policy, kind, p, &vaf);
	va_end(args);
}
EXPORT_SYMBOL_NS_GPL(saakm_eject, SAAKM);

static int saakm_eject_by_name(const char *name)
{
	struct saakm_policy *policy;

	guard(rcu)();		/* who holds saakm_mutex may wait for a thread of the policy */
	policy = saakm_policy_called(name);
	if (!policy)
		return saakm_refuse(-ESRCH, "eject: no policy is called %s", name);
	if (READ_ONCE(policy->successor))
		return saakm_refuse(-EBUSY, "eject: policy %s is being replaced", name);
	__saakm_eject(policy, SAAKM_EXIT_USER, NULL, "by %s/%d", current->comm, current->pid);
	return 0;
}

static void saakm_sysrq_eject(u8 key)
{
	struct saakm_policy *policy;

	guard(rcu)();
	for_each_saakm_policy(policy)
		__saakm_eject(policy, SAAKM_EXIT_SYSRQ, NULL, "by SysRq-%c", key);
}

static const struct sysrq_key_op saakm_sysrq = {
	.handler	= saakm_sysrq_eject,
	.help_msg	= "eject-saakm-policies(E)",
	.action_msg	= "Eject all SaaKM policies",
	.enable_mask	= SYSRQ_ENABLE_RTNICE,
};

static int __init saakm_eject_init(void)
{
	register_sysrq_key('E', &saakm_sysrq);
	return 0;
}

/* Not as late as the sched_clock key is switched: QEMU 7.2 runs what stood there. */
device_initcall(saakm_eject_init);
