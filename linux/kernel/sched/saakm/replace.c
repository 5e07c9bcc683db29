// SPDX-License-Identifier: GPL-2.0
/*
 * Live replacement: a policy that is being loaded takes the threads of another
 * one. Until it has agreed nothing changes; afterwards the threads go over one
 * by one, both policies being at work, none through the fair class. Who joins
 * the old one meanwhile lands in the new one.
 */

/* Of the last replacement, under saakm_mutex. */
static struct saakm_replacement {
	char		from[SAAKM_NAME_LEN];
	char		to[SAAKM_NAME_LEN];
	unsigned int	nr_threads;
	u64		longest_pause_ns;	/* that a thread could not run */
	u64		total_ns;
} saakm_last_replacement;

/* The new policy may refuse, and may prepare. */
int saakm_agree_to_replace(struct saakm_policy *new, struct saakm_policy *old)
{
	int ret = 0;

	if (new->own->routines.migrate_from) {
		saakm_set_loading(new);
		ret = new->own->routines.migrate_from(new, old);
		saakm_set_loading(NULL);
	}
	return ret ? saakm_refuse(ret < 0 ? ret : -EINVAL, "load %s: it refused to replace %s (%d)",
				  new->own->name,
				  old->own->name, ret) : 0;
}

static void saakm_hand_over(struct task_struct *p, struct saakm_policy *old,
			    struct saakm_policy *new, struct saakm_data *data,
			    struct saakm_process *process)
{
	struct saakm_replacement *last = &saakm_last_replacement;
	const struct saakm_module_routines *ops = READ_ONCE(new->ops);
	struct sched_enq_and_set_ctx ctx;
	struct saakm_data *old_data;
	struct rq_flags rf;
	struct rq *rq;
	u64 start_ns;

	rq = task_rq_lock(p, &rf);
	if (p->saakm.policy != old) {
		task_rq_unlock(rq, p, &rf);
		kfree(data);
		kfree(process);
		return;
	}
	start_ns = local_clock();
	saakm_cut_delay(rq, p);
	sched_deq_and_put_task(p, DEQUEUE_SAVE | DEQUEUE_MOVE, &ctx);
	/* In none it is at no moment: execve() and others look without the lock. */
	old_data = saakm_leave_policy(rq, p);
	saakm_set_membership(p, new, data, process);
	saakm_list_member(p);
	if (ops->take_over) {
		saakm_enter(p, SAAKM_H_take_over);
		ops->take_over(&p->saakm.event, old_data ? old_data->bytes : NULL);
		saakm_leave();
	}
	p->saakm.event.flags |= SAAKM_EV_CAME;	/* not before: the handler may overwrite it */
	sched_enq_and_set_task(&ctx);
	last->longest_pause_ns = max(last->longest_pause_ns, local_clock() - start_ns);
	last->nr_threads++;
	task_rq_unlock(rq, p, &rf);
	saakm_free_data(old_data);
}

/* Too late to refuse: memory will be found. */
static struct saakm_data *saakm_alloc_surely(const struct saakm_policy *policy)
{
	struct saakm_data *data;

	if (!policy->own->task_size)
		return NULL;
	return kzalloc(struct_size(data, bytes, policy->own->task_size), GFP_KERNEL | __GFP_NOFAIL);
}

/* @new is published. Called under saakm_mutex. */
void saakm_replace(struct saakm_policy *old, struct saakm_policy *new)
{
	struct saakm_replacement *last = &saakm_last_replacement;
	u64 start_ns = local_clock();
	struct saakm_process *process;
	struct task_struct *p;

	*last = (struct saakm_replacement) {};
	strscpy(last->from, old->own->name);
	strscpy(last->to, new->own->name);
	/* A cgroup may begin to use @old just now; when threads are attached is too late. */
	saakm_use(new);
	WRITE_ONCE(old->successor, new);
	saakm_wait_joiners();
	while ((p = saakm_any_member(old))) {
		saakm_alloc_process(new, __GFP_NOFAIL, &process);
		saakm_hand_over(p, old, new, saakm_alloc_surely(new), process);
		put_task_struct(p);
		cond_resched();
	}
	saakm_cgroups_replace(old, new);
	last->total_ns = local_clock() - start_ns;
	old->exit.done = true;
	__saakm_eject(old, SAAKM_EXIT_REPLACED, NULL, "by %s (id %u), which took over %u threads",
		      new->own->name, new->own->id, last->nr_threads);
}

/* @policy goes away, or has lost its threads: nobody shall be sent to it. */
void saakm_forget_successor(const struct saakm_policy *policy)
{
	struct saakm_policy *other;

	list_for_each_entry(other, &saakm_policies, node) {
		if (other->successor == policy)
			WRITE_ONCE(other->successor, NULL);
	}
}
