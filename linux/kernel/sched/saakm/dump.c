// SPDX-License-Identifier: GPL-2.0
/* All that is known of a policy and of each CPU, as JSON. */

static void saakm_json_string(struct seq_buf *s, const char *name, const char *text)
{
	seq_buf_printf(s, "\"%s\": \"", name);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			seq_buf_printf(s, "\\%c", *text);
		else if (*text == '\n')
			seq_buf_puts(s, "\\n");
		else if ((unsigned char)*text < ' ' || (unsigned char)*text > '~')
			seq_buf_printf(s, "\\u%04x", (unsigned char)*text);
		else
			seq_buf_putc(s, *text);
	}
	seq_buf_putc(s, '"');
}

static void saakm_json_exit(struct seq_buf *s, const struct saakm_exit *exit)
{
	/* As in saakm_exit_kind() */
	enum saakm_exit_kind kind = smp_load_acquire(&exit->kind);

	if (kind == SAAKM_EXIT_NONE) {
		seq_buf_puts(s, "\"exit\": null,\n");
		return;
	}
	seq_buf_printf(s, "\"exit\": {\"kind\": \"%s\", \"number\": %d, \"handler\": \"%s\", ",
		       saakm_exit_names[kind], kind, saakm_handler_names[exit->handler]);
	seq_buf_printf(s, "\"cpu\": %d, \"pid\": %d, \"time_ns\": %llu, ", exit->cpu, exit->pid,
		       exit->time_ns);
	saakm_json_string(s, "comm", exit->comm);
	seq_buf_puts(s, ", ");
	saakm_json_string(s, "reason", exit->reason);
	seq_buf_puts(s, "},\n");
}

/* Is it in the class's own queue for another reason than a forced turn? */
static bool saakm_is_orphan(struct rq *rq, const struct task_struct *p)
{
	return p->saakm.rq == &rq->saakm.orphans && !(p->saakm.event.flags & SAAKM_EV_FORCED);
}

static void saakm_json_thread(struct seq_buf *s, struct rq *rq, const struct task_struct *p)
{
	seq_buf_printf(s, "\n  {\"pid\": %d, \"policy\": \"%s\", \"state\": \"%s\", ", p->pid,
		       p->saakm.policy->own->name, saakm_state_names[p->saakm.state]);
	seq_buf_printf(s, "\"since_ns\": %llu, \"excused_ms\": %u, \"placed\": %s, ",
		       p->saakm.since_ns, p->saakm.excused_ms,
		       saakm_is_orphan(rq, p) ? "false" : "true");
	saakm_json_string(s, "comm", p->comm);
	seq_buf_putc(s, '}');
}

static void saakm_json_cpu(struct seq_buf *s, int cpu)
{
	struct rq *rq = cpu_rq(cpu);
	struct task_struct *p;
	bool first = true;

	guard(irqsave)();
	/* A CPU that is stuck in a handler keeps its lock. */
	if (!raw_spin_rq_trylock(rq)) {
		seq_buf_printf(s, "{\"cpu\": %d, \"busy\": true}", cpu);
		return;
	}
	seq_buf_printf(s, "{\"cpu\": %d, \"clock_ns\": %llu, \"curr_pid\": %d, ", cpu, rq->clock,
		       saakm_rq_curr(rq)->pid);
	saakm_json_string(s, "curr", saakm_rq_curr(rq)->comm);
	seq_buf_printf(s, ", \"curr_saakm\": %s, \"runnable\": %u, \"threads\": [",
		       task_on_saakm(saakm_rq_curr(rq)) ? "true" : "false", rq->saakm.nr_running);
	list_for_each_entry(p, &rq->saakm.threads, saakm.rq_node) {
		if (!first)
			seq_buf_putc(s, ',');
		saakm_json_thread(s, rq, p);
		first = false;
	}
	seq_buf_puts(s, "]}");
	raw_spin_rq_unlock(rq);
}

static void saakm_json_history(struct seq_buf *s, int cpu, bool *first)
{
	struct saakm_record record;
	unsigned int n;

	for (n = 0; saakm_history_get(cpu, n, &record); n++) {
		seq_buf_printf(s, "%s\n  {\"ns\": %llu, \"pid\": %d, \"policy\": %u, \"cpu\": %d, ",
			       *first ? "" : ",", record.ns, record.pid, record.policy, record.cpu);
		seq_buf_printf(s, "\"from\": \"%s\", \"to\": \"%s\", \"handler\": \"%s\"}",
			       saakm_state_names[record.from], saakm_state_names[record.to],
			       saakm_handler_names[record.handler]);
		*first = false;
	}
}

static void saakm_json_state(struct seq_buf *s)
{
	bool first = true;
	int cpu;

	seq_buf_puts(s, "\"cpus\": [");
	for_each_online_cpu(cpu) {
		seq_buf_puts(s, cpu == cpumask_first(cpu_online_mask) ? "\n " : ",\n ");
		saakm_json_cpu(s, cpu);
	}
	seq_buf_puts(s, "],\n\"history\": [");
	for_each_possible_cpu(cpu)
		saakm_json_history(s, cpu, &first);
	seq_buf_putc(s, ']');
}

static void saakm_json_policy(struct seq_buf *s, struct saakm_policy *policy)
{
	seq_buf_printf(s, "{\"name\": \"%s\", \"id\": %u, \"module\": \"%s\", \"threads\": %u,\n",
		       policy->own->name, policy->own->id,
		       policy->own->owner ? module_name(policy->own->owner) : "-",
		       READ_ONCE(policy->nr_threads));
	saakm_json_exit(s, &policy->exit);
}

#define SAAKM_DUMP_TEXT	(16 * 1024)
#define SAAKM_DUMP_HEAD	(4 * 1024)
#define SAAKM_DUMP_MAX	(64 * 1024 * 1024)

/*
 * What each CPU does, and the last transitions: none of the policy's code. Takes
 * the room that it needs. For the caller to kvfree(), or NULL. May sleep.
 */
char *saakm_dump_state(void)
{
	size_t size;
	struct seq_buf s;
	char *json;

	for (size = 256 * 1024; size <= SAAKM_DUMP_MAX; size *= 2) {
		json = kvzalloc(size, GFP_KERNEL);
		if (!json)
			return NULL;
		seq_buf_init(&s, json, size);
		saakm_json_state(&s);
		if (!seq_buf_has_overflowed(&s) && s.len < size)
			return json;
		kvfree(json);
	}
	return NULL;
}

/*
 * All that is known of a policy, for the caller to kvfree(), or NULL. @state is
 * from saakm_dump_state(). The policy's own words are bounded. May sleep, for as
 * long as the policy likes.
 */
char *saakm_dump_json(struct saakm_policy *policy, const char *state)
{
	char *text = kvzalloc(SAAKM_DUMP_TEXT, GFP_KERNEL), *json = NULL;
	size_t size;
	struct seq_buf s;

	if (!text || !state)
		goto out;
	seq_buf_init(&s, text, SAAKM_DUMP_TEXT);
	if (policy->own->routines.dump)
		policy->own->routines.dump(policy, &s);
	text[min(s.len, s.size - 1)] = '\0';

	/* A character may become an escape of six. */
	size = SAAKM_DUMP_HEAD + 6 * strlen(text) + strlen(state);
	json = kvzalloc(size, GFP_KERNEL);
	if (!json)
		goto out;
	seq_buf_init(&s, json, size);
	saakm_json_policy(&s, policy);
	saakm_json_string(&s, "dump", text);
	seq_buf_printf(&s, ",\n%s}", state);
out:
	kvfree(text);
	return json;
}
