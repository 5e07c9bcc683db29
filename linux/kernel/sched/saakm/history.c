// SPDX-License-Identifier: GPL-2.0
/*
 * How things came about: the last transitions on each CPU.
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
	/* What only waits makes none; recording has begun when it became suspicious. */
	if (!printed)
		pr_err("saakm:   none lately; for all of the next run: echo 1 >/sys/kernel/saakm/history\n");
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
