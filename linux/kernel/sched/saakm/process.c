// SPDX-License-Identifier: GPL-2.0
/*
 * Data of processes: one block for all threads of a process that are in one policy. Who
 * joins looks for a thread that has it; whoever is the first brings it along.
 */

struct saakm_process {
	const struct saakm_policy	*policy;
	unsigned int			users;	/* by threads_lock; 0: not yet to be found */
	struct rcu_head			rcu;
	u8				bytes[] __aligned(8);
};

static int saakm_alloc_process(const struct saakm_policy *policy, gfp_t gfp,
			       struct saakm_process **process)
{
	*process = NULL;
	if (!policy->own->process_size)
		return 0;
	*process = kzalloc(struct_size(*process, bytes, policy->own->process_size),
			   gfp | GFP_KERNEL_ACCOUNT);
	if (!*process)
		return -ENOMEM;
	(*process)->policy = policy;
	return 0;
}

/* Another thread's, under the lock of the policy: nobody leaves it meanwhile. */
static struct saakm_process *saakm_find_process(struct task_struct *p,
						const struct saakm_policy *policy)
{
	struct saakm_process *process;
	struct task_struct *t;

	guard(rcu)();
	for_each_thread(p, t) {
		process = READ_ONCE(t->saakm.process);
		if (t != p && process && process->policy == policy && process->users)
			return process;
	}
	return NULL;
}

/* @p has brought one along, and its process is known. Under threads_lock. */
static noinline void saakm_join_process(struct task_struct *p)
{
	struct saakm_process *own = p->saakm.process, *process;

	process = saakm_find_process(p, own->policy) ?: own;
	process->users++;
	WRITE_ONCE(p->saakm.process, process);
	p->saakm.process_data = process->bytes;
	if (process != own)
		kfree_rcu(own, rcu);
}

/* Under threads_lock. */
static void saakm_leave_process(struct task_struct *p)
{
	struct saakm_process *process = p->saakm.process;

	if (!process)
		return;
	WRITE_ONCE(p->saakm.process, NULL);
	p->saakm.process_data = NULL;
	/* A child that is sent away before its fork is over has none to share. */
	if (!process->users || !--process->users)
		kfree_rcu(process, rcu);
}
