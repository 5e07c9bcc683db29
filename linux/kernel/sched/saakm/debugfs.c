// SPDX-License-Identifier: GPL-2.0
/* /sys/kernel/debug/saakm: runqueues, and all that is known of each policy. */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

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

static int __init saakm_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("saakm", NULL);

	debugfs_create_file("runqueues", 0400, dir, NULL, &saakm_runqueues_fops);
	debugfs_create_file("dump", 0400, dir, NULL, &saakm_dump_fops);
	return 0;
}
device_initcall(saakm_debugfs_init);
