// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/saakm_user: each open file is one agent. It gets its CPUs by USER_ATTACH, and has them
 * until it is closed, or until another process takes over: the old agent is told, saves what it
 * knows, and closes its files; if it does not within TAKE_OVER_MS, it is replaced nevertheless.
 *
 * Without any agent for grace_ms the policy gives up.
 */
#include <linux/capability.h>
#include <linux/ctype.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "user.h"

#define TAKE_OVER_MS	100
#define STATE_BYTES	(1024 * 1024)

static unsigned int grace_ms = 10000;
module_param(grace_ms, uint, 0644);
MODULE_PARM_DESC(grace_ms, "threads without an agent for so long: the policy is ejected; 0: never");

static struct saakm_policy *user_policy;
static DEFINE_MUTEX(user_mutex);	/* who has which CPUs, and the state */
static LIST_HEAD(user_agents);
static DECLARE_WAIT_QUEUE_HEAD(user_left);
static unsigned int user_leaves;	/* how often an agent has left; by user_mutex */
static unsigned long user_alone;	/* jiffies, since when; by user_mutex */

unsigned int user_attached;	/* by user_mutex */
module_param_named(agents, user_attached, uint, 0444);
MODULE_PARM_DESC(agents, "how many domains have an agent; read only");

static struct {
	void	*data;
	size_t	bytes;
} user_saved;

/* Giving up */

/* With the mutex */
static void user_detach(struct user_agent *agent)
{
	int cpu;

	if (!agent->ready)
		return;
	WRITE_ONCE(agent->ready, false);
	list_del(&agent->node);
	user_attached--;
	for_each_cpu(cpu, &agent->cpus)
		RCU_INIT_POINTER(user_core(cpu)->agent, NULL);
	user_kick_waiting(agent);
	synchronize_rcu();	/* handlers, which would arm the timer */
	user_kick_waiting(agent);
	hrtimer_cancel(&agent->timer);
	user_release_waiting(agent->policy, &agent->cpus);
	saakm_notify(&agent->calls);
	WRITE_ONCE(user_leaves, user_leaves + 1);
	wake_up_all(&user_left);
}

static void user_look(struct work_struct *work);
static DECLARE_DELAYED_WORK(user_looking, user_look);

/* With the mutex. The dead have no CPUs, whoever keeps their file open. */
static bool user_has_agent(void)
{
	struct user_agent *agent, *next;

	list_for_each_entry_safe(agent, next, &user_agents, node) {
		if (!user_alive(agent))
			user_detach(agent);
	}
	return !list_empty(&user_agents);
}

static void user_look(struct work_struct *work)
{
	unsigned int grace = READ_ONCE(grace_ms);
	bool over;

	scoped_guard(mutex, &user_mutex) {
		if (user_has_agent() || !atomic_read(&user_threads))
			user_alone = jiffies;
		over = grace && time_after(jiffies, user_alone + msecs_to_jiffies(grace));
	}
	if (over)
		saakm_eject(user_policy, SAAKM_EXIT_POLICY_ERROR, NULL,
			    "no agent for %u ms: start one before threads join, or load with grace_ms=0",
			    grace);
	else
		schedule_delayed_work(&user_looking, HZ / 2);
}

/* Who has which CPUs */

/* With the mutex: who has one of these CPUs, or NULL. The dead have none. */
static struct user_agent *user_owner(const struct user_agent *agent)
{
	struct user_agent *other, *next;

	list_for_each_entry_safe(other, next, &user_agents, node) {
		if (!cpumask_intersects(&other->cpus, &agent->cpus))
			continue;
		if (user_alive(other))
			return other;
		user_detach(other);
	}
	return NULL;
}

/* Tells those who have its CPUs; true if there are any. @leaves: how often one had left before */
static bool user_retire_owners(const struct user_agent *agent, unsigned int *leaves)
{
	struct user_agent *other;
	bool any = false;

	guard(mutex)(&user_mutex);
	*leaves = user_leaves;
	list_for_each_entry(other, &user_agents, node) {
		if (!cpumask_intersects(&other->cpus, &agent->cpus))
			continue;
		any = true;
		WRITE_ONCE(other->page->retire, 1);
		saakm_notify(&other->calls);
	}
	return any;
}

/* Negative if the caller is killed. */
static long user_wait_for_leave(const struct user_agent *agent)
{
	long left = msecs_to_jiffies(TAKE_OVER_MS);
	unsigned int leaves;

	while (left > 0 && user_retire_owners(agent, &leaves))
		left = wait_event_killable_timeout(user_left, READ_ONCE(user_leaves) != leaves,
						   left);
	return left;
}

static void user_install(struct user_agent *agent)
{
	int cpu;

	/* Not what an attachment of which nobody could be told has left */
	agent->timed = false;
	agent->failing = false;
	agent->page->retire = 0;
	bitmap_zero(agent->idle, nr_cpu_ids);
	agent->decided_at = jiffies;
	WRITE_ONCE(agent->ready, true);
	list_add_tail(&agent->node, &user_agents);
	user_attached++;
	for_each_cpu(cpu, &agent->cpus) {
		rcu_assign_pointer(user_core(cpu)->agent, agent);
		smp_mb();	/* It shows itself idle from now on, or is seen to be. */
		if (saakm_cpu_idle(cpu))
			set_bit(cpu, agent->idle);
	}
	user_put_in_front(agent->policy, &agent->cpus);
}

/* Attaching */

/* Why, to the agent; returns @error. */
static __printf(3, 4) int user_refuse(struct user_attach *attach, int error, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(attach->sentence, sizeof(attach->sentence), fmt, args);
	va_end(args);
	return error;
}

static int user_take_cpus(struct user_agent *agent, struct user_attach *attach)
{
	struct user_agent *other;
	char before[USER_NAME_LEN] = "";

	scoped_guard(mutex, &user_mutex) {
		other = user_owner(agent);
		if (other && (!(agent->flags & USER_TAKE_OVER) || other->tgid == agent->tgid))
			return user_refuse(attach, -EBUSY,
					   "%s (pid %d) has CPUs of this domain; another process may ask to take over",
					   other->name, other->tgid);
		if (other)
			strscpy(before, other->name, sizeof(before));
	}
	if (before[0] && user_wait_for_leave(agent) < 0)
		return -EINTR;
	guard(mutex)(&user_mutex);
	while ((other = user_owner(agent))) {
		if (!before[0] || other->tgid == agent->tgid)
			return user_refuse(attach, -EBUSY, "%s (pid %d) was faster", other->name,
					   other->tgid);
		pr_warn("user: %s (pid %d) does not leave: it is replaced\n", other->name,
			other->tgid);
		user_detach(other);
	}
	user_install(agent);
	if (before[0])
		user_refuse(attach, 0, "%s has taken over from %s", agent->name, before);
	return 0;
}

static int user_get_cpus(struct user_agent *agent, struct user_attach *attach)
{
	unsigned int bytes = min_t(unsigned int, attach->cpus_bytes, cpumask_size());

	if (!attach->cpus_bytes || attach->cpus_bytes % sizeof(u64))
		return user_refuse(attach, -EINVAL, "cpus_bytes=%u: a multiple of 8",
				   attach->cpus_bytes);
	cpumask_clear(&agent->cpus);
	if (copy_from_user(cpumask_bits(&agent->cpus), u64_to_user_ptr(attach->cpus), bytes))
		return -EFAULT;
	if (!cpumask_and(&agent->cpus, &agent->cpus, cpu_possible_mask))
		return user_refuse(attach, -EINVAL, "the domain is empty");
	if (!cpumask_subset(current->cpus_ptr, &agent->cpus))
		return user_refuse(attach, -EINVAL,
				   "the thread may run on CPUs outside of its domain: bind it first");
	return 0;
}

static int user_make_rings(struct user_agent *agent)
{
	u32 event_bytes = ALIGN(sizeof(struct user_event) +
				BITS_TO_LONGS(nr_cpu_ids) * sizeof(long), 32);
	u32 decisions = PAGE_SIZE + USER_RECORDS * event_bytes;
	u32 idle = decisions + USER_RECORDS * sizeof(struct user_decision);
	u32 bytes = PAGE_ALIGN(idle + BITS_TO_LONGS(nr_cpu_ids) * sizeof(long));

	struct user_page *page;

	if (!agent->asked)
		agent->asked = kvcalloc(USER_RECORDS, sizeof(*agent->asked), GFP_KERNEL_ACCOUNT);
	page = agent->asked ? vmalloc_user(bytes) : NULL;
	if (!page)
		return -ENOMEM;
	*page = (struct user_page) {
		.protocol = USER_PROTOCOL, .nr_cpus = nr_cpu_ids, .event_bytes = event_bytes,
		.events_at = PAGE_SIZE, .decisions_at = decisions, .idle_at = idle,
		.bytes = bytes,
	};
	agent->event_bytes = event_bytes;
	agent->page_events = PAGE_SIZE;
	agent->page_decisions = decisions;
	agent->idle = (void *)page + idle;
	smp_store_release(&agent->page, page);	/* Pairs with user_mmap(): it is filled in. */
	return 0;
}

/* Is this thread one of the policy, and no agent yet? */
static int user_check_thread(struct user_attach *attach)
{
	struct user_agent *other;

	scoped_guard(preempt) {
		if (saakm_running_on(user_policy, smp_processor_id()) != current)
			return user_refuse(attach, -EPERM,
					   "the thread is not of this policy: join it first");
	}
	guard(mutex)(&user_mutex);
	list_for_each_entry(other, &user_agents, node) {
		if (other->thread == current)
			return user_refuse(attach, -EBUSY, "this thread has a domain already");
	}
	return 0;
}

#define USER_FLAGS	(USER_TAKE_OVER | USER_TELL_SLEEPS | USER_NO_FAST_PATH | USER_NO_BURST)

static int user_attach(struct user_agent *agent, struct user_attach *attach)
{
	int ret;

	if (attach->protocol != USER_PROTOCOL)
		return user_refuse(attach, -EPROTO,
				   "the agent speaks protocol %u, this kernel %u: rebuild it",
				   attach->protocol, USER_PROTOCOL);
	if (attach->flags & ~USER_FLAGS || attach->unused)
		return user_refuse(attach, -EINVAL, "flags %#x: unknown", attach->flags);
	if (agent->thread)
		return user_refuse(attach, -EBUSY, "this file has been attached already");
	ret = user_check_thread(attach) ?: user_get_cpus(agent, attach);
	if (!ret && !agent->page)
		ret = user_make_rings(agent);
	if (ret)
		return ret;
	agent->flags = attach->flags;
	strscpy(agent->name, attach->name[0] ? attach->name : current->comm,
		sizeof(agent->name));
	for (char *c = agent->name; *c; c++)	/* it is printed */
		*c = isprint(*c) ? *c : '?';
	agent->tgid = current->tgid;
	agent->thread = get_task_struct(current);
	ret = user_take_cpus(agent, attach);
	if (ret) {
		put_task_struct(agent->thread);
		agent->thread = NULL;
		return ret;
	}
	if (attach->sentence[0])
		pr_info("user: %s\n", attach->sentence);
	return 0;
}

/* Who is told of a failure does not decide, and may try again. */
static void user_resign(struct user_agent *agent)
{
	scoped_guard(mutex, &user_mutex)
		user_detach(agent);
	put_task_struct(agent->thread);
	WRITE_ONCE(agent->thread, NULL);
}

static int user_do_attach(struct user_agent *agent, void __user *arg)
{
	struct user_attach attach;
	int ret;

	if (copy_from_user(&attach, arg, sizeof(attach)))
		return -EFAULT;
	attach.name[sizeof(attach.name) - 1] = '\0';
	memset(attach.sentence, 0, sizeof(attach.sentence));
	guard(mutex)(&agent->mutex);
	ret = user_attach(agent, &attach);
	if (!copy_to_user(arg, &attach, sizeof(attach)))
		return ret;
	if (!ret)
		user_resign(agent);
	return -EFAULT;
}

/* Parking */

/* Is the agent the one that has its CPUs, and of the policy, which may have been ejected? */
static bool user_is_in_office(const struct user_agent *agent)
{
	return READ_ONCE(agent->ready) && saakm_task_state(current) != SAAKM_TERMINATED;
}

static bool user_has_work(const struct user_agent *agent)
{
	return user_unread(agent) || READ_ONCE(agent->page->retire) || !READ_ONCE(agent->ready);
}

/* Each wakeup takes the wish for one away, and may have been meant for an earlier sleep. */
static bool user_wakes(struct user_agent *agent)
{
	WRITE_ONCE(agent->asleep, true);
	smp_mb();	/* user_tell() */
	return user_has_work(agent);
}

/* It looks at times whether the policy has been ejected. */
static int user_sleep(struct user_agent *agent)
{
	long ret;

	agent->sleeps++;
	ret = wait_event_interruptible_timeout(agent->calls.wait, user_wakes(agent), HZ);
	WRITE_ONCE(agent->asleep, false);
	return ret < 0 ? -EINTR : 0;
}

static int user_park(struct user_agent *agent)
{
	u32 before = agent->done;
	bool progress;
	int ret;

	user_carry_out(agent);
	progress = agent->done != before;
	if (user_others_wait(agent, raw_smp_processor_id()))
		yield();
	while (user_is_in_office(agent)) {
		/* Who keeps threads has been asked for one, unless it has just had none to give. */
		if (user_has_work(agent) || (progress && READ_ONCE(agent->page->held)))
			return 0;
		ret = user_sleep(agent);
		if (ret)
			return ret;
	}
	return -ESTALE;
}

/* What one agent leaves for the next */

static int user_save(void __user *arg)
{
	struct user_state state;
	void *data;

	if (copy_from_user(&state, arg, sizeof(state)))
		return -EFAULT;
	if (state.bytes > STATE_BYTES)
		return -EFBIG;
	data = vmemdup_user(u64_to_user_ptr(state.data), state.bytes);
	if (IS_ERR(data))
		return PTR_ERR(data);
	guard(mutex)(&user_mutex);
	kvfree(user_saved.data);
	user_saved.data = data;
	user_saved.bytes = state.bytes;
	return 0;
}

static int user_load(void __user *arg)
{
	void *copy __free(kvfree) = NULL;
	struct user_state state;
	size_t room;

	if (copy_from_user(&state, arg, sizeof(state)))
		return -EFAULT;
	/* Memory of the user may let us wait for ever: not with the mutex. */
	scoped_guard(mutex, &user_mutex) {
		if (!user_saved.data)
			return -ENODATA;
		room = min_t(u64, state.bytes, user_saved.bytes);
		copy = kvmemdup(user_saved.data, room, GFP_KERNEL);
		state.bytes = user_saved.bytes;
	}
	if (!copy)
		return -ENOMEM;
	if (copy_to_user(u64_to_user_ptr(state.data), copy, room))
		return -EFAULT;
	return copy_to_user(arg, &state, sizeof(state)) ? -EFAULT : 0;
}

/* The file */

static long user_ioctl(struct file *file, unsigned int command, unsigned long value)
{
	struct user_agent *agent = file->private_data;
	void __user *arg = (void __user *)value;

	switch (command) {
	case USER_ATTACH:
		return user_do_attach(agent, arg);
	case USER_SAVE:
		return user_save(arg);
	case USER_LOAD:
		return user_load(arg);
	case USER_PARK:
	case USER_SUBMIT:
		if (READ_ONCE(agent->thread) != current)
			return -EPERM;
		if (command == USER_PARK)
			return user_park(agent);
		if (!READ_ONCE(agent->ready))
			return -ESTALE;
		user_carry_out(agent);
		return 0;
	default:
		return -ENOTTY;
	}
}

static int user_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct user_agent *agent = file->private_data;
	void *page = smp_load_acquire(&agent->page);	/* user_make_rings() */

	if (!page)
		return -ENODEV;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTCOPY | VM_DONTDUMP);
	return remap_vmalloc_range(vma, page, vma->vm_pgoff);
}

static int user_open(struct inode *inode, struct file *file)
{
	struct user_agent *agent;

	if (!capable(CAP_SYS_NICE))
		return -EPERM;
	agent = kzalloc(sizeof(*agent), GFP_KERNEL_ACCOUNT);
	if (!agent)
		return -ENOMEM;
	agent->policy = user_policy;
	mutex_init(&agent->mutex);
	raw_spin_lock_init(&agent->lock);
	saakm_notifier_init(&agent->calls);
	hrtimer_init(&agent->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	agent->timer.function = user_timer;
	file->private_data = agent;
	return 0;
}

static int user_release(struct inode *inode, struct file *file)
{
	struct user_agent *agent = file->private_data;

	scoped_guard(mutex, &user_mutex)
		user_detach(agent);
	saakm_notifier_stop(&agent->calls);
	if (agent->thread)
		put_task_struct(agent->thread);
	vfree(agent->page);
	kvfree(agent->asked);
	kfree(agent);
	return 0;
}

static const struct file_operations user_file = {
	.owner		= THIS_MODULE,
	.open		= user_open,
	.release	= user_release,
	.mmap		= user_mmap,
	.unlocked_ioctl	= user_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.llseek		= noop_llseek,
};

static struct miscdevice user_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= USER_DEVICE,
	.mode	= 0600,
	.fops	= &user_file,
};

int user_make_device(void)
{
	int ret = misc_register(&user_device);

	return ret ? saakm_refuse_load(user_policy, ret, "/dev/" USER_DEVICE " cannot be made") : 0;
}

void user_remove_device(void)
{
	misc_deregister(&user_device);
}

void user_start_looking(struct saakm_policy *policy)
{
	user_policy = policy;
	user_alone = jiffies;
	schedule_delayed_work(&user_looking, HZ / 2);
}

void user_stop_looking(void)
{
	cancel_delayed_work_sync(&user_looking);
	kvfree(user_saved.data);
	user_saved.data = NULL;
}

void user_dump_agents(struct seq_buf *text)
{
	struct user_agent *agent;

	guard(mutex)(&user_mutex);
	if (list_empty(&user_agents))
		seq_buf_puts(text, "no agent\n");
	list_for_each_entry(agent, &user_agents, node) {
		seq_buf_printf(text, "agent %s (pid %d, thread %d) on CPUs %*pbl%s: ",
			       agent->name, agent->tgid, agent->thread->pid,
			       cpumask_pr_args(&agent->cpus), user_alive(agent) ? "" : ", dead");
		seq_buf_printf(text, "%u events, %u unread, %u lost, holds %u, slept %lu times; ",
			       agent->written, user_unread(agent), READ_ONCE(agent->lost),
			       READ_ONCE(agent->page->held), agent->sleeps);
		seq_buf_printf(text, "decisions: %lu carried out, %lu stale, %lu bounced, ",
			       agent->decided, agent->stale, agent->bounced);
		seq_buf_printf(text, "%lu of threads that are gone; %lu counts beyond the ring\n",
			       agent->gone, agent->bad);
	}
}
