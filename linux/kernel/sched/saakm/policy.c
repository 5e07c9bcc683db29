// SPDX-License-Identifier: GPL-2.0
/*
 * The loaded policies: adding and removing them.
 *
 * Three locks, in this order: saakm_load_mutex is held while a policy is being
 * loaded, its init included, so that a slow init delays other loads alone;
 * saakm_mutex guards the list and the parameters in sysfs, and no handler that
 * may sleep is called under it; saakm_use_mutex guards what is switched on for policies that
 * have threads.
 */

LIST_HEAD(saakm_policies);
DEFINE_MUTEX(saakm_mutex);		/* the list, and parameters in sysfs */
static DEFINE_MUTEX(saakm_load_mutex);	/* a load, and its init */
static DEFINE_MUTEX(saakm_use_mutex);	/* what is switched on */

u64 saakm_pulling __read_mostly, saakm_watching_idle __read_mostly;

static u32 saakm_last_id;
static u64 saakm_masks;		/* bits in use, one for each policy */

/* By its name, or its id in digits. One that is ejected is none. RCU or saakm_mutex. */
struct saakm_policy *saakm_policy_called(const char *name)
{
	struct saakm_policy *policy;
	u32 id;

	if (kstrtouint(name, 10, &id))
		id = 0;
	for_each_saakm_policy(policy) {
		if (!READ_ONCE(policy->dying) &&
		    (!strcmp(policy->own->name, name) || policy->own->id == id))
			return policy;
	}
	return NULL;
}

/* Whose sleeping handler the loading task is in, and the task. */
static struct {
	struct task_struct	*task;
	struct saakm_policy	*policy;
} saakm_loading;

struct saakm_policy *saakm_being_loaded(void)
{
	/* An interrupt is none of its doing. */
	return in_task() && READ_ONCE(saakm_loading.task) == current ?
		saakm_loading.policy : NULL;
}

/* Runs under saakm_load_mutex. */
static void saakm_set_loading(struct saakm_policy *policy)
{
	saakm_loading.policy = policy;
	WRITE_ONCE(saakm_loading.task, policy ? current : NULL);
}

/* Those beside the list, which has been left. */
static void saakm_wait_users(struct saakm_policy *policy)
{
	saakm_put(policy);
	wait_var_event(&policy->users, !atomic_read(&policy->users));
}

/* The hooks of idle CPUs lead to handlers and masks. */
static void saakm_watch_idle(const struct saakm_own *own)
{
	bool needs_masks = own->shared || own->flags & SAAKM_POLICY_IDLE_MASKS;
	u64 kept = saakm_keeping_masks;

	if (needs_masks)
		WRITE_ONCE(saakm_keeping_masks, kept | own->mask);
	if (needs_masks || own->routines.enter_idle || own->routines.exit_idle)
		WRITE_ONCE(saakm_watching_idle, saakm_watching_idle | own->mask);
	if (needs_masks && !kept)
		saakm_begin_idle_masks();
}

/*
 * The first thread that joins switches the class on, and says which events of
 * cores somebody wants. A policy that is loaded, but not used, costs nothing.
 * May sleep; not with cpus_read_lock().
 */
void saakm_use(struct saakm_policy *policy)
{
	const struct saakm_module_routines *routines = &policy->own->routines;
	int cpu;

	guard(mutex)(&saakm_use_mutex);
	if (policy->used_once)
		return;
	if (!saakm_enabled()) {
		for_each_possible_cpu(cpu)	/* It idled no more when the class was off. */
			cpu_rq(cpu)->saakm.idle_since_ns = 0;
	}
	static_branch_inc(&__saakm_enabled);
	if (routines->used)
		static_branch_inc(&saakm_charging);
	if (routines->block_delay)
		static_branch_inc(&saakm_delaying);
	if (policy->own->flags & SAAKM_POLICY_LOCKS)
		static_branch_inc(&saakm_noting_locks);
	if (routines->newly_idle)
		WRITE_ONCE(saakm_pulling, saakm_pulling | policy->own->mask);
	saakm_watch_idle(policy->own);
	if (policy->own->refills) {
		WRITE_ONCE(saakm_refillers, saakm_refillers | policy->own->mask);
		static_branch_inc(&saakm_refilling);
	}
	WRITE_ONCE(policy->used_once, true);
}

/* It is unlinked, and nobody can join it. */
static void saakm_unuse(struct saakm_policy *policy)
{
	guard(mutex)(&saakm_use_mutex);
	if (!policy->used_once)
		return;
	WRITE_ONCE(saakm_pulling, saakm_pulling & ~policy->own->mask);
	WRITE_ONCE(saakm_watching_idle, saakm_watching_idle & ~policy->own->mask);
	WRITE_ONCE(saakm_keeping_masks, saakm_keeping_masks & ~policy->own->mask);
	WRITE_ONCE(saakm_refillers, saakm_refillers & ~policy->own->mask);
	policy->used_once = false;
	if (policy->own->routines.used)
		static_branch_dec(&saakm_charging);
	if (policy->own->routines.block_delay)
		static_branch_dec(&saakm_delaying);
	if (policy->own->flags & SAAKM_POLICY_LOCKS)
		static_branch_dec(&saakm_noting_locks);
	if (policy->own->refills)
		static_branch_dec(&saakm_refilling);
	static_branch_dec(&__saakm_enabled);
}

/* Handlers about cores are called without threads, too. */
static bool saakm_wants_cores(const struct saakm_module_routines *routines)
{
	return routines->enter_idle || routines->exit_idle ||
	       routines->core_entry || routines->core_exit;
}

static int saakm_init_core_rq(struct saakm_rq *srq, struct saakm_policy *policy, int cpu)
{
	int ret = __saakm_runqueue_init(srq, policy, cpu, policy->own->queue, policy->own->key);

	srq->bound = policy->own->bound;
	return ret;
}

static void saakm_setup_core(struct saakm_core *core, int cpu, struct saakm_policy *policy,
			     const struct saakm_own *own)
{
	core->cpu = cpu;
	core->policy = policy;
	core->queue = own->queue;
	core->next_balance = jiffies;
	core->event.id = cpu;
	core->event.policy = policy;
	core->event.data = own->core_data ? per_cpu_ptr(own->core_data, cpu) : NULL;
	if (!saakm_init_core_rq(&core->event.rq, policy, cpu))
		return;
	/* SAAKM_RQ_NONE: an empty one, which nobody can be put into. */
	__saakm_runqueue_init(&core->event.rq, NULL, cpu, SAAKM_RQ_FIFO, NULL);
	core->event.rq.type = SAAKM_RQ_NONE;
}

/* Copies what the class relies on. */
static int saakm_own_policy(struct saakm_policy *policy)
{
	struct saakm_core __percpu *cores;
	struct saakm_own *own;
	int cpu;

	own = kzalloc(sizeof(*own), GFP_KERNEL);
	cores = alloc_percpu(struct saakm_core);
	if (own && policy->core_size)
		own->core_data = __alloc_percpu(policy->core_size, SMP_CACHE_BYTES);
	if (!own || !cores || (policy->core_size && !own->core_data)) {
		free_percpu(cores);
		if (own)
			free_percpu(own->core_data);
		kfree(own);
		return saakm_refuse(-ENOMEM, "load %s: no memory", policy->name);
	}
	saakm_fill_routines(&own->routines, policy);
	own->queue = policy->queue;
	own->key = policy->key;
	own->bound = policy->bound;
	own->refills = policy->routines.refill;
	own->yield_to_any = policy->yield_to_any;
	own->charge_late = policy->charge_late;
	own->refill_always = policy->refill_always;
	own->leaving = saakm_fallback;
	own->leaving.terminate = own->routines.terminate;
	strscpy(own->name, policy->name);
	own->owner = policy->owner;
	own->priority = policy->priority;
	own->task_size = policy->task_size;
	own->process_size = policy->process_size;
	own->flags = policy->flags;
	own->timeout_ms = policy->timeout_ms;
	own->balance_interval_ms = policy->balance_interval_ms;
	own->reaction = policy->reaction;
	policy->own = own;
	for_each_possible_cpu(cpu)
		saakm_setup_core(per_cpu_ptr(cores, cpu), cpu, policy, own);
	/* The struct core_event is the first in it. */
	policy->cores = (struct core_event __percpu *)cores;
	return 0;
}

static void saakm_disown_policy(struct saakm_policy *policy)
{
	saakm_free_shared(policy->own);
	free_percpu(policy->cores);
	free_percpu(policy->own->core_data);
	kfree(policy->own);
	policy->cores = NULL;
	policy->own = NULL;
}

int saakm_refuse_load(struct saakm_policy *policy, int error, const char *fmt, ...)
{
	char text[SAAKM_ERROR_LEN];
	va_list args;

	if (!policy->own)
		return error;
	va_start(args, fmt);
	vscnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	policy->own->refused = true;
	return saakm_refuse(error, "load %s: %s", policy->own->name, text);
}
EXPORT_SYMBOL_NS_GPL(saakm_refuse_load, SAAKM);

static int saakm_init_policy(struct saakm_policy *policy)
{
	int ret = 0;

	if (policy->own->routines.init) {
		saakm_set_loading(policy);
		ret = policy->own->routines.init(policy);
		saakm_set_loading(NULL);
	}
	if (ret > 0 || (ret && !policy->own->refused))
		return saakm_refuse(ret < 0 ? ret : -EINVAL, "load %s: its init returned %d",
				    policy->own->name, ret);
	return ret;
}

static int saakm_setup(struct saakm_policy *policy)
{
	int ret;

	BUILD_BUG_ON(offsetof(struct saakm_core, event));
	ret = saakm_own_policy(policy);
	if (ret)
		return ret;
	INIT_LIST_HEAD(&policy->threads);
	raw_spin_lock_init(&policy->threads_lock);
	atomic_set(&policy->users, 1);
	policy->ops = &policy->own->routines;
	policy->dying = false;
	policy->remover = NULL;
	policy->used_once = false;
	policy->nr_threads = 0;
	policy->nr_new = 0;
	policy->nr_terminated = 0;
	policy->successor = NULL;
	bitmap_zero(policy->reported, SAAKM_NR_EXITS * SAAKM_NR_STATES);
	policy->exit = (struct saakm_exit) {};
	saakm_eject_init_policy(policy);
	ret = saakm_init_policy(policy);
	if (ret)
		saakm_disown_policy(policy);
	return ret;
}

static void saakm_teardown(struct saakm_policy *policy)
{
	if (policy->own->routines.free_metadata)
		policy->own->routines.free_metadata(policy);
	saakm_free_kept(policy);
	kvfree(policy->exit.dump);
	saakm_disown_policy(policy);
}

/* Makes the class ready for its first policy. Under cpus_read_lock(). */
static int saakm_enable(const struct saakm_policy *policy)
{
	int ret;

	if (!list_empty(&saakm_policies))
		return 0;
	ret = saakm_server_apply_all(saakm_server_runtime_us, saakm_server_period_us);
	if (ret)
		return saakm_refuse(ret, "load %s: no deadline bandwidth; lower server_runtime_us",
				    policy->own->name);
	return 0;
}

static void saakm_link_policy(struct saakm_policy *policy)
{
	struct saakm_policy *pos;

	policy->own->mask = (saakm_masks + 1) & ~saakm_masks;
	saakm_masks |= policy->own->mask;
	policy->own->id = ++saakm_last_id;
	policy->id = policy->own->id;
	list_for_each_entry(pos, &saakm_policies, node) {
		if (saakm_policy_before(policy, pos))
			break;
	}
	list_add_tail_rcu(&policy->node, &pos->node);
}

/* Under saakm_mutex: from here on it can be joined. */
static int saakm_publish(struct saakm_policy *policy, struct saakm_policy *old)
{
	int ret;

	if (saakm_exit_kind(policy))
		return saakm_refuse(-ECANCELED, "load %s: it ejected itself (%s): %s",
				    policy->own->name, saakm_exit_names[saakm_exit_kind(policy)],
				    policy->exit.reason);
	if (old && READ_ONCE(old->dying))
		return saakm_refuse(-ESRCH, "load %s: %s, which it was to replace, is gone",
				    policy->own->name, old->own->name);
	guard(cpus_read_lock)();
	ret = saakm_enable(policy);
	if (!ret)
		saakm_link_policy(policy);
	return ret;
}

static int saakm_load(struct saakm_policy *policy, struct saakm_policy *old)
{
	unsigned int topology;
	int ret;

	saakm_topology_get();
	topology = READ_ONCE(saakm_topologies);
	ret = saakm_setup(policy);
	if (ret) {
		saakm_topology_put();
		return ret;
	}
	if (old)
		ret = saakm_agree_to_replace(policy, old);
	scoped_guard(mutex, &saakm_mutex) {
		if (!ret)
			ret = saakm_publish(policy, old);
		if (!ret) {
			saakm_watchdog_set();
			if (old)
				saakm_replace(old, policy);
		}
	}
	if (ret) {
		saakm_topology_put();
		saakm_settle_eject(policy);
		saakm_teardown(policy);
		return ret;
	}
	if (saakm_wants_cores(&policy->own->routines))
		saakm_use(policy);
	saakm_topology_loaded(topology);
	return 0;
}

/* Called by a handler, or in the init of a policy: it would wait for itself. */
static bool saakm_in_handler(const char *what)
{
	struct saakm_policy *policy = saakm_being_loaded();

	if (!policy && !raw_cpu_read(saakm_context.busy) && !preempt_count() &&
	    !saakm_tells_topology())
		return false;
	saakm_violation(SAAKM_EXIT_SLEEP, policy, NULL, "%s called from a handler", what);
	return true;
}

/* Another edition's struct says nothing that could be relied on, but for its name. */
static int saakm_other_edition(const struct saakm_policy *policy, unsigned int edition)
{
	return saakm_refuse(-EPROTO,
			    "load %.*s: the module was built for edition %u of the API, this kernel has edition %u: build it again",
			    SAAKM_NAME_LEN - 1, policy->name, edition, SAAKM_EDITION);
}

int saakm_add_policy_of(struct saakm_policy *policy, unsigned int edition)
{
	struct saakm_policy *old = NULL;
	int ret;

	if (saakm_in_handler("saakm_add_policy"))
		return saakm_refuse(-EDEADLK, "load: from a handler");
	if (edition != SAAKM_EDITION)
		return saakm_other_edition(policy, edition);
	guard(mutex)(&saakm_load_mutex);
	scoped_guard(mutex, &saakm_mutex) {
		ret = saakm_validate(policy, &old);
		if (!ret && old)
			saakm_get(old);
	}
	if (ret)
		return ret;
	ret = saakm_load(policy, old);
	if (old)
		saakm_put(old);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(saakm_add_policy_of, SAAKM);

/* What modules of the first edition call. */
#undef saakm_add_policy
int saakm_add_policy(struct saakm_policy *policy);
int saakm_add_policy(struct saakm_policy *policy)
{
	return saakm_other_edition(policy, 1);
}
EXPORT_SYMBOL_NS_GPL(saakm_add_policy, SAAKM);

static void saakm_unlink_policy(struct saakm_policy *policy)
{
	guard(mutex)(&saakm_mutex);
	list_del_rcu(&policy->node);
	saakm_watchdog_set();
	if (!list_empty(&saakm_policies))
		return;
	saakm_cgroups_unused();
	guard(cpus_read_lock)();
	saakm_server_apply_all(0, saakm_server_period_us);
}

/*
 * While there are threads they stay electable, by the class's own FIFO: one of
 * them may be in the RCU section or hold the lock that this waits for.
 */
static void saakm_take_down(struct saakm_policy *policy)
{
	saakm_kick_holders();
	saakm_wait_joiners();
	saakm_evict_all(policy);
	saakm_unlink_policy(policy);
	/* For those who found it in the list: fork(), handlers, oopses. */
	saakm_wait_joiners();
	saakm_wait_users(policy);
	saakm_settle_eject(policy);
	saakm_unuse(policy);
	scoped_guard(mutex, &saakm_mutex)
		saakm_masks &= ~policy->own->mask;
	saakm_topology_put();
	saakm_teardown(policy);
	policy->id = 0;
	/* Pairs with __saakm_remove_policy(): all of it has been done. */
	smp_store_release(&policy->remover, NULL);
	/* Pairs with the one in wait_var_event(). */
	smp_mb();
	wake_up_var(&policy->remover);
}

/* Claims the removal of @policy; false if it is not loaded, or being removed. */
static bool saakm_start_removal(struct saakm_policy *policy)
{
	struct saakm_policy *pos;

	guard(mutex)(&saakm_mutex);
	list_for_each_entry(pos, &saakm_policies, node) {
		if (pos != policy)
			continue;
		if (policy->remover)
			return false;
		WRITE_ONCE(policy->remover, current);
		WRITE_ONCE(policy->dying, true);
		/* An ejected one has lost terminate, too. */
		cmpxchg(&policy->ops, &policy->own->routines, &policy->own->leaving);
		saakm_forget_successor(policy);
		return true;
	}
	return false;
}

/* Who comes second waits, or the memory would go under the first one's feet. */
static void __saakm_remove_policy(struct saakm_policy *policy)
{
	if (saakm_start_removal(policy))
		saakm_take_down(policy);
	else if (READ_ONCE(policy->remover) != current)
		/* Pairs with saakm_take_down(). */
		wait_var_event(&policy->remover, !smp_load_acquire(&policy->remover));
}

void saakm_remove_policy(struct saakm_policy *policy)
{
	if (saakm_in_handler(__func__) || !saakm_may_touch(policy, __func__, _RET_IP_))
		return;
	__saakm_remove_policy(policy);
}
EXPORT_SYMBOL_NS_GPL(saakm_remove_policy, SAAKM);

static int __init saakm_init(void)
{
	open_softirq(SCHED_SOFTIRQ_SAAKM, saakm_balance_softirq);
	return 0;
}
core_initcall(saakm_init);
