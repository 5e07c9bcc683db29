// SPDX-License-Identifier: GPL-2.0
/*
 * processes: looks after the data that threads of a process share. Who is placed first
 * claims the block for its process, and everybody else expects it to be claimed so.
 */
#include <linux/saakm.h>
#include <linux/string.h>

static char *name = "processes";
module_param(name, charp, 0444);
static char *replaces;
module_param(replaces, charp, 0444);
static unsigned int size = 8000;
module_param(size, uint, 0444);

#define COUNT(what)							\
static atomic_t nr_##what = ATOMIC_INIT(0);				\
module_param_named(what, nr_##what.counter, int, 0644)
COUNT(blocks);		/* claimed */
COUNT(placed);		/* threads */
COUNT(left);
COUNT(execs);
COUNT(dirty);		/* not zeroed when they were claimed */
COUNT(foreign);		/* claimed by another process */
COUNT(missing);		/* there are none, though there shall be, or the other way round */
COUNT(changed);		/* not the one that the thread had before */
COUNT(empty);		/* of its threads more have left than come */
static int most;	/* threads that were placed and had not left, of one process */
module_param(most, int, 0644);

struct processes_process {
	atomic_t	claimed;
	atomic_t	members;
	pid_t		tgid;
	u8		fill[];
};

struct processes_task {
	void	*process;
};

/* Cleared by nobody: it shall not be found in a new block. */
static void claim(struct processes_process *process, struct task_struct *task)
{
	/* Not the members: another thread may be placed just now, on another CPU. */
	if (memchr_inv(process->fill, 0, size - offsetof(struct processes_process, fill)) ||
	    process->tgid)
		atomic_inc(&nr_dirty);
	memset(process->fill, 0xa5, size - offsetof(struct processes_process, fill));
	WRITE_ONCE(process->tgid, task->tgid);
	atomic_inc(&nr_blocks);
}

/* The block of a thread, if it is what it must be. */
static struct processes_process *block_of(struct process_event *event)
{
	struct processes_process *process = saakm_process_data(event->task);
	struct processes_task *t = event->data;
	pid_t tgid;

	if (!process != !size)
		atomic_inc(&nr_missing);
	if (t->process && t->process != process)
		atomic_inc(&nr_changed);
	t->process = process;
	if (!process)
		return NULL;
	if (!atomic_xchg(&process->claimed, 1))
		claim(process, event->task);
	/* Another thread of it may be claiming it just now, on another CPU. */
	tgid = READ_ONCE(process->tgid);
	if (tgid && tgid != event->task->tgid)
		atomic_inc(&nr_foreign);
	return process;
}

static void processes_new_place(struct process_event *event, struct core_event *core)
{
	struct processes_process *process = block_of(event);
	int members;

	atomic_inc(&nr_placed);
	if (!process)
		return;
	members = atomic_inc_return(&process->members);
	if (members > READ_ONCE(most))
		WRITE_ONCE(most, members);
}

static void processes_look(struct process_event *event, struct core_event *core)
{
	block_of(event);
}

static void processes_terminate(struct process_event *event, struct core_event *core)
{
	struct processes_process *process = block_of(event);

	atomic_inc(&nr_left);
	if (process && atomic_dec_return(&process->members) < 0)
		atomic_inc(&nr_empty);
}

static void processes_exec(struct process_event *event, struct core_event *core)
{
	block_of(event);
	atomic_inc(&nr_execs);
}

static struct saakm_policy processes = {
	.owner		= THIS_MODULE,
	.task_size	= sizeof(struct processes_task),
	.slice_us	= 4000,
	.new_place	= processes_new_place,
	.unblock_place	= processes_look,
	.requeue	= processes_look,
	.block		= processes_look,
	.running	= processes_look,
	.tick		= processes_look,
	.exec		= processes_exec,
	.terminate	= processes_terminate,
};

static int __init processes_module_init(void)
{
	int ret = saakm_set_options(&processes, replaces, -1, NULL);

	strscpy(processes.name, name);
	processes.process_size = size;
	return ret ?: saakm_add_policy(&processes);
}

static void __exit processes_module_exit(void)
{
	saakm_remove_policy(&processes);
}

module_init(processes_module_init);
module_exit(processes_module_exit);
MODULE_DESCRIPTION("SaaKM test: data of processes");
MODULE_LICENSE("GPL");
