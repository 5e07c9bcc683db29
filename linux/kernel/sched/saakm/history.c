// SPDX-License-Identifier: GPL-2.0
/*
 * How things came about: the last transitions on each CPU, and dumps.
 *
 * Recorded while /sys/kernel/saakm/history is on, or of itself while the
 * watchdog suspects a stall. Off, it costs nothing beyond saakm_observed.
 */

#define SAAKM_HISTORY	1024	/* records for each CPU */

struct saakm_record {
	u64	ns;		/* of the thread's runqueue clock */
	pid_t	pid;
	u32	policy;
	s16	cpu;		/* the thread's */
	u8	from, to, handler;
};

struct saakm_history {
	u64			head;	/* of the next one, counted from the start */
	struct saakm_record	records[SAAKM_HISTORY];
};

static DEFINE_PER_CPU(struct saakm_history *, saakm_history);
static DEFINE_MUTEX(saakm_history_mutex);
static bool saakm_history_wanted, saakm_history_suspicious;
static bool saakm_history_on;

static int saakm_history_alloc(void)
{
	struct saakm_history *history;
	int cpu;

	for_each_possible_cpu(cpu) {
		if (per_cpu(saakm_history, cpu))
			continue;
		history = kvzalloc_node(sizeof(*history), GFP_KERNEL, cpu_to_node(cpu));
		if (!history)
			return -ENOMEM;
		/* Readers see it zeroed. */
		smp_store_release(per_cpu_ptr(&saakm_history, cpu), history);
	}
	return 0;
}

/* Memory, once taken, stays: it is 24 KiB a CPU. */
static int saakm_history_set(bool *reason, bool on)
{
	int ret = 0;

	guard(mutex)(&saakm_history_mutex);
	if (on)
		ret = saakm_history_alloc();
	if (ret)
		return ret;
	*reason = on;
	on = saakm_history_wanted || saakm_history_suspicious;
	if (on == saakm_history_on)
		return 0;
	WRITE_ONCE(saakm_history_on, on);
	if (on)
		static_branch_inc(&saakm_observed);
	else
		static_branch_dec(&saakm_observed);
	return 0;
}

void saakm_history_auto(bool suspicious)
{
	if (suspicious != READ_ONCE(saakm_history_suspicious))
		saakm_history_set(&saakm_history_suspicious, suspicious);
}

/* Interrupts off. */
void saakm_history_add(const struct task_struct *p, enum saakm_state next)
{
	struct saakm_history *history = raw_cpu_read(saakm_history);

	if (!READ_ONCE(saakm_history_on) || !history)
		return;
	history->records[history->head % SAAKM_HISTORY] = (struct saakm_record) {
		.ns	= task_rq(p)->clock,
		.pid	= p->pid,
		.policy	= p->saakm.policy->own->id,
		.cpu	= task_cpu(p),
		.from	= p->saakm.state,
		.to	= next,
		.handler = raw_cpu_read(saakm_context.handler),
	};
	WRITE_ONCE(history->head, history->head + 1);
}

/* The @n-th last record of a CPU, n from 0; false if there is none. Racy. */
static bool saakm_history_get(int cpu, unsigned int n, struct saakm_record *record)
{
	struct saakm_history *history = READ_ONCE(per_cpu(saakm_history, cpu));
	u64 head;

	if (!history)
		return false;
	head = READ_ONCE(history->head);
	if (n >= head || n >= SAAKM_HISTORY)
		return false;
	*record = history->records[(head - 1 - n) % SAAKM_HISTORY];
	return true;
}

/* The short form, for the kernel log */

#define SAAKM_PRINTED	6

static void saakm_history_print_one(const struct saakm_record *record)
{
	pr_err("saakm:   %llu.%06llu pid %d %s -> %s on CPU %d in %s\n",
	       record->ns / NSEC_PER_SEC, record->ns % NSEC_PER_SEC / NSEC_PER_USEC, record->pid,
	       saakm_state_names[record->from], saakm_state_names[record->to], record->cpu,
	       saakm_handler_names[record->handler]);
}

/* Of the CPU, for @pid only unless that is 0. */
static void saakm_history_print_some(int cpu, pid_t pid)
{
	unsigned int n, printed = 0;
	struct saakm_record record;

	for (n = 0; printed < SAAKM_PRINTED && saakm_history_get(cpu, n, &record); n++) {
		if (pid && record.pid != pid)
			continue;
		saakm_history_print_one(&record);
		printed++;
	}
}

void saakm_history_print(const struct task_struct *p)
{
	if (!READ_ONCE(saakm_history_on))
		return;
	pr_err("saakm: last transitions of %s/%d, latest first:\n", p->comm, p->pid);
	saakm_history_print_some(task_cpu(p), p->pid);
	pr_err("saakm: last transitions on CPU %d, latest first:\n", task_cpu(p));
	saakm_history_print_some(task_cpu(p), 0);
}

/* The whole, as JSON */

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
