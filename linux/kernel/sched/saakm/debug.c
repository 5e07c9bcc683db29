// SPDX-License-Identifier: GPL-2.0
/*
 * What users see: reports of wrong moves, logs, tracepoints, /proc/saakm,
 * /sys/kernel/saakm, debugfs.
 */
#include <linux/debugfs.h>
#include <linux/kobject.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/sysfs.h>

#define CREATE_TRACE_POINTS
#include <trace/events/saakm.h>

const char * const saakm_handler_names[SAAKM_NR_HANDLERS] = {
	[SAAKM_H_none]		= "none",
	[SAAKM_H_new_prepare]	= "new_prepare",
	[SAAKM_H_new_place]	= "new_place",
	[SAAKM_H_new_end]	= "new_end",
	[SAAKM_H_unblock_prepare]	= "unblock_prepare",
	[SAAKM_H_unblock_place]	= "unblock_place",
	[SAAKM_H_unblock_end]	= "unblock_end",
	[SAAKM_H_requeue]	= "requeue",
	[SAAKM_H_block]	= "block",
	[SAAKM_H_yield]	= "yield",
	[SAAKM_H_tick]		= "tick",
	[SAAKM_H_running]	= "running",
	[SAAKM_H_attr_changed]	= "attr_changed",
	[SAAKM_H_terminate]	= "terminate",
	[SAAKM_H_moved]		= "moved",
	[SAAKM_H_getparam_attr]	= "getparam_attr",
	[SAAKM_H_wakeup_preempt]	= "wakeup_preempt",
	[SAAKM_H_schedule]	= "schedule",
	[SAAKM_H_newly_idle]	= "newly_idle",
	[SAAKM_H_enter_idle]	= "enter_idle",
	[SAAKM_H_exit_idle]	= "exit_idle",
	[SAAKM_H_balancing_select]	= "balancing_select",
	[SAAKM_H_core_entry]	= "core_entry",
	[SAAKM_H_core_exit]	= "core_exit",
	[SAAKM_H_setparam_attr]	= "setparam_attr",
	[SAAKM_H_take_over]	= "take_over",
};

const char * const saakm_state_names[SAAKM_NR_STATES] = {
	[SAAKM_NOT_QUEUED]	= "NOT_QUEUED",
	[SAAKM_READY]		= "READY",
	[SAAKM_RUNNING]		= "RUNNING",
	[SAAKM_READY_TICK]	= "READY_TICK",
	[SAAKM_BLOCKED]		= "BLOCKED",
	[SAAKM_MIGRATING]	= "MIGRATING",
	[SAAKM_TERMINATED]	= "TERMINATED",
};

static const char * const saakm_topology_names[] = {
	[TOPOLOGY_SMT]		= "smt",
	[TOPOLOGY_CLUSTER]	= "cluster",
	[TOPOLOGY_CACHE]	= "cache",
	[TOPOLOGY_PACKAGE]	= "package",
	[TOPOLOGY_NUMA]		= "numa",
};

DEFINE_STATIC_KEY_FALSE(saakm_observed);

/* Switches of /sys/kernel/saakm. Each that is on holds saakm_observed. */
static bool saakm_check_transitions;
static bool saakm_log_transitions;
static bool saakm_log_calls;

int saakm_trace_on(void)
{
	static_branch_inc(&saakm_observed);
	return 0;
}

void saakm_trace_off(void)
{
	static_branch_dec(&saakm_observed);
}

/*
 * Keeps both static keys on, for emulators that do not get along with code that
 * changes under running CPUs: QEMU 7.2 with a thread per CPU then and now
 * executes a breakpoint that is gone.
 */
static int __init saakm_keep_patched(char *arg)
{
	static_branch_inc(&__saakm_enabled);
	static_branch_inc(&saakm_observed);
	return 0;
}
early_param("saakm_keep_patched", saakm_keep_patched);

static DEFINE_RAW_SPINLOCK(saakm_error_lock);
char saakm_last_error[SAAKM_ERROR_LEN];

/* A user's request cannot be met: tell him why. */
int saakm_refuse(int error, const char *fmt, ...)
{
	va_list args;

	guard(raw_spinlock_irqsave)(&saakm_error_lock);
	va_start(args, fmt);
	vscnprintf(saakm_last_error, sizeof(saakm_last_error), fmt, args);
	va_end(args);
	return error;
}

/* Why a call of change_state() is wrong, or NULL. */
const char *saakm_explain(const struct task_struct *p, enum saakm_state next,
			  int cpu, const struct saakm_rq *srq)
{
	enum saakm_handler handler = raw_cpu_read(saakm_context.handler);

	if (!p->saakm.policy)
		return "the thread belongs to no policy";
	if (handler != SAAKM_H_none && raw_cpu_read(saakm_context.subject) != p)
		return "this event is about another thread";
	if ((unsigned int)next >= SAAKM_NR_STATES)
		return "there is no such state";
	if (!(saakm_handler_states[handler] & BIT(next)))
		return "this handler may not move a thread there";
	if (!saakm_transition_allowed(p->saakm.state, next))
		return "there is no such transition";
	if (cpu != task_cpu(p))
		return "the thread is on another CPU";
	if (!raw_spin_is_locked(rq_lockp(task_rq(p))))
		return "the runqueue lock is not held";
	if (next != SAAKM_READY)
		return srq ? "only READY takes a runqueue" : NULL;
	if (!srq)
		return "READY needs a runqueue";
	if (srq->cpu != cpu || (!srq->head.next && srq->type != SAAKM_RQ_RBTREE))
		return "the runqueue is not of this CPU, or not initialised";
	if (srq->owner != p->saakm.policy)
		return "the runqueue belongs to another policy";
	return NULL;
}

void saakm_observe_call(const struct saakm_policy *policy,
			enum saakm_handler handler,
			const struct task_struct *p, int cpu)
{
	trace_saakm_call(policy->own->id, saakm_handler_names[handler], p, cpu);
	if (READ_ONCE(saakm_log_calls))
		printk_deferred("saakm: policy %s: %s pid %d cpu %d\n",
				policy->own->name, saakm_handler_names[handler],
				p ? p->pid : 0, cpu);
}

void saakm_observe_transition(struct task_struct *p, enum saakm_state next)
{
	const char *handler = saakm_handler_names[raw_cpu_read(saakm_context.handler)];
	struct saakm_policy *policy = p->saakm.policy;
	enum saakm_state prev = p->saakm.state;
	int cpu = task_cpu(p);

	saakm_history_add(p, next);
	trace_saakm_transition(p, policy->own->id, next, cpu, handler);
	if (READ_ONCE(saakm_log_transitions))
		printk_deferred("saakm: policy %s: %s/%d %s -> %s cpu %d in %s\n",
				policy->own->name, p->comm, p->pid,
				saakm_state_names[prev],
				saakm_state_names[next], cpu, handler);
	if (!READ_ONCE(saakm_check_transitions))
		return;
	if (!saakm_transition_allowed(prev, next))
		saakm_violation(SAAKM_EXIT_BAD_STATE, policy, p, "transition to %s",
				saakm_state_names[next]);
	if (!raw_spin_is_locked(rq_lockp(task_rq(p))))
		saakm_violation(SAAKM_EXIT_NO_LOCK, policy, p,
				"transition to %s without the runqueue lock",
				saakm_state_names[next]);
	if (p->saakm.rq && p->saakm.rq->cpu != cpu)
		saakm_violation(SAAKM_EXIT_FOREIGN_QUEUE, policy, p, "queued on CPU %d",
				p->saakm.rq->cpu);
}

/* /sys/kernel/saakm */

static ssize_t saakm_show_switch(bool *on, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(*on));
}

static ssize_t saakm_store_switch(bool *on, const char *buf, size_t count)
{
	bool value;

	if (kstrtobool(buf, &value))
		return -EINVAL;
	guard(mutex)(&saakm_mutex);
	if (value == *on)
		return count;
	WRITE_ONCE(*on, value);
	if (value)
		static_branch_inc(&saakm_observed);
	else
		static_branch_dec(&saakm_observed);
	return count;
}

#define SAAKM_SWITCH(_name)						\
static ssize_t _name##_show(struct kobject *kobj,			\
			    struct kobj_attribute *attr, char *buf)	\
{									\
	return saakm_show_switch(&saakm_##_name, buf);			\
}									\
static ssize_t _name##_store(struct kobject *kobj,			\
			     struct kobj_attribute *attr,		\
			     const char *buf, size_t count)		\
{									\
	return saakm_store_switch(&saakm_##_name, buf, count);		\
}									\
static struct kobj_attribute _name##_attr = __ATTR_RW(_name)

SAAKM_SWITCH(check_transitions);
SAAKM_SWITCH(log_violations);
SAAKM_SWITCH(log_transitions);
SAAKM_SWITCH(log_calls);

static ssize_t on_violation_show(struct kobject *kobj,
				 struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", saakm_reaction_names[READ_ONCE(saakm_on_violation)]);
}

static ssize_t on_violation_store(struct kobject *kobj,
				  struct kobj_attribute *attr,
				  const char *buf, size_t count)
{
	int i = sysfs_match_string(saakm_reaction_names, buf);

	if (i <= SAAKM_REACT_DEFAULT)
		return -EINVAL;
	WRITE_ONCE(saakm_on_violation, i);
	return count;
}

static struct kobj_attribute on_violation_attr = __ATTR_RW(on_violation);

static ssize_t violations_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&saakm_violations));
}

static struct kobj_attribute violations_attr = __ATTR_RO(violations);

static ssize_t last_error_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *buf)
{
	guard(raw_spinlock_irqsave)(&saakm_error_lock);
	return sysfs_emit(buf, "%s\n", saakm_last_error);
}

static struct kobj_attribute last_error_attr = __ATTR_RO(last_error);

static ssize_t eject_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t count)
{
	char name[SAAKM_NAME_LEN + 1];
	int ret;

	strscpy(name, buf, sizeof(name));
	ret = saakm_eject_by_name(strim(name));
	return ret ?: count;
}

static struct kobj_attribute eject_attr = __ATTR_WO(eject);

static ssize_t last_replacement_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct saakm_replacement *last = &saakm_last_replacement;

	guard(mutex)(&saakm_mutex);
	return sysfs_emit(buf, "from %s\nto %s\nthreads %u\nlongest_pause_ns %llu\ntotal_ns %llu\n",
			  last->from[0] ? last->from : "-", last->to[0] ? last->to : "-",
			  last->nr_threads, last->longest_pause_ns, last->total_ns);
}

static struct kobj_attribute last_replacement_attr = __ATTR_RO(last_replacement);

static ssize_t history_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(saakm_history_wanted));
}

static ssize_t history_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	bool value;
	int ret = kstrtobool(buf, &value);

	return ret ?: saakm_history_set(&saakm_history_wanted, value) ?: count;
}

static struct kobj_attribute history_attr = __ATTR_RW(history);

static int saakm_apply_server(void)
{
	/* As for the fair server in debugfs: period from 100 us to 4 s. */
	if (saakm_server_runtime_us > saakm_server_period_us ||
	    saakm_server_period_us < 100 || saakm_server_period_us > 4194304)
		return -EINVAL;
	guard(cpus_read_lock)();
	return list_empty(&saakm_policies) ? 0 :
		saakm_server_apply_all(saakm_server_runtime_us, saakm_server_period_us);
}

static int saakm_apply_floor(void)
{
	return saakm_floor_runtime_us <= saakm_floor_period_us ? 0 : -EINVAL;
}

/* Once the watchdog has what is due next. */
static int saakm_apply_limit(void)
{
	return 0;
}

static ssize_t saakm_store_number(unsigned int *param, int (*apply)(void),
				  const char *buf, size_t count)
{
	unsigned int old = *param, value;
	int ret;

	ret = kstrtouint(buf, 0, &value);
	if (ret)
		return ret;
	guard(mutex)(&saakm_mutex);
	WRITE_ONCE(*param, value);
	ret = apply();
	if (!ret)
		return count;
	WRITE_ONCE(*param, old);
	apply();
	return ret;
}

#define SAAKM_NUMBER(_name, _apply)					\
static ssize_t _name##_show(struct kobject *kobj,			\
			    struct kobj_attribute *attr, char *buf)	\
{									\
	return sysfs_emit(buf, "%u\n", saakm_##_name);			\
}									\
static ssize_t _name##_store(struct kobject *kobj,			\
			     struct kobj_attribute *attr,		\
			     const char *buf, size_t count)		\
{									\
	return saakm_store_number(&saakm_##_name, _apply, buf, count);	\
}									\
static struct kobj_attribute _name##_attr = __ATTR_RW(_name)

SAAKM_NUMBER(server_runtime_us, saakm_apply_server);
SAAKM_NUMBER(server_period_us, saakm_apply_server);
SAAKM_NUMBER(floor_runtime_us, saakm_apply_floor);
SAAKM_NUMBER(floor_period_us, saakm_apply_floor);
SAAKM_NUMBER(handler_limit_ms, saakm_apply_limit);

static struct attribute *saakm_attrs[] = {
	&check_transitions_attr.attr,
	&log_violations_attr.attr,
	&log_transitions_attr.attr,
	&log_calls_attr.attr,
	&on_violation_attr.attr,
	&violations_attr.attr,
	&last_error_attr.attr,
	&server_runtime_us_attr.attr,
	&server_period_us_attr.attr,
	&floor_runtime_us_attr.attr,
	&floor_period_us_attr.attr,
	&handler_limit_ms_attr.attr,
	&eject_attr.attr,
	&history_attr.attr,
	&last_replacement_attr.attr,
	NULL
};
ATTRIBUTE_GROUPS(saakm);

/* /proc */

static int saakm_policies_show(struct seq_file *m, void *v)
{
	struct saakm_policy *policy;
	u64 switches;
	int cpu;

	seq_puts(m, "id  name             module           priority state   threads        new terminated   switches\n");
	guard(rcu)();
	for_each_saakm_policy(policy) {
		switches = 0;
		for_each_possible_cpu(cpu)
			switches += READ_ONCE(saakm_core(policy, cpu)->switches);
		seq_printf(m, "%-3u %-16s %-16s %8d %-7s %7u %10lu %10lu %10llu\n",
			   policy->own->id, policy->own->name,
			   policy->own->owner ? module_name(policy->own->owner) : "-",
			   policy->own->priority,
			   saakm_exit_kind(policy) ? "ejected" :
			   policy->dying ? "dying" : "active",
			   policy->nr_threads, policy->nr_new,
			   policy->nr_terminated, switches);
	}
	return 0;
}

/* One line for each: the reason comes last and has blanks. */
static int saakm_ejected_show(struct seq_file *m, void *v)
{
	const struct saakm_policy *policy;

	seq_puts(m, "id  name             number kind              seconds      handler          cpu thread           reason\n");
	guard(rcu)();
	for_each_saakm_policy(policy) {
		const struct saakm_exit *exit = &policy->exit;
		char thread[TASK_COMM_LEN + 12] = "-";
		char *c;

		if (!saakm_exit_kind(policy))
			continue;
		if (exit->pid)
			snprintf(thread, sizeof(thread), "%s/%d", exit->comm, exit->pid);
		for (c = thread; *c; c++) {
			if (iscntrl(*c) || *c == ' ')
				*c = '_';
		}
		seq_printf(m, "%-3u %-16s %6d %-17s %5llu.%06llu %-16s %3d %-16s %s\n",
			   policy->own->id, policy->own->name, saakm_exit_kind(policy),
			   saakm_exit_names[saakm_exit_kind(policy)],
			   exit->time_ns / NSEC_PER_SEC,
			   exit->time_ns % NSEC_PER_SEC / NSEC_PER_USEC,
			   saakm_handler_names[exit->handler], exit->cpu, thread, exit->reason);
	}
	return 0;
}

static int saakm_topology_show(struct seq_file *m, void *v)
{
	struct topology_level *level;
	int cpu, depth;

	seq_puts(m, "cpu level kind     span\n");
	saakm_topology_keep();
	guard(rcu)();
	for_each_online_cpu(cpu) {
		depth = 0;
		for_each_topology_level(level, cpu)
			seq_printf(m, "%-3d %-5d %-8s %*pbl\n", cpu, depth++,
				   saakm_topology_names[level->kind],
				   cpumask_pr_args(&level->cores));
	}
	return 0;
}

/* /proc/<pid>/saakm */
int proc_pid_saakm(struct seq_file *m, struct pid_namespace *ns,
		   struct pid *pid, struct task_struct *task)
{
	struct saakm_task *st = &task->saakm;
	struct rq_flags rf;
	struct rq *rq;

	rq = task_rq_lock(task, &rf);
	if (st->policy) {
		update_rq_clock(rq);
		seq_printf(m, "policy %u\nname %s\nstate %s\ncpu %d\nsince_ns %llu\nparam %u\n",
			   st->policy->own->id, st->policy->own->name,
			   saakm_state_names[st->state], task_cpu(task),
			   st->since_ns ? rq_clock(rq) - st->since_ns : 0,
			   st->param);
	} else {
		seq_puts(m, "policy 0\n");
	}
	task_rq_unlock(rq, task, &rf);
	return 0;
}

/* debugfs */

static void saakm_show_rq(struct seq_file *m, struct rq *rq)
{
	struct sched_dl_entity *server = &rq->saakm.server;
	struct task_struct *p;

	seq_printf(m, "cpu %d: %u runnable, curr %s/%d, server %llu/%llu us%s\n",
		   cpu_of(rq), rq->saakm.nr_running, saakm_rq_curr(rq)->comm,
		   saakm_rq_curr(rq)->pid, server->dl_runtime / NSEC_PER_USEC,
		   server->dl_period / NSEC_PER_USEC,
		   server->dl_server_active ? " active" : "");
	list_for_each_entry(p, &rq->saakm.threads, saakm.rq_node)
		seq_printf(m, "  %s/%d policy %s %s for %lld ns%s\n", p->comm,
			   p->pid, p->saakm.policy->own->name,
			   saakm_state_names[p->saakm.state],
			   (s64)(rq->clock - p->saakm.since_ns),
			   saakm_is_orphan(rq, p) ? " (not placed)" : "");
}

static int saakm_runqueues_show(struct seq_file *m, void *v)
{
	int cpu;

	for_each_online_cpu(cpu) {
		guard(rq_lock_irqsave)(cpu_rq(cpu));
		saakm_show_rq(m, cpu_rq(cpu));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(saakm_runqueues);

/* The policy with the least id from *@id on, held, or NULL. */
static struct saakm_policy *saakm_get_next(u32 *id)
{
	struct saakm_policy *policy, *next = NULL;

	guard(mutex)(&saakm_mutex);
	list_for_each_entry(policy, &saakm_policies, node) {
		if (policy->own->id >= *id && !policy->remover &&
		    (!next || policy->own->id < next->own->id))
			next = policy;
	}
	if (next) {
		saakm_get(next);
		*id = next->own->id + 1;
	}
	return next;
}

/* An array: as it was for ejected policies, as it is for the others. */
static int saakm_dump_show(struct seq_file *m, void *v)
{
	struct saakm_policy *policy;
	const char *separator = "";
	u32 id = 0;

	seq_putc(m, '[');
	while ((policy = saakm_get_next(&id))) {
		/* Pairs with saakm_finish_eject(). */
		char *kept = smp_load_acquire(&policy->exit.dump);
		char *state = kept ? NULL : saakm_dump_state();
		char *json = kept ?: saakm_dump_json(policy, state);

		kvfree(state);
		if (json)
			seq_printf(m, "%s%s", separator, json);
		if (json != kept)
			kvfree(json);
		saakm_put(policy);
		if (!json)
			return -ENOMEM;	/* nothing of what was said reaches the reader */
		separator = ",\n";
	}
	seq_puts(m, "]\n");
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(saakm_dump);

/*
 * For dump_stack() and oopses, as sched_ext's: which policies are loaded, and
 * which handler of whose this CPU is in. Anything may be broken by now.
 */
void print_saakm_info(const char *log_lvl)
{
	enum saakm_handler handler = raw_cpu_read(saakm_context.handler);
	const struct saakm_policy *policy, *calling = saakm_calling();
	char name[SAAKM_NAME_LEN], text[256];
	struct saakm_own *own;
	struct seq_buf s;

	if (list_empty(&saakm_policies))
		return;
	seq_buf_init(&s, text, sizeof(text));
	if (calling && !get_kernel_nofault(own, &calling->own) &&
	    !copy_from_kernel_nofault(name, own->name, sizeof(name)))
		seq_buf_printf(&s, " %.31s (%s);", name, saakm_handler_names[handler]);
	seq_buf_puts(&s, " loaded:");
	guard(rcu)();
	list_for_each_entry_rcu(policy, &saakm_policies, node) {
		if (get_kernel_nofault(own, &policy->own) ||
		    copy_from_kernel_nofault(name, own->name, sizeof(name)))
			break;
		seq_buf_printf(&s, " %.31s", name);
	}
	printk("%sSaaKM:%s\n", log_lvl, seq_buf_str(&s));
}

static int __init saakm_debug_init(void)
{
	struct dentry *dir = debugfs_create_dir("saakm", NULL);
	struct proc_dir_entry *proc = proc_mkdir("saakm", NULL);
	struct kobject *kobj = kobject_create_and_add("saakm", kernel_kobj);

	if (!proc || !kobj)
		return -ENOMEM;
	proc_create_single("policies", 0444, proc, saakm_policies_show);
	proc_create_single("topology", 0444, proc, saakm_topology_show);
	proc_create_single("ejected", 0444, proc, saakm_ejected_show);
	debugfs_create_file("runqueues", 0400, dir, NULL, &saakm_runqueues_fops);
	debugfs_create_file("dump", 0400, dir, NULL, &saakm_dump_fops);
	return sysfs_create_groups(kobj, saakm_groups);
}
device_initcall(saakm_debug_init);
