// SPDX-License-Identifier: GPL-2.0
/*
 * recorder: a round robin that answers every event there is, and writes down
 * each call. Handlers run under runqueue locks, so a line is a slot in an
 * array, claimed by an atomic: its index is also the order of the calls.
 *
 * /sys/kernel/debug/recorder/events: read it, or write to it to start afresh.
 */
#include <linux/debugfs.h>
#include <linux/saakm.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>

#define NR_LINES	(1 << 17)
#define REFUSED_PARAM	13
#define SHOWN_RUNTIME	4242424242ull

/* What is recorded, a bit each. */
enum recorder_group {
	GROUP_THREAD	= 1 << 0,
	GROUP_CORE	= 1 << 1,
	GROUP_SCHEDULE	= 1 << 2,
	GROUP_POLICY	= 1 << 3,
	GROUP_USED	= 1 << 4,	/* many: with each look at a thread's CPU time */
};

static unsigned int groups = GROUP_THREAD | GROUP_POLICY;
module_param(groups, uint, 0644);
MODULE_PARM_DESC(groups, "record: 1 threads, 2 cores, 4 schedule, 8 the policy, 16 used");

static bool privileged;
module_param(privileged, bool, 0444);

static int prepare_cpu = -1;
module_param(prepare_cpu, int, 0644);
MODULE_PARM_DESC(prepare_cpu, "what *_prepare answer; -1: the previous CPU");

static bool exec_away;
module_param(exec_away, bool, 0644);
MODULE_PARM_DESC(exec_away, "unblock_prepare answers 2 or 3 in execve(), where the thread is not");

static bool preempt;
module_param(preempt, bool, 0644);
MODULE_PARM_DESC(preempt, "what wakeup_preempt answers; who waits then goes first");

static bool steal;
module_param(steal, bool, 0644);
MODULE_PARM_DESC(steal, "newly_idle pulls a thread");

static bool delay;
module_param(delay, bool, 0444);
MODULE_PARM_DESC(delay, "who sleeps stays queued");

struct recorder_line {
	const char	*event;
	u64		time_ns;
	int		core;
	int		pid;
	int		state;
	int		flags;
	int		prev_cpu;
	int		waker_cpu;
	int		seen;
	int		on_cpu;		/* the handler ran there, whichever core it is about */
	bool		complete;
};

struct recorder_task {
	unsigned int	seen;		/* events so far: the class gave us zeroes */
};

static struct recorder_line *lines;
static atomic_t nr_lines = ATOMIC_INIT(0);

static struct recorder_line *claim(const char *event, int core)
{
	struct recorder_line *line;
	int n = atomic_inc_return(&nr_lines) - 1;

	if (n >= NR_LINES)
		return NULL;
	line = &lines[n];
	*line = (struct recorder_line) {
		.event = event, .time_ns = ktime_get_mono_fast_ns(), .core = core,
		.state = -1, .prev_cpu = -1, .waker_cpu = -1, .seen = -1,
		.on_cpu = raw_smp_processor_id(),
	};
	return line;
}

static void record(enum recorder_group group, const char *event, int core)
{
	struct recorder_line *line = groups & group ? claim(event, core) : NULL;

	if (line)
		smp_store_release(&line->complete, true); /* events_show() */
}

static void record_thread_of(enum recorder_group group, const char *event,
			     const struct process_event *pe, int core)
{
	const struct recorder_task *data = pe->data;
	struct recorder_line *line;

	line = groups & group ? claim(event, core) : NULL;
	if (!line)
		return;
	line->pid = pe->task->pid;
	line->state = saakm_task_state(pe->task);
	line->flags = pe->flags;
	line->prev_cpu = pe->prev_cpu;
	line->waker_cpu = pe->waker_cpu;
	line->seen = data->seen;
	smp_store_release(&line->complete, true); /* events_show() */
}

static void record_thread(const char *event, const struct process_event *pe, int core)
{
	record_thread_of(GROUP_THREAD, event, pe, core);
}

/* A handler under the runqueue lock may write to the thread's data. */
static void record_locked(const char *event, const struct process_event *pe,
			  const struct core_event *core)
{
	struct recorder_task *data = pe->data;

	record_thread(event, pe, core->id);
	data->seen++;
}

/* Threads */

static int prepare(struct process_event *pe)
{
	return prepare_cpu >= 0 ? prepare_cpu : pe->prev_cpu;
}

static int rec_new_prepare(struct process_event *pe)
{
	record_thread("new_prepare", pe, -1);
	return prepare(pe);
}

static int rec_unblock_prepare(struct process_event *pe)
{
	record_thread("unblock_prepare", pe, -1);
	if (exec_away && pe->flags & SAAKM_EV_EXEC)
		return pe->prev_cpu == 2 ? 3 : 2;
	return prepare(pe);
}

/* What places has nothing to do: the class queues the thread behind all others. */
#define THREAD_EVENT(name)						\
static void rec_##name(struct process_event *pe, struct core_event *core) \
{									\
	record_locked(#name, pe, core);					\
}
THREAD_EVENT(new_place)
THREAD_EVENT(new_end)
THREAD_EVENT(unblock_place)
THREAD_EVENT(unblock_end)
THREAD_EVENT(requeue)
THREAD_EVENT(block)
THREAD_EVENT(unblock_delayed)
THREAD_EVENT(yield)
THREAD_EVENT(tick)
THREAD_EVENT(running)
THREAD_EVENT(attr_changed)
THREAD_EVENT(terminate)

static bool rec_block_delay(struct process_event *pe, struct core_event *core)
{
	record_locked("block_delay", pe, core);
	return true;
}

static void rec_used(struct process_event *pe, struct core_event *core, u64 used_ns)
{
	record_thread_of(GROUP_USED, "used", pe, core->id);
}

/* prev_cpu says where it was. */
static void rec_moved(struct process_event *pe, struct core_event *from, struct core_event *core)
{
	struct process_event told = *pe;

	told.prev_cpu = from->id;
	record_locked("moved", &told, core);
}

static bool rec_wakeup_preempt(struct task_struct *running, struct task_struct *woken)
{
	struct process_event pe = {
		.task = woken, .data = saakm_task_data(woken), .prev_cpu = running->pid,
		.flags = saakm_task_flags(woken),
	};

	record_thread("wakeup_preempt", &pe, task_cpu(woken));
	return preempt;
}

static struct task_struct *rec_schedule(struct core_event *core)
{
	struct task_struct *first = saakm_rq_first(&core->rq);
	struct task_struct *curr = saakm_curr(core);

	record(GROUP_SCHEDULE, "schedule", core->id);
	return preempt ? first ?: curr : curr ?: first;
}

/* Cores */

static void rec_newly_idle(struct core_event *core)
{
	int cpu;

	record(GROUP_CORE, "newly_idle", core->id);
	if (!steal)
		return;
	for_each_online_cpu(cpu) {
		struct saakm_rq *from = &saakm_core_of(core->policy, cpu)->rq;

		if (cpu != core->id && saakm_steal(from, core->id, &core->rq, 1, NULL, NULL) > 0)
			return;
	}
}

#define CORE_EVENT(name)						\
static void rec_##name(struct core_event *core)				\
{									\
	record(GROUP_CORE, #name, core->id);				\
}
CORE_EVENT(enter_idle)
CORE_EVENT(exit_idle)
CORE_EVENT(balancing_select)
CORE_EVENT(core_entry)
CORE_EVENT(core_exit)

/* The policy */

static int rec_init(struct saakm_policy *policy)
{
	record(GROUP_POLICY, "init", -1);
	return 0;
}

static void rec_free_metadata(struct saakm_policy *policy)
{
	pr_info("recorder: free_metadata\n");
}

static int rec_checkparam_attr(struct saakm_policy *policy, const struct sched_attr *attr)
{
	record(GROUP_POLICY, "checkparam_attr", -1);
	return attr->sched_saakm_param == REFUSED_PARAM ? -ERANGE : 0;
}

static void rec_setparam_attr(struct process_event *pe, const struct sched_attr *attr)
{
	struct recorder_task *data = pe->data;

	record_thread("setparam_attr", pe, attr->sched_saakm_param);
	data->seen++;
}

static void rec_getparam_attr(struct process_event *pe, struct sched_attr *attr)
{
	struct recorder_task *data = pe->data;

	record(GROUP_POLICY, "getparam_attr", -1);
	/* Nobody sees it: the thread's data are there, and are the recorder's. */
	attr->sched_runtime = READ_ONCE(data->seen) == UINT_MAX ? 0 : SHOWN_RUNTIME;
}

static struct saakm_policy recorder = {
	.name			= "recorder",
	.owner			= THIS_MODULE,
	.slice_us		= 4000,
	.task_size		= sizeof(struct recorder_task),
	.balance_interval_ms	= 20,
	.new_prepare		= rec_new_prepare,
	.new_place		= rec_new_place,
	.new_end		= rec_new_end,
	.unblock_prepare	= rec_unblock_prepare,
	.unblock_place		= rec_unblock_place,
	.unblock_end		= rec_unblock_end,
	.requeue		= rec_requeue,
	.block			= rec_block,
	.yield			= rec_yield,
	.tick			= rec_tick,
	.used			= rec_used,
	.running		= rec_running,
	.attr_changed		= rec_attr_changed,
	.terminate		= rec_terminate,
	.moved			= rec_moved,
	.wakeup_preempt		= rec_wakeup_preempt,
	.schedule		= rec_schedule,
	.newly_idle		= rec_newly_idle,
	.enter_idle		= rec_enter_idle,
	.exit_idle		= rec_exit_idle,
	.balancing_select	= rec_balancing_select,
	.core_entry		= rec_core_entry,
	.core_exit		= rec_core_exit,
	.init			= rec_init,
	.free_metadata		= rec_free_metadata,
	.checkparam_attr	= rec_checkparam_attr,
	.setparam_attr		= rec_setparam_attr,
	.getparam_attr		= rec_getparam_attr,
};
module_param_named(slice_us, recorder.slice_us, uint, 0644);
module_param_named(interval_ms, recorder.balance_interval_ms, uint, 0444);
module_param_named(priority, recorder.priority, int, 0444);

/* The file */

static int events_show(struct seq_file *m, void *v)
{
	int i, n = atomic_read(&nr_lines);

	seq_puts(m, "event time_ns core pid state flags prev_cpu waker_cpu seen on_cpu\n");
	for (i = 0; i < min(n, NR_LINES); i++) {
		struct recorder_line *line = &lines[i];

		if (smp_load_acquire(&line->complete)) /* record*() */
			seq_printf(m, "%s %llu %d %d %d %d %d %d %d %d\n", line->event,
				   line->time_ns, line->core, line->pid, line->state,
				   line->flags, line->prev_cpu, line->waker_cpu, line->seen,
				   line->on_cpu);
	}
	if (n > NR_LINES)
		seq_puts(m, "overflow\n");
	return 0;
}

static int events_open(struct inode *inode, struct file *file)
{
	return single_open(file, events_show, NULL);
}

static ssize_t events_write(struct file *file, const char __user *buf, size_t count,
			    loff_t *pos)
{
	/* Writers of lines may still be at work: what they claimed stays unread. */
	memset(lines, 0, NR_LINES * sizeof(*lines));
	atomic_set(&nr_lines, 0);
	return count;
}

static const struct file_operations events_fops = {
	.owner		= THIS_MODULE,
	.open		= events_open,
	.read		= seq_read,
	.write		= events_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static struct dentry *directory;

static int __init recorder_init(void)
{
	int ret;

	lines = vzalloc(NR_LINES * sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	recorder.flags = privileged ? SAAKM_POLICY_PRIVILEGED : 0;
	if (delay) {
		recorder.block_delay = rec_block_delay;
		recorder.unblock_delayed = rec_unblock_delayed;
	}
	ret = saakm_add_policy(&recorder);
	if (ret) {
		vfree(lines);
		return ret;
	}
	directory = debugfs_create_dir("recorder", NULL);
	debugfs_create_file("events", 0600, directory, NULL, &events_fops);
	return 0;
}

static void __exit recorder_exit(void)
{
	debugfs_remove_recursive(directory);
	saakm_remove_policy(&recorder);
	vfree(lines);
}

module_init(recorder_init);
module_exit(recorder_exit);
MODULE_DESCRIPTION("SaaKM test: writes down every event");
MODULE_LICENSE("GPL");
