// SPDX-License-Identifier: GPL-2.0
/*
 * Agents: threads of one process that decide about others, by a program which is linked in (struct
 * sim_agents). Its code runs on a strand of the thread and takes no simulated time; then the thread
 * computes in user mode for what the round costs, preempted as any other: sim_agent_computes().
 *
 * An agent that ends before the run does is started again, as a service manager would.
 */
#include <linux/err.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <uapi/linux/sched.h>
#include <uapi/linux/sched/types.h>

#include "agents.h"
#include "machine.h"
#include "model.h"
#include "policies.h"

#define AGAIN		(HZ / 100 ?: 1)		/* until it is started again */

struct agent {
	struct task_struct		*task;
	unsigned int			domain;
	char				name[TASK_COMM_LEN];
	struct cpumask			cpus;
	struct inode			inode;
	struct file			file;
	const struct file_operations	*fops;		/* of the file; NULL: it is closed */
	unsigned int			starts;
	u64				rounds, events, decisions;
	u64				events_now, decisions_now;	/* since it has begun */
	bool				wanted;		/* somebody nudges it */
};

static struct agent *agents;
static unsigned int nr_agents, nr_living;
static bool stopping;

/* The thread that calls is one. */
static struct agent *this_agent(void)
{
	return current->entry_arg;
}

/* ---- engine/host.h: what they call ---- */

void sim_agent_machine(unsigned int sizes[4])
{
	sizes[0] = sim_options.cpus;
	sizes[1] = sim_options.smt;
	sizes[2] = sim_options.llc;
	sizes[3] = sim_options.node;
}

long sim_agent_settle(const unsigned long *cpus, unsigned long bytes)
{
	struct agent *agent = this_agent();

	cpumask_clear(&agent->cpus);
	memcpy(cpumask_bits(&agent->cpus), cpus, min(bytes, sizeof(agent->cpus)));
	return model_setaffinity(current, &agent->cpus);
}

long sim_agent_join(const char *policy)
{
	struct sched_attr attr = {
		.size = sizeof(attr), .sched_policy = SCHED_SAAKM,
		.sched_saakm_policy = policies_id(policy),
	};

	return attr.sched_saakm_policy ? model_setattr(current, &attr) : -ENOENT;
}

int sim_agent_tid(void)
{
	return current->pid;
}

_Bool sim_agent_exists(unsigned int pid)
{
	return pid <= INT_MAX && find_task_by_vpid(pid);
}

long sim_agent_open(const char *name)
{
	struct miscdevice *device = machine_device(name);
	struct agent *agent = this_agent();
	int ret;

	if (!device)
		return -ENOENT;
	if (!try_module_get(device->fops->owner))
		return -ENODEV;
	agent->file = (struct file) { .f_inode = &agent->inode };
	ret = device->fops->open(&agent->inode, &agent->file);
	if (ret)
		module_put(device->fops->owner);
	else
		agent->fops = device->fops;
	return ret;
}

/* A signal that has come meanwhile is handled when a thread is back in user mode. */
long sim_agent_ioctl(unsigned int command, void *argument)
{
	struct agent *agent = this_agent();
	long ret;

	current->signalled = false;
	ret = agent->fops->unlocked_ioctl(&agent->file, command, (unsigned long)argument);
	current->signalled = false;
	return ret;
}

void *sim_agent_map(void)
{
	struct vm_area_struct vma = { .vm_flags = VM_SHARED };
	struct agent *agent = this_agent();

	return agent->fops->mmap(&agent->file, &vma) ? NULL : vma.mapped;
}

void sim_agent_close(void)
{
	struct agent *agent = this_agent();
	const struct file_operations *fops = agent->fops;

	agent->fops = NULL;
	fops->release(&agent->inode, &agent->file);
	module_put(fops->owner);
}

static void signal(struct agent *agent)
{
	agent->task->signalled = true;
	wake_up_state(agent->task, TASK_INTERRUPTIBLE);
}

void sim_agent_nudge(int tid)
{
	unsigned int i;

	for (i = 0; i < nr_agents; i++)
		if (agents[i].task->pid == tid)
			agents[i].wanted = true;
}

static void send_nudges(void)
{
	unsigned int i;

	for (i = 0; i < nr_agents; i++) {
		if (!agents[i].wanted)
			continue;
		agents[i].wanted = false;
		signal(&agents[i]);
	}
}

_Bool sim_agent_computes(sim_u64 events, sim_u64 decisions)
{
	struct agent *agent = this_agent();
	u64 new_events = events - agent->events_now, new_decisions = decisions - agent->decisions_now;

	agent->events_now = events;
	agent->decisions_now = decisions;
	agent->rounds++;
	agent->events += new_events;
	agent->decisions += new_decisions;
	model_run_user(model_cost_ns[MODEL_COST_AGENT_ROUND] +
		       new_events * model_cost_ns[MODEL_COST_AGENT_EVENT] +
		       new_decisions * model_cost_ns[MODEL_COST_AGENT_DECISION]);
	send_nudges();
	return stopping;
}

/* ---- threads ---- */

static int be_agent(void *arg)
{
	struct agent *agent = arg;

	for (;;) {
		agent->starts++;
		agent->events_now = agent->decisions_now = 0;
		sim_agents->main(agent->domain);
		if (stopping)
			break;
		if (!agent->rounds)
			sim_bad_input(NULL, 0, "the agent has ended before it could decide");
		schedule_timeout_interruptible(AGAIN);
	}
	nr_living--;
	return 0;
}

static void wait_until_ready(void)
{
	unsigned int i;

	for (i = 0; i < nr_agents; i++)
		while (!READ_ONCE(agents[i].rounds))
			schedule_timeout_uninterruptible(1);
}

void agents_begin(void)
{
	unsigned int i;

	if (!sim_agents)
		return;
	nr_agents = nr_living = sim_agents->domains();
	if (!nr_agents)
		sim_bad_input(NULL, 0, "the agent has no CPUs to decide for");
	agents = sim_alloc(nr_agents * sizeof(*agents));
	for (i = 0; i < nr_agents; i++) {
		struct agent *agent = &agents[i];

		agent->domain = i;
		snprintf(agent->name, sizeof(agent->name), "agent %u", i);
		agent->task = model_user_thread_new(be_agent, agent, agent->name,
						    i ? agents[0].task : NULL);
		get_task_struct(agent->task);
		wake_up_process(agent->task);
	}
	wait_until_ready();
}

void agents_end(void)
{
	unsigned int i;

	stopping = true;
	while (READ_ONCE(nr_living)) {
		for (i = 0; i < nr_agents; i++)
			signal(&agents[i]);
		schedule_timeout_uninterruptible(1);
	}
	for (i = 0; i < nr_agents; i++)
		put_task_struct(agents[i].task);
	nr_agents = 0;
}

void agents_close(struct sim_result *result)
{
	struct sim_result_agent *found = sim_alloc(nr_agents * sizeof(*found));
	unsigned int i;

	for (i = 0; i < nr_agents; i++) {
		struct agent *agent = &agents[i];
		const struct task_struct *p = agent->task;
		char *cpus = sim_alloc(128);

		snprintf(cpus, 128, "%*pbl", cpumask_pr_args(&agent->cpus));
		found[i] = (struct sim_result_agent) {
			.cpus = cpus, .starts = agent->starts, .rounds = agent->rounds,
			.events = agent->events, .decisions = agent->decisions,
			.run_ns = p->se.sum_exec_runtime, .switches = p->nvcsw + p->nivcsw,
		};
	}
	result->agents = found;
	result->nr_agents = nr_agents;
}
